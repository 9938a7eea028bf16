//! The tests of the bytes, in one program: it is linked once.
//!
//! `packer_memory` measures a whole process, so it has its own.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod codec;
mod pack;
mod packer;
mod pages;
mod sharing;
