//! Decoding of delta chains, frame by frame in two alternating buffers.

use super::memory::Output;
use super::method::Codec;
use super::patch;
use super::threads::Threads;
use crate::{Error, ErrorKind};

/// The expected content of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Its size in bytes.
    pub(crate) size: u64,
    /// Its name in errors.
    pub(crate) what: &'static str,
}

/// A decoder of the frames of a delta chain.
pub(super) struct FrameDecoder {
    /// For frames that several threads can decode.
    threads: Threads,
    /// The content of the last frame.
    content: Option<Vec<u8>>,
    /// The buffer of the content before it. Fresh pages cost about as much as zstd's writes to them.
    spare: Vec<u8>,
}

impl FrameDecoder {
    /// A decoder of a chain from its root.
    pub(super) fn new(threads: Threads) -> FrameDecoder {
        FrameDecoder { threads, content: None, spare: Vec::new() }
    }

    /// Decodes the next frame.
    pub(super) fn step(&mut self, codec: Codec, frame: &[u8], content: Expected) -> Result<(), Error> {
        let Expected { size, what } = content;
        let content = match (codec, self.content.take()) {
            (Codec::Patch, Some(mut parent)) => patch::apply(&mut parent, frame).map(|()| parent)?,
            (codec, parent) => {
                let output = Output { size, spare: &mut self.spare };
                let content = codec.decompress(frame, parent.as_deref(), output, self.threads)?;
                self.spare = parent.unwrap_or_default();
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

/// The input of decoding one frame.
#[cfg(feature = "write")]
#[derive(Clone, Debug)]
pub struct FrameContent {
    /// The content of the parent.
    pub parent: Option<Vec<u8>>,
    /// Size of the content in bytes.
    pub size: u64,
}

/// Decodes one frame to its content. The caller compares the content with what it expects.
///
/// # Errors
/// [`ErrorKind::Damaged`] or [`ErrorKind::Compression`] for a damaged frame; [`ErrorKind::Unsupported`] and
/// [`ErrorKind::Feature`] for a codec that this build does not read; [`ErrorKind::TooLarge`].
#[cfg(feature = "write")]
pub fn decode_frame(codec: Codec, frame: &[u8], content: FrameContent) -> Result<Vec<u8>, Error> {
    let mut decoder = FrameDecoder::new(Threads::ONE);
    decoder.content = content.parent;
    decoder.step(codec, frame, Expected { size: content.size, what: "a frame" })?;
    Ok(decoder.into_content())
}

/// Decodes a frame without a parent.
pub(crate) fn inflate(frame: &[u8], codec: Codec, content: Expected) -> Result<Vec<u8>, Error> {
    let mut decoder = FrameDecoder::new(Threads::ONE);
    decoder.step(codec, frame, content)?;
    Ok(decoder.into_content())
}

#[cfg(test)]
mod tests {
    use super::super::zstd;
    use super::*;

    #[test]
    fn a_grandchild_lies_where_its_grandparent_lay() {
        let images = [vec![1; 5000], vec![2; 9000], vec![3; 4000]];
        let mut decoder = FrameDecoder::new(Threads::ONE);
        let mut places = Vec::new();
        for (at, image) in images.iter().enumerate() {
            let prefix = at.checked_sub(1).map(|parent| images[parent].as_slice());
            let codec = if prefix.is_some() { Codec::ZstdPrefix } else { Codec::Zstd };
            let frame = zstd::compress(image, prefix, 3).unwrap();
            let content = Expected { size: image.len() as u64, what: "an image" };
            decoder.step(codec, &frame, content).unwrap();
            places.push(decoder.content.as_ref().unwrap().as_ptr());
        }
        assert_eq!(places[0], places[2]);
        let content = decoder.into_content();
        assert_eq!((content.capacity(), &content), (4000, &images[2]));
    }
}
