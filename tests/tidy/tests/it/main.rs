//! The tests of the figures: planted faults are found, and the crates keep to their ceilings.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod ceilings;
mod planted;
