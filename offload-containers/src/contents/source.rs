//! The stored bytes of an image, and their decoding.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use crate::ccob::Ccob;
use crate::{Checksum, fatbin, frame};
use offload_format::{Error, Hash128, Limits, bytes};

const IMAGE: &str = "an image of the container";

#[derive(Clone, Debug)]
pub(super) enum ImageBytes<'a> {
    /// Uncompressed in the file.
    Borrowed(&'a [u8]),
    /// Decoded while the images were listed.
    Owned { bytes: Vec<u8>, checksum: Option<Checksum> },
    /// A zstd frame, with the size of its content.
    Frame { frame: &'a [u8], size: u64 },
    /// An entry of a fatbin.
    Fatbin(fatbin::FatbinEntry<'a>),
    /// A member of a group entry.
    Grouped { group: Rc<Group<'a>>, member: fatbin::Member<'a> },
    /// A range of a bundle that is compressed as a whole.
    Bundled { bundle: Rc<Bundled<'a>>, offset: u64, size: u64 },
}

/// The range of an image in a bundle that is compressed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleSlice<'a> {
    /// The bundle.
    pub bundle: Ccob<'a>,
    /// The offset of the image in the inflated bundle, in bytes.
    pub offset: u64,
    /// The size of the image in bytes.
    pub size: u64,
}

impl<'a> ImageBytes<'a> {
    /// Also `None` for a range outside of its bundle, which decoding reports.
    pub(super) fn bundle_slice(&self) -> Option<BundleSlice<'a>> {
        let ImageBytes::Bundled { bundle, offset, size } = self else { return None };
        let end = offset.checked_add(*size)?;
        let slice = BundleSlice { bundle: bundle.ccob, offset: *offset, size: *size };
        (end <= slice.bundle.raw_size).then_some(slice)
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
        let (method, frame) = match self {
            ImageBytes::Frame { frame, size } => (format!("zstd {size}"), *frame),
            ImageBytes::Fatbin(entry) if entry.compression != fatbin::Compression::Stored => {
                let fatbin::FatbinEntry { compression, record, raw_size, stored, .. } = entry;
                (format!("fatbin {compression:?} {:?} {raw_size}", record.kind), *stored)
            }
            _ => return None,
        };
        Some(Hash128::digest(&[method.as_bytes(), frame].concat()))
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
                let stream = get_or_inflate(last, *number, || Ok(entry.stream(limits)?.into_owned()))?;
                Ok(Cow::Owned(member.image(&stream)?.to_vec()))
            }
            ImageBytes::Bundled { bundle, offset, size } => {
                let inflated = bundle.inflated(limits)?;
                Ok(Cow::Owned(bytes::range(&inflated, *offset, *size, IMAGE)?.to_vec()))
            }
        }
    }
}

/// A cache of the last inflated bundle or group, by number. Only one is kept, because a section may have hundreds.
pub(super) type InflateCache = Rc<RefCell<Option<(usize, Rc<Vec<u8>>)>>>;

/// A compressed bundle, inflated once for images that are decoded in sequence.
#[derive(Debug)]
pub(super) struct Bundled<'a> {
    pub(super) ccob: Ccob<'a>,
    /// Its key in the cache.
    pub(super) number: usize,
    pub(super) last: InflateCache,
}

/// A group of a fatbin, inflated once likewise.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) entry: fatbin::FatbinEntry<'a>,
    pub(super) number: usize,
    pub(super) last: InflateCache,
}

impl Bundled<'_> {
    fn inflated(&self, limits: &Limits) -> Result<Rc<Vec<u8>>, Error> {
        get_or_inflate(&self.last, self.number, || self.ccob.inflate(limits))
    }
}

fn get_or_inflate(
    last: &InflateCache,
    number: usize,
    inflate: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<Rc<Vec<u8>>, Error> {
    if let Some((known, inflated)) = &*last.borrow()
        && *known == number
    {
        return Ok(Rc::clone(inflated));
    }
    // Free the previous stream before the next one is allocated.
    last.replace(None);
    let inflated = Rc::new(inflate()?);
    last.replace(Some((number, Rc::clone(&inflated))));
    Ok(inflated)
}
