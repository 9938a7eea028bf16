//! Kinds of faults.

/// What the caller does about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It may pass: the server is busy, starts anew, or the network failed.
    Transient,
    /// The server does not let this machine do it.
    Denied,
    /// Blobs that an action needs are gone.
    Evicted,
    /// A file of this machine: it says nothing about the server.
    Local,
    /// Nothing that another attempt changes.
    Lasting,
}
