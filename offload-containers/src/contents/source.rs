//! Where the bytes of an image are, and how they are decoded.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use crate::ccob::Ccob;
use crate::{Checksum, fatbin, frame};
use offload_format::{Error, Hash128, Limits, bytes};

const IMAGE: &str = "an image of the container";

#[derive(Clone, Debug)]
pub(super) enum ImageBytes<'a> {
    /// In the file, as they are.
    Borrowed(&'a [u8]),
    /// They had to be decoded to be listed.
    Owned { bytes: Vec<u8>, checksum: Option<Checksum> },
    /// One zstd frame with so many bytes of content.
    Frame { frame: &'a [u8], size: u64 },
    /// An entry of a fatbin.
    Fatbin(fatbin::FatbinEntry<'a>),
    /// A member of one that is a group.
    Grouped { group: Rc<Group<'a>>, member: fatbin::Member<'a> },
    /// A part of a bundle that is compressed as a whole.
    Bundled { bundle: Rc<Bundled<'a>>, offset: u64, size: u64 },
}

/// Where an image lies in a bundle that is compressed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part<'a> {
    /// The bundle.
    pub bundle: Ccob<'a>,
    /// Where the image starts in the inflated bundle, in bytes.
    pub offset: u64,
    /// The size of the image in bytes.
    pub size: u64,
}

impl<'a> ImageBytes<'a> {
    /// `None` also for what lies outside of its bundle: decoding it says so.
    pub(super) fn part(&self) -> Option<Part<'a>> {
        let ImageBytes::Bundled { bundle, offset, size } = self else { return None };
        let end = offset.checked_add(*size)?;
        let part = Part { bundle: bundle.ccob, offset: *offset, size: *size };
        (end <= part.bundle.raw_size).then_some(part)
    }
}

impl ImageBytes<'_> {
    pub(super) fn checksum(&self) -> Option<Checksum> {
        match self {
            ImageBytes::Borrowed(_) => None,
            ImageBytes::Owned { checksum, .. } => *checksum,
            ImageBytes::Frame { frame, .. } => frame::checksum(frame),
            ImageBytes::Fatbin(entry) => entry.checksum(),
            ImageBytes::Grouped { group, .. } => group.entry.checksum(),
            ImageBytes::Bundled { .. } => Some(Checksum::Md5),
        }
    }

    pub(super) fn frame_hash(&self) -> Option<Hash128> {
        let (how, frame) = match self {
            ImageBytes::Frame { frame, size } => (format!("zstd {size}"), *frame),
            ImageBytes::Fatbin(entry) if entry.compression != fatbin::Compression::Stored => {
                let fatbin::FatbinEntry { compression, record, raw_size, stored, .. } = entry;
                (format!("fatbin {compression:?} {:?} {raw_size}", record.kind), *stored)
            }
            _ => return None,
        };
        Some(Hash128::digest(&[how.as_bytes(), frame].concat()))
    }

    pub(super) fn decode(&self, limits: &Limits) -> Result<Cow<'_, [u8]>, Error> {
        match self {
            ImageBytes::Borrowed(bytes) => Ok(Cow::Borrowed(bytes)),
            ImageBytes::Owned { bytes, .. } => Ok(Cow::Borrowed(bytes)),
            ImageBytes::Frame { frame, size } => {
                let size = limits.inflated(IMAGE, *size, frame.len() as u64)?;
                frame::inflate(frame, size).map(Cow::Owned)
            }
            ImageBytes::Fatbin(entry) => entry.image(limits),
            ImageBytes::Grouped { group, member } => {
                let Group { entry, number, last } = &**group;
                let stream = shared(last, *number, || Ok(entry.stream(limits)?.into_owned()))?;
                Ok(Cow::Owned(member.image(&stream)?.to_vec()))
            }
            ImageBytes::Bundled { bundle, offset, size } => {
                let inflated = bundle.inflated(limits)?;
                Ok(Cow::Owned(bytes::range(&inflated, *offset, *size, IMAGE)?.to_vec()))
            }
        }
    }
}

/// The bundle or group that was inflated last, by its number: a section may hold hundreds, which together fill the memory.
pub(super) type Last = Rc<RefCell<Option<(usize, Rc<Vec<u8>>)>>>;

/// A compressed bundle, inflated once for images that are asked for one after another.
#[derive(Debug)]
pub(super) struct Bundled<'a> {
    pub(super) ccob: Ccob<'a>,
    /// Its number among those that share `last`.
    pub(super) number: usize,
    pub(super) last: Last,
}

/// A group of a fatbin, likewise.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) entry: fatbin::FatbinEntry<'a>,
    pub(super) number: usize,
    pub(super) last: Last,
}

impl Bundled<'_> {
    fn inflated(&self, limits: &Limits) -> Result<Rc<Vec<u8>>, Error> {
        shared(&self.last, self.number, || self.ccob.inflate(limits))
    }
}

/// What `last` has if it is of `number`, or else what `inflate` makes.
fn shared(
    last: &Last,
    number: usize,
    inflate: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<Rc<Vec<u8>>, Error> {
    if let Some((known, inflated)) = &*last.borrow()
        && *known == number
    {
        return Ok(Rc::clone(inflated));
    }
    // The other one goes before this one takes its memory.
    last.replace(None);
    let inflated = Rc::new(inflate()?);
    last.replace(Some((number, Rc::clone(&inflated))));
    Ok(inflated)
}
