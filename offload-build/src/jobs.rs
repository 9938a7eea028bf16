//! Cargo's jobserver, of which a build script has one token from the start.
#![expect(unsafe_code, reason = "the jobserver is inherited as a file descriptor")]

use offload_jobs::{Client, Jobs};

/// The tokens of this build script.
pub(crate) fn from_env() -> Jobs {
    // SAFETY: called at the start of a build script, before anything else could have closed or reused the descriptors that
    // cargo handed down.
    Jobs::new(unsafe { Client::from_env() })
}
