//! What builds with other machines are tested against: a server of the Remote Execution API with faults at will, and a
//! small client that asks any server.
//!
//! The protocol: <https://github.com/bazelbuild/remote-apis>.

pub mod blobs;
pub mod client;
pub mod standin;

/// The messages and services of the Remote Execution API.
pub use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
