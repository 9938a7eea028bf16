//! What every step of planning works with.

use super::budget::Pool;
use super::settings::Mode;

/// Where images are read, who reads them, and how hard to try.
pub(super) struct Planner<'a, S> {
    pub(super) source: &'a S,
    pub(super) pool: &'a Pool<'a>,
    pub(super) mode: Mode,
}
