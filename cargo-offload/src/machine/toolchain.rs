//! Installing compilers without root: packages of the distribution and of Python, unpacked into a folder of the user's.
//!
//! Where packages come from is what this machine is set up for: they are fetched by `apt-get download` and
//! `pip download`. What was fetched stands in a lock file with addresses and hashes; with that file the same is fetched
//! again, also on another distribution whose C library is new enough.

mod add;
mod apt;
mod deb;
mod fetch;
pub(crate) mod lock;
pub(crate) mod part;
mod python;
mod run;
mod system;
mod tree;
mod whole;
mod workplace;

pub(crate) use self::add::{add, of_folder, remove};
pub(crate) use self::run::which;
pub(crate) use self::whole::{Installed, Plan, Versions, install, lacks_rest};
