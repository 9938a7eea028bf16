//! Sequences of bundles, compressed or not, as in the section `.hip_fatbin`.

use super::{Ccob, MAGIC, parse};
use crate::bundle::{self, Bundle};
use offload_format::{Error, ErrorKind, Limits};

/// A bundle of either form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Container<'a> {
    /// An uncompressed bundle.
    Bundle(Bundle<'a>),
    /// A compressed bundle.
    Compressed(Ccob<'a>),
}

impl Container<'_> {
    fn size(&self) -> u64 {
        match self {
            Container::Bundle(bundle) => bundle.size,
            Container::Compressed(ccob) => ccob.size,
        }
    }
}

/// The bundles of `section` with their offsets. Each begins at the recorded end of the previous one, or behind zeros that
/// align it. (LLVM searches for the magic, and also finds it inside compressed bytes.)
///
/// The iterator ends after an error.
pub fn containers<'a>(section: &'a [u8], limits: &Limits) -> Containers<'a> {
    Containers { section, at: 0, limits: *limits }
}

/// The iterator of [`containers`].
#[derive(Clone, Debug)]
pub struct Containers<'a> {
    section: &'a [u8],
    at: usize,
    limits: Limits,
}

impl<'a> Iterator for Containers<'a> {
    type Item = Result<(u64, Container<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.section.get(self.at..)?;
        let padding = rest.iter().position(|byte| *byte != 0)?;
        let start = self.at.saturating_add(padding);
        let found = container(rest.get(padding..)?, &self.limits);
        let size = found.as_ref().ok().and_then(|found| usize::try_from(found.size()).ok());
        self.at = size.and_then(|size| start.checked_add(size)).unwrap_or(usize::MAX);
        Some(found.map(|found| (start as u64, found)))
    }
}

fn container<'a>(input: &'a [u8], limits: &Limits) -> Result<Container<'a>, Error> {
    if input.starts_with(&MAGIC) {
        return parse(input, limits).map(Container::Compressed);
    }
    if input.starts_with(&bundle::MAGIC) {
        return bundle::parse(input, limits).map(Container::Bundle);
    }
    Err(ErrorKind::Magic { what: "an offload bundle, compressed or not" }.into())
}
