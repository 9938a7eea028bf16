//! The interface between build scripts and `cargo-offload`.
//!
//! - [`variable`]: the environment variables of this project;
//! - [`remote`]: the messages between build scripts and the client of Remote Execution and shared caches.
//!
//! Both sides are of the same release, so that nothing here has compatibility rules. Programs do not link this crate.
#![forbid(unsafe_code)]

pub mod remote;
pub mod variable;

/// The example of the README, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
