//! Sequences of fatbins, as in the sections `.nv_fatbin` and `__nv_relfatbin`.

use super::{Fatbin, parse};
use offload_format::{Error, Limits};

/// The containers of `section` with their offsets. Each begins at the end of the previous one, or behind zeros that align
/// it. The iterator ends after an error.
pub fn fatbins<'a>(section: &'a [u8], limits: &Limits) -> Fatbins<'a> {
    Fatbins { section, at: 0, limits: *limits }
}

/// The iterator of [`fatbins`].
#[derive(Clone, Debug)]
pub struct Fatbins<'a> {
    section: &'a [u8],
    at: usize,
    limits: Limits,
}

impl<'a> Iterator for Fatbins<'a> {
    type Item = Result<(u64, Fatbin<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.section.get(self.at..)?;
        let padding = rest.iter().position(|byte| *byte != 0)?;
        let start = self.at.saturating_add(padding);
        let found = parse(rest.get(padding..)?, &self.limits);
        let size = found.as_ref().ok().and_then(|found| usize::try_from(found.size).ok());
        self.at = size.and_then(|size| start.checked_add(size)).unwrap_or(usize::MAX);
        Some(found.map(|found| (start as u64, found)))
    }
}
