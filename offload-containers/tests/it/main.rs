//! The tests of the readers of foreign containers, in one program: it is linked once.
//!
//! `damage` counts allocations with an allocator of its own, so it is another.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod carrier;
mod ccob;
mod contents;
mod deep;
mod example;
mod fatbin;
mod kpack;
mod ocloc;
mod offload_binary;
mod syclbin;
