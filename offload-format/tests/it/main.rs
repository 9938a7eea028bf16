//! Tests of the bytes, in one program to link once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod codec;
mod pack;
mod pages;
mod sharing;
