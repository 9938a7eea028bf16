//! The context of planning.

use super::budget::Pool;
use super::settings::Mode;

/// The image source, worker pool and mode of planning.
pub(super) struct Planner<'a, S> {
    pub(super) source: &'a S,
    pub(super) pool: &'a Pool<'a>,
    pub(super) mode: Mode,
}
