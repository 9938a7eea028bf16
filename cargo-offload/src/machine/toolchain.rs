//! Installation of compilers without root, from packages of the distribution and of Python.
//!
//! Packages come from the sources of this machine, by `apt-get download` and `pip download`. A lock file records URLs
//! and hashes, and installs the same packages again, also on another distribution whose C library is new enough.

mod add;
mod apt;
mod deb;
mod fetch;
mod install;
pub(crate) mod lock;
pub(crate) mod part;
mod python;
mod run;
mod staging;
mod system;
mod tree;

pub(crate) use self::add::{add, packages_in, remove};
pub(crate) use self::install::{InstalledToolchain, Plan, Versions, install, lacks_rest};
pub(crate) use self::run::which;
