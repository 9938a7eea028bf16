//! What goes wrong at a server, and whether to try it again.

mod explain;
mod kind;

use std::error::Error as _;
use std::time::Duration;

use tonic::{Code, Status};

use self::explain::{Explained, explain};
pub(crate) use self::kind::Kind;
use crate::api::rpc;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// For people.
    pub(crate) message: String,
    /// What to do, if anything.
    pub(crate) hint: Option<String>,
}

/// The hint where a command waits in vain.
pub(crate) const NO_WORKER: &str = "does `platform` in the table `remote` say what a worker offers?";

impl Fault {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Fault {
        Fault { kind, message: message.into(), hint: None }
    }

    pub(crate) fn lasting(message: impl Into<String>) -> Fault {
        Fault::new(Kind::Lasting, message)
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }

    /// No answer came in time.
    pub(crate) fn late(limit: Duration) -> Fault {
        Fault::new(Kind::Transient, format!("no answer within {} s", limit.as_secs()))
            .hint("`timeout` in the table `remote` of offload.toml changes the limit")
    }

    /// A file of this machine cannot be read or written.
    pub(crate) fn file(action: &str, path: &std::path::Path, error: &std::io::Error) -> Fault {
        Fault::new(Kind::Local, format!("cannot {action} `{}`: {error}", path.display()))
    }

    /// What the program that speaks HTTP says of a connection.
    pub(crate) fn connection(error: &(dyn std::error::Error + 'static)) -> Fault {
        Fault::explained(explain(error), Kind::Transient, || last_of(error))
    }

    fn explained(explained: Option<Explained>, kind: Kind, message: impl FnOnce() -> String) -> Fault {
        match explained {
            Some(Explained { kind, message, hint }) => Fault { kind, message, hint: Some(hint.into()) },
            None => Fault::new(kind, message()),
        }
    }

    /// The message and the hint, as an error of `what` has them.
    pub(crate) fn text(&self, what: &str) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        format!("{what}: {}{}", self.message, hint.unwrap_or_default())
    }
}

/// The innermost cause says most.
fn last_of(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

impl From<Status> for Fault {
    fn from(status: Status) -> Fault {
        // Without a source it is the server's answer; with one, the connection's end.
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

fn kind_of(code: Code) -> Kind {
    match code {
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::ResourceExhausted
        | Code::Aborted
        | Code::Internal
        | Code::Cancelled
        | Code::Unknown => Kind::Transient,
        Code::PermissionDenied | Code::Unauthenticated => Kind::Denied,
        _ => Kind::Lasting,
    }
}

fn answered(code: Code, message: &str) -> Fault {
    let said = if message.is_empty() { code.description() } else { message };
    let fault = Fault::new(kind_of(code), said);
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
            (Code::Unavailable, Kind::Transient),
            (Code::ResourceExhausted, Kind::Transient),
            (Code::Unauthenticated, Kind::Denied),
            (Code::PermissionDenied, Kind::Denied),
            (Code::InvalidArgument, Kind::Lasting),
            (Code::FailedPrecondition, Kind::Lasting),
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
