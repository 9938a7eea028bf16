//! Streaming reads of images, piece by piece.

use std::io::{self, ErrorKind, Read};

use offload_format::codec::PatchBuilder;

/// The size of a piece in bytes: two of them fit into a core's cache.
pub const PIECE: usize = PatchBuilder::PIECE;

/// The bytes of an image from its start.
pub trait Pieces<E> {
    /// The next [`PIECE`] bytes, or the remainder of the image; empty at its end.
    ///
    /// # Errors
    /// The bytes cannot be read.
    fn next(&mut self) -> Result<&[u8], E>;

    /// Skips the next piece without having to read it.
    ///
    /// # Errors
    /// As [`Pieces::next`].
    fn skip(&mut self) -> Result<(), E> {
        self.next().map(drop)
    }
}

/// The size of the first read.
const FIRST_READ: usize = 16 << 10;

/// Fills `piece` with the next [`PIECE`] bytes of `reader`, or the remainder. The first piece grows step by step, because
/// most images are small; the following ones are read at once, where [`Read::read_to_end`] starts with a few kilobytes each
/// time.
///
/// ```
/// use offload_packer::{PIECE, read_piece};
///
/// let image = vec![1; PIECE + 10];
/// let mut piece = Vec::new();
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
            grow(piece, wanted.clamp(FIRST_READ, PIECE));
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

/// Extends `piece` to `size` bytes. In an unoptimised build script [`Vec::resize`] writes byte by byte; fresh memory is
/// zeroed already.
fn grow(piece: &mut Vec<u8>, size: usize) {
    let mut grown = vec![0; size];
    if let Some(start) = grown.get_mut(..piece.len()) {
        start.copy_from_slice(piece);
    }
    *piece = grown;
}

/// An image in memory.
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
