//! Results of other machines, and compilers that run there. The process that reaches them is `cargo-offload`, which build
//! scripts start as they start clang: they link no client of their own.
//!
//! Nothing here fails a build. What other machines do not have, or do not do, is made here; the first reason is told.

mod identity;
mod known;
pub(crate) mod script;
#[cfg(unix)]
mod server;
mod settings;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use offload_format::remote::{Action, Executed, Reply, Request, Stored};

pub(crate) use self::identity::{file_hash, program};
use self::known::Known;
pub(crate) use self::settings::{RemoteSettings, ToolsFrom};
use crate::cache::Key;
use crate::error::{Error, Result};
use crate::jobs::{Grant, Token};
use crate::tool::Context;

/// Other machines, as one build script sees them.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) settings: RemoteSettings,
    /// Started when it is needed first: an unchanged build needs none.
    #[cfg(unix)]
    server: OnceLock<Option<server::Server>>,
    tools: Known,
    given_up: AtomicBool,
    /// Whether a reason to work here was told: one fault has many consequences.
    has_told: AtomicBool,
}

impl Remote {
    pub(crate) fn new(settings: RemoteSettings) -> Remote {
        Remote {
            settings,
            #[cfg(unix)]
            server: OnceLock::new(),
            tools: Known::default(),
            given_up: AtomicBool::new(false),
            has_told: AtomicBool::new(false),
        }
    }

    /// The result that another machine has stored under `key`. One of another key, or a damaged one, is none.
    pub(crate) fn get(&self, context: &Context, key: Key) -> Option<Stored> {
        let Some(Reply::Found(bytes)) = self.ask(context, &Request::Get { key: key.hash() }) else {
            return None;
        };
        let Ok(stored) = Stored::from_bytes(&bytes, key.hash()) else {
            let url = &self.settings.url;
            self.tell(
                context,
                &format!("`{url}` has results of other actions, or damaged ones; they were not used"),
            );
            return None;
        };
        context.tally.received(bytes.len() as u64);
        Some(stored)
    }

    /// Stores a result for other machines, while the build goes on.
    pub(crate) fn put(&self, context: &Context, key: Key, stored: &Stored) {
        if self.settings.upload {
            let stored = stored.to_bytes(key.hash());
            context.tally.sent(stored.len() as u64);
            self.ask(context, &Request::Put { key: key.hash(), stored });
        }
    }

    /// Runs an action on a worker, where one is free before a local processor. The error is the token to run it locally.
    ///
    /// `None` if the worker gave no result: the action has to run locally.
    pub(crate) fn execute_or_token<'c>(
        &self,
        context: &'c Context,
        action: Action,
    ) -> std::result::Result<Option<Executed>, Token<'c>> {
        match context.jobs.local_or_remote() {
            Grant::Local(token) => Err(token),
            Grant::Remote(slot) => {
                let executed = self.execute(context, action);
                drop(slot);
                Ok(executed)
            }
        }
    }

    fn execute(&self, context: &Context, action: Action) -> Option<Executed> {
        match self.ask(context, &Request::Execute(action)) {
            Some(Reply::Executed { executed, .. }) => Some(executed),
            _ => None,
        }
    }

    /// Waits until other machines have what was stored for them, for a while.
    pub(crate) fn finish(&self, context: &Context) {
        const SECONDS: u64 = 20;
        if self.is_started() {
            self.ask(context, &Request::Flush { seconds: SECONDS });
        }
    }

    #[cfg(unix)]
    fn is_started(&self) -> bool {
        self.server.get().is_some_and(Option::is_some)
    }

    #[cfg(not(unix))]
    fn is_started(&self) -> bool {
        false
    }

    /// The reply to `request`; nothing where there is none to be had.
    fn ask(&self, context: &Context, request: &Request) -> Option<Reply> {
        if self.given_up.load(Ordering::Relaxed) {
            return None;
        }
        match self.reply(context, request) {
            Ok(Reply::Declined { reason }) => {
                self.tell(context, &reason);
                None
            }
            Ok(reply) => {
                if let Reply::Missing { room } | Reply::Executed { room, .. } = &reply {
                    context.jobs.set_remote_room(*room);
                }
                Some(reply)
            }
            Err(error) => {
                if !self.given_up.swap(true, Ordering::Relaxed) {
                    self.tell(context, &format!("no results come from other machines: {error}"));
                }
                None
            }
        }
    }

    /// Tells the first reason. One that is empty was told by another build script.
    fn tell(&self, context: &Context, reason: &str) {
        if !reason.is_empty() && !self.has_told.swap(true, Ordering::Relaxed) {
            context.env.warn(reason);
        }
    }

    #[cfg(unix)]
    fn reply(&self, context: &Context, request: &Request) -> Result<Reply> {
        let mut failed = None;
        let server = self.server.get_or_init(|| {
            server::Server::start(context, &self.settings).map_err(|error| failed = Some(error)).ok()
        });
        let Some(server) = server else {
            return Err(failed.unwrap_or_else(|| Error::new("it did not start")));
        };
        let longest = match request {
            Request::Execute(action) => Some(Duration::from_secs(action.seconds.max(1))),
            _ => None,
        };
        let asked = server.ask(request, longest);
        asked.map_err(|error| match error.kind() {
            std::io::ErrorKind::TimedOut => {
                Error::new(error.to_string()).with_hint("end that process: the next build starts another")
            }
            _ => Error::new(format!("`cargo-offload` does not answer: {error}")),
        })
    }

    #[cfg(not(unix))]
    fn reply(&self, _: &Context, _: &Request) -> Result<Reply> {
        Err(Error::new("build scripts reach other machines from Unix systems alone"))
    }
}
