//! Images that are read one piece after another.

use std::io::{self, ErrorKind, Read};

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

/// How many bytes are asked for first.
const FIRST: usize = 16 << 10;

/// Fills `piece` with the next [`PIECE`] bytes of `reader`, or with what is left. The second piece comes at once, where
/// [`Read::read_to_end`] asks for a few kilobytes first each time; the first one grows, because most images are small.
///
/// ```
/// use offload_format::packer::{PIECE, read_piece};
///
/// let (image, mut piece) = (vec![1; PIECE + 10], Vec::new());
/// let mut reader = image.as_slice();
/// for size in [PIECE, 10, 0] {
///     read_piece(&mut reader, &mut piece)?;
///     assert_eq!(piece.len(), size);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Those of `reader`.
pub fn read_piece(reader: &mut impl Read, piece: &mut Vec<u8>) -> io::Result<()> {
    let mut filled: usize = 0;
    while filled < PIECE {
        if filled >= piece.len() {
            let wanted = filled.saturating_mul(2).max(piece.capacity());
            grow(piece, wanted.clamp(FIRST, PIECE));
        }
        match reader.read(piece.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(read) => filled = filled.saturating_add(read),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    piece.truncate(filled);
    Ok(())
}

/// Lengthens `piece` to `size` bytes. [`Vec::resize`] writes byte after byte in a build script that is not optimised; new
/// memory is zero already.
fn grow(piece: &mut Vec<u8>, size: usize) {
    let mut grown = vec![0; size];
    if let Some(start) = grown.get_mut(..piece.len()) {
        start.copy_from_slice(piece);
    }
    *piece = grown;
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
