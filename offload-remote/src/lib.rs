//! Reaches other machines for build scripts: it shares results with them, and runs compilers there.
//!
//! [`serve`] is a process beside a build. Build scripts ask it through a Unix socket, in the messages of
//! [`offload_format::remote`]. [`Settings`] say which server it asks in turn: one of the Remote Execution API (Buildbarn,
//! BuildBuddy, NativeLink, buildbox), an HTTP cache as Bazel has it (bazel-remote, nginx with WebDAV), a bucket of S3, or a
//! shared folder.
//!
//! A server is trusted with nothing: what comes back is compared with its SHA-256, and build scripts check it again. No
//! fault of a server fails a build; the build script then does the work.
//!
//! ```
//! use offload_remote::Settings;
//!
//! let settings = Settings::parse("url = \"grpcs://cache.example.com\"\nexecute = true")?;
//! assert_eq!(settings.url(), "grpcs://cache.example.com");
//! # Ok::<(), offload_remote::Error>(())
//! ```
//!
//! The API: <https://github.com/bazelbuild/remote-apis/blob/main/build/bazel/remote/execution/v2/remote_execution.proto>.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod api;
mod digest;
mod entry;
mod error;
mod examine;
mod execute;
#[cfg(test)]
mod fake;
mod fault;
mod files;
mod health;
mod identity;
mod notes;
mod queue;
mod remote;
mod retry;
mod server;
mod settings;
mod store;
mod sync;
mod tls;
mod tree;
mod uploads;

pub use crate::error::Error;
pub use crate::examine::{Access, Examination, examine};
pub use crate::server::{Options, serve};
pub use crate::settings::{Settings, Tools};
