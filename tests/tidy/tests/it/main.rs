//! The tests of the figures and of the pages: planted faults are found, the crates keep to their ceilings, links lead on.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod book;
mod ceilings;
mod driver_crates;
mod path;
mod planted;
