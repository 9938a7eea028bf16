//! Figures of the published crates that `ARCHITECTURE.md` claims: measured from parsed source and from cargo.
//!
//! A test compares them with [`ceilings`]; `cargo xtask tidy` prints them.

pub mod ceilings;
pub mod cycles;
pub mod dependencies;
pub mod figures;
mod functions;
mod imports;
mod items;
pub mod modules;
pub mod report;
