//! Frames that build on each other, decoded one after the other in two buffers.

use super::{Codec, MAX_IMAGE, patch, zstd};
use crate::{Error, ErrorKind};

/// A line of descent, as far as it is decoded.
#[derive(Default)]
pub(super) struct Descent {
    /// The content of the last frame.
    content: Option<Vec<u8>>,
    /// Where the content before it was. Memory that is new costs about as much as what zstd writes into it.
    room: Vec<u8>,
}

impl From<Vec<u8>> for Descent {
    fn from(content: Vec<u8>) -> Descent {
        Descent { content: Some(content), room: Vec::new() }
    }
}

impl Descent {
    /// Decodes the next frame, which is `size` bytes of `what`.
    pub(super) fn step(
        &mut self,
        codec: Codec,
        frame: &[u8],
        (size, what): (u64, &'static str),
    ) -> Result<(), Error> {
        let content = match (codec, self.content.take()) {
            (Codec::Patch, Some(mut parent)) => patch::apply(&mut parent, frame).map(|()| parent)?,
            (codec, parent) => {
                let content = decompress((codec, frame), parent.as_deref(), (size, &mut self.room))?;
                self.room = parent.unwrap_or_default();
                content
            }
        };
        if content.len() as u64 != size {
            return Err(ErrorKind::Damaged { what }.into());
        }
        self.content = Some(content);
        Ok(())
    }

    /// The content of the last frame, in a buffer of its size.
    pub(super) fn into_content(self) -> Vec<u8> {
        let mut content = self.content.unwrap_or_default();
        content.shrink_to_fit();
        content
    }
}

/// The content of a frame that stands for itself, which is `size` bytes of `what`.
pub(crate) fn inflate(
    frame: &[u8],
    codec: Codec,
    (size, what): (u64, &'static str),
) -> Result<Vec<u8>, Error> {
    let mut descent = Descent::default();
    descent.step(codec, frame, (size, what))?;
    Ok(descent.into_content())
}

fn decompress(
    (codec, frame): (Codec, &[u8]),
    parent: Option<&[u8]>,
    room: (u64, &mut Vec<u8>),
) -> Result<Vec<u8>, Error> {
    match (codec, parent) {
        (Codec::Raw, _) => Ok(frame.to_vec()),
        (Codec::Zstd, _) => zstd::decompress(frame, None, room),
        (Codec::ZstdPrefix, Some(prefix)) => zstd::decompress(frame, Some(prefix), room),
        #[cfg(feature = "archive")]
        (Codec::Lzma, _) => super::lzma::decompress(frame, None, room),
        #[cfg(feature = "archive")]
        (Codec::LzmaPrefix, Some(prefix)) => super::lzma::decompress(frame, Some(prefix), room),
        (other, _) => Err(other.unsupported()),
    }
}

/// An empty buffer with room for `size` bytes: `room` where it is enough, else memory taken only if the system has it.
pub(super) fn buffer(size: u64, room: &mut Vec<u8>) -> Result<Vec<u8>, Error> {
    if size > MAX_IMAGE {
        return Err(ErrorKind::TooLarge { what: "the image", size, limit: MAX_IMAGE }.into());
    }
    let refused = || Error::from(ErrorKind::TooLarge { what: "the image", size, limit: usize::MAX as u64 });
    let needed = usize::try_from(size).map_err(|_| refused())?;
    let mut out = std::mem::take(room);
    if out.capacity() < needed {
        out = Vec::new();
        out.try_reserve_exact(needed).map_err(|_| refused())?;
    }
    out.clear();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grandchild_lies_where_its_grandparent_lay() {
        let images = [vec![1; 5000], vec![2; 9000], vec![3; 4000]];
        let mut descent = Descent::default();
        let mut places = Vec::new();
        for (at, image) in images.iter().enumerate() {
            let prefix = at.checked_sub(1).map(|parent| images[parent].as_slice());
            let codec = if prefix.is_some() { Codec::ZstdPrefix } else { Codec::Zstd };
            let frame = zstd::compress(image, prefix, 3).unwrap();
            descent.step(codec, &frame, (image.len() as u64, "an image")).unwrap();
            places.push(descent.content.as_ref().unwrap().as_ptr());
        }
        assert_eq!(places[0], places[2]);
        let content = descent.into_content();
        assert_eq!((content.capacity(), &content), (4000, &images[2]));
    }

    #[test]
    fn room_that_is_not_enough_is_not_used() {
        let mut room = Vec::with_capacity(100);
        assert!(buffer(1000, &mut room).unwrap().capacity() >= 1000);
        assert!(buffer(MAX_IMAGE + 1, &mut room).is_err());
    }
}
