//! Damaged files: no reader panics, is slow, or takes much more memory than the file has bytes.
//!
//! A reader is added by a module with [`harness::Subject`]s: samples with their fields, and a function that decodes all
//! of what is accepted. `OFFLOAD_DAMAGE_EDITS` says how many files with random edits each gets; `cargo xtask damage`
//! makes a million.
#![cfg(all(feature = "offload-binary", feature = "syclbin", feature = "zlib", feature = "carrier"))]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod allocations;
mod carrier;
mod harness;
mod offload_binary;
mod random;
mod spirv;
mod syclbin;
