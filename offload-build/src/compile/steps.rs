//! Cached runs of one tool whose inputs are all known.

pub(super) mod action;
pub(super) mod chain;
pub(super) mod check;
