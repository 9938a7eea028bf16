//! How many compilers run at once: as many as cargo's jobserver grants.
#![expect(unsafe_code, reason = "the jobserver is inherited as a file descriptor")]

use std::sync::Mutex;
use std::thread;

use jobserver::{Acquired, Client};

/// Tokens of cargo's jobserver. A build script holds one from the start.
#[derive(Debug)]
pub(crate) struct Jobs {
    client: Option<Client>,
    own: Mutex<Own>,
}

#[derive(Debug, PartialEq, Eq)]
enum Own {
    Free,
    Taken,
}

/// The right to run one process; given back when dropped.
#[derive(Debug)]
pub(crate) struct Token<'a> {
    jobs: &'a Jobs,
    kind: TokenKind,
}

#[derive(Debug)]
enum TokenKind {
    Own,
    #[expect(dead_code, reason = "dropping it gives the token back")]
    Acquired(Option<Acquired>),
}

impl Jobs {
    pub(crate) fn from_env() -> Jobs {
        // SAFETY: called once, at the start of a build script, before anything else could have closed or reused the
        // descriptors that cargo handed down.
        let client = unsafe { Client::from_env() };
        Jobs { client, own: Mutex::new(Own::Free) }
    }

    /// Waits until another process may run.
    pub(crate) fn token(&self) -> Token<'_> {
        let mut own = self.own();
        if *own == Own::Free {
            *own = Own::Taken;
            return Token { jobs: self, kind: TokenKind::Own };
        }
        drop(own);
        // A broken jobserver must not stop the build: then the number of threads is the limit.
        let acquired = self.client.as_ref().and_then(|client| client.acquire().ok());
        Token { jobs: self, kind: TokenKind::Acquired(acquired) }
    }

    /// Calls `work` for every item, in parallel; results are in the order of the items.
    pub(crate) fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        thread::scope(|scope| {
            let work = &work;
            let running: Vec<_> = items.iter().map(|item| scope.spawn(move || work(item))).collect();
            let join = |handle: thread::ScopedJoinHandle<'_, R>| {
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            running.into_iter().map(join).collect()
        })
    }

    fn own(&self) -> std::sync::MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        if matches!(self.kind, TokenKind::Own) {
            *self.jobs.own() = Own::Free;
        }
    }
}
