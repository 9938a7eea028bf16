//! The images to be packed, and where their bytes are.

use super::pieces::{Pieces, Whole};
use crate::{Error, Hash128, ImageKind};

/// An image to be packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawImage {
    /// Hash of its bytes.
    pub hash: Hash128,
    /// Their number.
    pub size: u64,
    /// What they are; small images share blocks with their kind.
    pub kind: ImageKind,
}

/// Where the bytes of images are.
pub trait ImageSource: Sync {
    /// What goes wrong while they are fetched.
    type Error: From<Error> + Send;

    /// The bytes of the image with this hash.
    ///
    /// # Errors
    /// They cannot be had.
    fn read(&self, hash: Hash128) -> Result<Vec<u8>, Self::Error>;

    /// The same piece by piece. Who has images in files need not hold one for that, and says so in [`ImageSource::held`].
    ///
    /// # Errors
    /// They cannot be had.
    fn open(&self, hash: Hash128) -> Result<Box<dyn Pieces<Self::Error> + '_>, Self::Error> {
        Ok(Box::new(Whole::new(self.read(hash)?)))
    }

    /// How many bytes of memory it takes to have an image of `size` bytes open.
    fn held(&self, size: u64) -> u64 {
        size
    }
}

/// Takes the place of an image among others, and a piece of the one that all are compared with and the piece of this
/// one at the same place; false if no more of this one is wanted.
pub(super) type Compare<'c> = dyn FnMut(usize, &[u8], &[u8]) -> bool + 'c;

/// Hands the pieces of an image and those of each of `others` to `compare`. For each of these whether it was wanted to
/// its end.
pub(super) fn side_by_side<S: ImageSource>(
    source: &S,
    one: Hash128,
    others: &[Hash128],
    compare: &mut Compare<'_>,
) -> Result<Vec<bool>, S::Error> {
    let mut one = source.open(one)?;
    let mut open = others.iter().map(|other| source.open(*other).map(Some)).collect::<Result<Vec<_>, _>>()?;
    loop {
        let piece = one.next()?;
        let mut ended = piece.is_empty();
        for (place, slot) in open.iter_mut().enumerate() {
            let Some(other) = slot else { continue };
            let other = other.next()?;
            ended &= other.is_empty();
            if !compare(place, piece, other) {
                *slot = None;
            }
        }
        if ended || open.iter().all(Option::is_none) {
            return Ok(open.iter().map(Option::is_some).collect());
        }
    }
}
