//! Kinds of faults.

/// The reaction that a fault calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Retried: the server is busy or restarts, or the network failed.
    Transient,
    /// Permission denied.
    Denied,
    /// Blobs that an action needs were evicted: upload them again.
    Evicted,
    /// An error of a local file, not of the server.
    Local,
    /// Permanent: a retry is useless.
    Lasting,
}
