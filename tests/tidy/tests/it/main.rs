//! Tests of the import graph and of the documents: planted cycles are found, links lead somewhere.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod book;
mod driver_crates;
mod planted;
