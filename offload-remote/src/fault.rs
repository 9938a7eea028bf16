//! Faults of calls, with the kind that decides about a retry.

mod explain;
mod kind;

use std::error::Error as _;
use std::time::Duration;

use tonic::{Code, Status};

use self::explain::{Explained, explain};
pub(crate) use self::kind::FaultKind;
use crate::api::rpc;

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// The hint where no worker takes an action.
pub(crate) const NO_WORKER: &str = "does `platform` in the table `remote` say what a worker offers?";

impl Fault {
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault { kind, message: message.into(), hint: None }
    }

    pub(crate) fn lasting(message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Lasting, message)
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }

    /// A timeout.
    pub(crate) fn late(limit: Duration) -> Fault {
        Fault::new(FaultKind::Transient, format!("no answer within {} s", limit.as_secs()))
            .hint("`timeout` in the table `remote` of offload.toml changes the limit")
    }

    /// An I/O error of a local file.
    pub(crate) fn file(action: &str, path: &std::path::Path, error: &std::io::Error) -> Fault {
        Fault::new(FaultKind::Local, format!("cannot {action} `{}`: {error}", path.display()))
    }

    /// An error of an HTTP connection.
    pub(crate) fn connection(error: &(dyn std::error::Error + 'static)) -> Fault {
        Fault::explained(explain(error), FaultKind::Transient, || last_of(error))
    }

    fn explained(explained: Option<Explained>, kind: FaultKind, message: impl FnOnce() -> String) -> Fault {
        match explained {
            Some(Explained { kind, message, hint }) => Fault { kind, message, hint: Some(hint.into()) },
            None => Fault::new(kind, message()),
        }
    }

    /// The message and the hint, after `what`.
    pub(crate) fn text(&self, what: &str) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        format!("{what}: {}{}", self.message, hint.unwrap_or_default())
    }
}

/// The innermost cause, which is the most specific.
fn last_of(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

impl From<Status> for Fault {
    fn from(status: Status) -> Fault {
        // The server's own status has no source; one of the connection does.
        match status.source() {
            Some(source) => Fault::explained(explain(source), kind_of(status.code()), || last_of(source)),
            None => answered(status.code(), status.message()),
        }
    }
}

impl From<&rpc::Status> for Fault {
    fn from(status: &rpc::Status) -> Fault {
        answered(Code::from_i32(status.code), &status.message)
    }
}

fn kind_of(code: Code) -> FaultKind {
    match code {
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::ResourceExhausted
        | Code::Aborted
        | Code::Internal
        | Code::Cancelled
        | Code::Unknown => FaultKind::Transient,
        Code::PermissionDenied | Code::Unauthenticated => FaultKind::Denied,
        _ => FaultKind::Lasting,
    }
}

fn answered(code: Code, message: &str) -> Fault {
    let message = if message.is_empty() { code.description() } else { message };
    let fault = Fault::new(kind_of(code), message);
    match code {
        Code::Unauthenticated => fault.hint("give a credential by `headers` in the table `remote`"),
        Code::PermissionDenied => {
            fault.hint("ask who runs the server for the right, or set `upload = false`")
        }
        Code::Unimplemented => fault.hint("is it a server of the Remote Execution API?"),
        Code::ResourceExhausted => fault.hint("the server is full or busy"),
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_from_what_lasts() {
        for (code, kind) in [
            (Code::Unavailable, FaultKind::Transient),
            (Code::ResourceExhausted, FaultKind::Transient),
            (Code::Unauthenticated, FaultKind::Denied),
            (Code::PermissionDenied, FaultKind::Denied),
            (Code::InvalidArgument, FaultKind::Lasting),
            (Code::FailedPrecondition, FaultKind::Lasting),
        ] {
            assert_eq!(Fault::from(Status::new(code, "x")).kind, kind, "{code:?}");
        }
    }

    #[test]
    fn a_text_has_the_server_and_ends_with_the_hint() {
        let fault = Fault::from(Status::unauthenticated("who are you"));
        assert_eq!(
            fault.text("grpc://host"),
            "grpc://host: who are you\nhint: give a credential by `headers` in the table `remote`"
        );
    }
}
