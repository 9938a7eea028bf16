//! Where the bytes of an image are, and how they are decoded.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use crate::ccob::Ccob;
use crate::{Error, Limits, bytes, fatbin, frame};

const IMAGE: &str = "an image of the container";

#[derive(Clone, Debug)]
pub(super) enum Source<'a> {
    /// In the file, as they are.
    Borrowed(&'a [u8]),
    /// They had to be decoded to be listed.
    Owned(Vec<u8>),
    /// One zstd frame with so many bytes of content.
    Frame { frame: &'a [u8], size: u64 },
    /// An entry of a fatbin, or a member of one that is a group.
    Fatbin { entry: fatbin::Entry<'a>, member: Option<usize> },
    /// A part of a bundle that is compressed as a whole.
    Bundled { bundle: Rc<Bundled<'a>>, offset: u64, size: u64 },
}

impl Source<'_> {
    pub(super) fn decode(&self, limits: &Limits) -> Result<Cow<'_, [u8]>, Error> {
        match self {
            Source::Borrowed(bytes) => Ok(Cow::Borrowed(bytes)),
            Source::Owned(bytes) => Ok(Cow::Borrowed(bytes)),
            Source::Frame { frame, size } => {
                let size = limits.inflated(IMAGE, *size, frame.len() as u64)?;
                frame::inflate(frame, size).map(Cow::Owned)
            }
            Source::Fatbin { entry, member: None } => entry.image(limits),
            Source::Fatbin { entry, member: Some(index) } => {
                let images = entry.images(limits)?;
                let missing =
                    || Error::invalid("the number of an image of the fatbin's group", *index as u64);
                images.into_iter().nth(*index).map(|(_, bytes)| bytes).ok_or_else(missing)
            }
            Source::Bundled { bundle, offset, size } => {
                bytes::range(bundle.inflated(limits)?, *offset, *size, IMAGE).map(Cow::Borrowed)
            }
        }
    }
}

/// A compressed bundle, inflated at most once.
#[derive(Debug)]
pub(super) struct Bundled<'a> {
    ccob: Ccob<'a>,
    inflated: OnceCell<Vec<u8>>,
}

impl<'a> Bundled<'a> {
    pub(super) fn new(ccob: Ccob<'a>) -> Bundled<'a> {
        Bundled { ccob, inflated: OnceCell::new() }
    }

    fn inflated(&self, limits: &Limits) -> Result<&[u8], Error> {
        if let Some(inflated) = self.inflated.get() {
            return Ok(inflated);
        }
        let inflated = self.ccob.inflate(limits)?;
        Ok(self.inflated.get_or_init(|| inflated))
    }
}
