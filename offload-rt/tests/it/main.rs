//! The tests of finding, selecting and launching, in one program: it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod common;
mod cuda;
mod hip;
mod linked;
mod packed;
mod registry;
mod selected;
mod selection;
mod selection_cuda;
mod selection_parts;
mod selection_spec;
mod selection_table;
mod threads;
mod typed;
