//! Damaged files: no reader panics, is slow, or takes much more memory than the file has bytes.
//!
//! A reader is added by a function in [`decode`] that decodes all of what is accepted, and a module with
//! [`harness::Reader`]s: samples with their fields. `OFFLOAD_DAMAGE_EDITS` says how many files with random edits each gets; `cargo xtask damage`
//! makes a million.
#![cfg(feature = "contents")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod allocations;
mod bombs;
mod bundle;
mod carrier;
mod clang;
mod contents;
mod decode;
mod dense;
mod fatbin;
mod harness;
mod images;
mod kpack;
mod ocloc;
mod offload_binary;
mod pack;
mod random;
mod spirv;
mod syclbin;
