//! Import cycles between the modules of a crate, which neither rustc nor clippy reports.

pub mod cycles;
mod imports;
pub mod modules;
pub mod packages;
