//! Diagnosis of a server for `cargo offload doctor`: connection, API version, and the rights of this machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use offload_format::Hash128;
use tokio::runtime::Builder;

use crate::entry::Entry;
use crate::execute::{Executor, Refusal};
use crate::fault::Fault;
use crate::remote::Remote;
use crate::retry::with_retries;
use crate::{Error, Settings};

/// The outcome of [`examine`].
#[derive(Clone, Debug)]
pub struct Examination {
    /// The latency of the first response, or why there was none.
    pub connection: Result<Duration, Error>,
    /// The latest API version of the server; `None` for a folder or an HTTP cache.
    pub version: Option<String>,
    /// Cache lookups.
    pub reads: Access,
    /// Cache writes.
    pub writes: Access,
    /// Remote execution.
    pub executes: Access,
}

/// A right of this machine.
#[derive(Clone, Debug)]
pub enum Access {
    /// An attempt succeeded.
    Granted,
    /// Disabled by the settings, or not connected.
    NotTried,
    /// An attempt failed.
    Refused(Error),
}

/// Sends one request of each kind that builds send. The result that it stores is a few bytes, always the same.
///
/// # Errors
/// If the runtime cannot start. An unreachable server is no error here.
pub fn examine(settings: &Settings) -> Result<Examination, Error> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(format!("cannot start: {error}")))?;
    let examination = runtime.block_on(run(settings));
    runtime.shutdown_background();
    Ok(examination)
}

impl Examination {
    fn unreachable(error: Error) -> Examination {
        Examination {
            connection: Err(error),
            version: None,
            reads: Access::NotTried,
            writes: Access::NotTried,
            executes: Access::NotTried,
        }
    }
}

async fn run(settings: &Settings) -> Examination {
    let remote = match Remote::new(settings.clone()) {
        Ok(remote) => Arc::new(remote),
        Err(error) => return Examination::unreachable(error),
    };
    let start = Instant::now();
    let version = match connect(&remote).await {
        Ok(version) => version,
        Err(fault) => return Examination::unreachable(error_of(fault)),
    };
    let connection = Ok(start.elapsed());
    let reads = access(read(&remote).await);
    let writes = if settings.uploads() { access(write(&remote).await) } else { Access::NotTried };
    let executes = if settings.executes() { execute(&remote).await } else { Access::NotTried };
    Examination { connection, version, reads, writes, executes }
}

/// The API version, if the server has one.
async fn connect(remote: &Remote) -> Result<Option<String>, Fault> {
    match &remote.stores.server {
        Some(server) => {
            let limit = remote.settings.timeout();
            Ok(Some(with_retries(limit, || server.capabilities()).await?.version.clone()))
        }
        None => read(remote).await.map(|()| None),
    }
}

fn key() -> Hash128 {
    Hash128::digest(b"cargo offload doctor")
}

async fn read(remote: &Remote) -> Result<(), Fault> {
    remote.stores.store.result(&Entry::for_key(key()).action, &[]).await.map(|_| ())
}

async fn write(remote: &Remote) -> Result<(), Fault> {
    let content = Bytes::from_static(b"stored by `cargo offload doctor`");
    remote.store(key(), content.clone()).await?;
    match remote.look_up(&Entry::for_key(key()).action).await? {
        Some(found) if found == content => Ok(()),
        _ => Err(Fault::lasting("a stored result cannot be read back")
            .hint("does the server keep what it takes? Its log may say more")),
    }
}

async fn execute(remote: &Arc<Remote>) -> Access {
    let executor = Executor::new(Arc::clone(remote), Arc::default());
    match executor.probe().await {
        Ok(()) => Access::Granted,
        Err(Refusal::Fault(fault)) => Access::Refused(error_of(fault)),
        Err(Refusal::Standing(_, text)) => Access::Refused(match text.split_once("\nhint: ") {
            Some((message, hint)) => Error::new(message).hint(hint),
            None => Error::new(text),
        }),
    }
}

fn access(tried: Result<(), Fault>) -> Access {
    match tried {
        Ok(()) => Access::Granted,
        Err(fault) => Access::Refused(error_of(fault)),
    }
}

fn error_of(fault: Fault) -> Error {
    let error = Error::new(fault.message);
    match fault.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[tokio::test]
    async fn a_server_that_allows_everything_is_told_so() {
        let fake = Fake::start().await;
        let examination = run(&fake.settings("execute = true")).await;
        assert!(examination.connection.is_ok());
        assert_eq!(examination.version.as_deref(), Some("2.3"));
        for access in [examination.reads, examination.writes, examination.executes] {
            assert!(matches!(access, Access::Granted), "{access:?}");
        }
        assert_eq!((fake.count("run"), fake.count("put result")), (1, 1));
        // An earlier run proves nothing.
        run(&fake.settings("execute = true\nupload = false")).await;
        assert_eq!((fake.count("run"), fake.count("put result")), (2, 1));
    }

    #[tokio::test]
    async fn what_is_refused_has_a_hint() {
        let fake = Fake::start().await;
        fake.state().updates = false;
        fake.state().executes = false;
        let examination = run(&fake.settings("execute = true")).await;
        for access in [examination.writes, examination.executes] {
            let Access::Refused(error) = access else { panic!("{access:?}") };
            assert!(error.hint_text().is_some(), "{error}");
        }
        let examination = run(&fake.settings("instance = \"other\"")).await;
        assert!(examination.connection.unwrap_err().to_string().contains("the instance `other`"));
        assert!(matches!(examination.reads, Access::NotTried));
    }

    #[test]
    fn a_folder_has_no_version_and_runs_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings::parse(&format!("url = \"{}\"", dir.path().display())).unwrap();
        let examination = examine(&settings).unwrap();
        assert!(examination.connection.is_ok() && examination.version.is_none());
        assert!(matches!(examination.writes, Access::Granted));
        assert!(matches!(examination.executes, Access::NotTried));
    }
}
