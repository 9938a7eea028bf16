//! Client of remote caches and of Remote Execution for build scripts.
//!
//! [`serve`] is a daemon beside a build. Build scripts send it the messages of [`offload_protocol::remote`] through a Unix
//! socket. [`Settings`] name the server: the Remote Execution API (Buildbarn, BuildBuddy, NativeLink, buildbox), an HTTP
//! cache with Bazel's protocol (bazel-remote, nginx with WebDAV), a bucket of S3, or a shared folder.
//!
//! Servers are not trusted: each download is compared with its SHA-256, and build scripts validate it again. No fault of a
//! server fails a build; the build script then does the work locally.
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
mod input_root;
mod notes;
mod queue;
mod remote;
mod retry;
mod server;
mod settings;
mod store;
mod sync;
mod tls;
mod uploads;

pub use crate::error::Error;
pub use crate::examine::{Access, Examination, examine};
pub use crate::server::{ServeOptions, serve};
pub use crate::settings::{Settings, Tools};
