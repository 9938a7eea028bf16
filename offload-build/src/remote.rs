//! Remote cache and remote execution, as seen by a build script. The client is a daemon, `cargo-offload`, which build scripts
//! start like clang: they link no gRPC or TLS.
//!
//! Nothing here fails a build. A miss or a fault means that the work is done locally; the first reason is a warning.

mod identity;
pub(crate) mod script;
#[cfg(unix)]
mod server;
mod settings;
mod tools;

#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::time::Duration;

use offload_jobs::{Grant, Token};
use offload_protocol::remote::{Action, Executed, Reply, Request, Stored};

pub(crate) use self::identity::{file_hash, program};
pub(crate) use self::settings::{RemoteSettings, ToolsFrom};
use self::tools::ToolCache;
use crate::cache::Key;
use crate::error::{Error, Result};
use crate::tool::Context;

/// The connection of a build script to the client daemon.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) settings: RemoteSettings,
    /// Started on first use: an unchanged build needs none.
    #[cfg(unix)]
    server: OnceLock<Option<server::Server>>,
    tools: ToolCache,
    /// Set once the daemon has failed.
    is_disabled: AtomicBool,
    /// Whether a reason was reported: one fault has many consequences.
    has_warned: AtomicBool,
}

impl Remote {
    pub(crate) fn new(settings: RemoteSettings) -> Remote {
        Remote {
            settings,
            #[cfg(unix)]
            server: OnceLock::new(),
            tools: ToolCache::default(),
            is_disabled: AtomicBool::new(false),
            has_warned: AtomicBool::new(false),
        }
    }

    /// Looks up `key`. A result of another key, or a corrupt one, is a miss.
    pub(crate) fn get(&self, context: &Context, key: Key) -> Option<Stored> {
        let Some(Reply::Found(bytes)) = self.ask(context, &Request::Get { key: key.hash() }) else {
            return None;
        };
        let Ok(stored) = Stored::from_bytes(&bytes, key.hash()) else {
            let url = &self.settings.url;
            self.warn_once(
                context,
                &format!("`{url}` has results of other actions, or corrupt ones; they were ignored"),
            );
            return None;
        };
        context.tally.received(bytes.len() as u64);
        Some(stored)
    }

    /// Uploads a result in the background.
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

    /// Waits for uploads, for a limited time.
    pub(crate) fn finish(&self, context: &Context) {
        const TIMEOUT_SECONDS: u64 = 20;
        if self.is_started() {
            self.ask(context, &Request::Flush { seconds: TIMEOUT_SECONDS });
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

    /// Sends `request`, and reports a refusal or a fault.
    fn ask(&self, context: &Context, request: &Request) -> Option<Reply> {
        if self.is_disabled.load(Ordering::Relaxed) {
            return None;
        }
        match self.reply(context, request) {
            Ok(Reply::Declined { reason }) => {
                self.warn_once(context, &reason);
                None
            }
            Ok(reply) => {
                if let Reply::Missing { room } | Reply::Executed { room, .. } = &reply {
                    context.jobs.set_remote_room(*room);
                }
                Some(reply)
            }
            Err(error) => {
                if !self.is_disabled.swap(true, Ordering::Relaxed) {
                    self.warn_once(context, &format!("no results come from other machines: {error}"));
                }
                None
            }
        }
    }

    /// Reports the first reason. An empty one was reported by another build script.
    fn warn_once(&self, context: &Context, reason: &str) {
        if !reason.is_empty() && !self.has_warned.swap(true, Ordering::Relaxed) {
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
        server.ask(request, longest).map_err(|error| match error.kind() {
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
