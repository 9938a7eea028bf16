//! Messages of `verify` for every kind of file.

use serde::Serialize;

/// An image that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Verified<'a> {
    pub(super) reason: &'static str,
    pub(super) package: &'a str,
    pub(super) module: &'a str,
    pub(super) target: &'a str,
    /// Checksum that the bytes were compared with; `None` if the container has only sizes.
    pub(super) checksum: Option<String>,
    pub(super) problem: Option<String>,
}

/// Something else that is wrong.
#[derive(Debug, Serialize)]
pub(super) struct Problem<'a> {
    pub(super) reason: &'static str,
    pub(super) package: &'a str,
    pub(super) problem: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) reason: &'static str,
    pub(super) images: u64,
    pub(super) problems: u64,
}
