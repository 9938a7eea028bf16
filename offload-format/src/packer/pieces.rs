//! Images that are read one piece after another.

use super::Source;
use crate::Hash128;
use crate::codec::Diff;

/// How many bytes a piece has: two of them stay in a core's cache.
pub const PIECE: usize = Diff::PIECE;

/// The bytes of an image from its start.
pub trait Pieces<E> {
    /// The next [`PIECE`] bytes, or what is left of the image; nothing at its end.
    ///
    /// # Errors
    /// They cannot be had.
    fn next(&mut self) -> Result<&[u8], E>;

    /// Passes over the next piece, which need not be read for that.
    ///
    /// # Errors
    /// As [`Pieces::next`].
    fn skip(&mut self) -> Result<(), E> {
        self.next().map(drop)
    }
}

/// An image that is in memory.
#[derive(Debug)]
pub(super) struct Whole {
    bytes: Vec<u8>,
    at: usize,
}

impl Whole {
    pub(super) fn new(bytes: Vec<u8>) -> Whole {
        Whole { bytes, at: 0 }
    }
}

impl<E> Pieces<E> for Whole {
    fn next(&mut self) -> Result<&[u8], E> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let piece = rest.get(..PIECE).unwrap_or(rest);
        self.at = self.at.saturating_add(piece.len());
        Ok(piece)
    }
}

/// Hands the pieces of two images to `compare`, those of one place together, as long as it returns true; false if
/// it did not.
pub(super) fn side_by_side<S: Source>(
    source: &S,
    (one, other): (Hash128, Hash128),
    compare: &mut dyn FnMut(&[u8], &[u8]) -> bool,
) -> Result<bool, S::Error> {
    let (mut one, mut other) = (source.open(one)?, source.open(other)?);
    loop {
        let (one, other) = (one.next()?, other.next()?);
        if one.is_empty() && other.is_empty() {
            return Ok(true);
        }
        if !compare(one, other) {
            return Ok(false);
        }
    }
}
