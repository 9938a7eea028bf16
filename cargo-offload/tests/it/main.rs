//! The tests of the subcommand, in one program: it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod archives;
mod artifact;
mod commands;
mod compression;
mod deep;
mod delta_chains;
mod export_containers;
mod extract;
mod follow;
mod foreign;
mod gate;
mod gate_kinds;
mod hints;
mod large;
mod life;
mod mistakes;
mod names;
mod show;
mod snapshots;
mod support;
mod syclbin;
mod terminal;
mod toolchain;
mod unread;
mod windows;
