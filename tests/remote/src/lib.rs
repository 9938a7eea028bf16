//! Test servers for remote builds: a server of the Remote Execution API with fault injection, and a small client for any
//! server.
//!
//! The protocol: <https://github.com/bazelbuild/remote-apis>.

pub mod blobs;
pub mod client;
pub mod standin;

/// The messages and services of the Remote Execution API.
pub use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
