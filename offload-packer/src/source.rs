//! The input of the packer: images and the source of their bytes.

use super::pieces::{Pieces, Whole};
use offload_format::{Error, Hash128, ImageKind};

/// An image to be packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawImage {
    /// Hash of its bytes.
    pub hash: Hash128,
    /// Size in bytes.
    pub size: u64,
    /// The format; small images share blocks with others of their kind.
    pub kind: ImageKind,
}

/// A source of the bytes of images.
pub trait ImageSource: Sync {
    /// The error of reading an image.
    type Error: From<Error> + Send;

    /// Reads the image with this hash.
    ///
    /// # Errors
    /// The image cannot be read.
    fn read(&self, hash: Hash128) -> Result<Vec<u8>, Self::Error>;

    /// Opens the image for streaming. A source of files can override it, along with [`ImageSource::held`], so that the image
    /// is never in memory as a whole.
    ///
    /// # Errors
    /// The image cannot be read.
    fn open(&self, hash: Hash128) -> Result<Box<dyn Pieces<Self::Error> + '_>, Self::Error> {
        Ok(Box::new(Whole::new(self.read(hash)?)))
    }

    /// The memory for an open image of `size` bytes.
    fn held(&self, size: u64) -> u64 {
        size
    }
}

/// Compares a piece of the base with the piece of an image at the same offset; the first argument is the number of the
/// image. Returns false to end the comparison of this image.
pub(super) type Compare<'c> = dyn FnMut(usize, &[u8], &[u8]) -> bool + 'c;

/// Streams a base and `others` in parallel through `compare`. Returns for each of these whether it was compared to its end.
pub(super) fn side_by_side<S: ImageSource>(
    source: &S,
    base: Hash128,
    others: &[Hash128],
    compare: &mut Compare<'_>,
) -> Result<Vec<bool>, S::Error> {
    let mut base = source.open(base)?;
    let mut open = Vec::new();
    for other in others {
        open.push(Some(source.open(*other)?));
    }
    loop {
        let piece = base.next()?;
        let mut is_end = piece.is_empty();
        for (place, slot) in open.iter_mut().enumerate() {
            let Some(other) = slot else { continue };
            let other = other.next()?;
            is_end &= other.is_empty();
            if !compare(place, piece, other) {
                *slot = None;
            }
        }
        if is_end || open.iter().all(Option::is_none) {
            return Ok(open.iter().map(Option::is_some).collect());
        }
    }
}
