//! Tests of the readers of device images, in one program to link once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod code_object;
mod cubin;
mod ptx;
