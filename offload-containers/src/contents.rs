//! The images of any container, however containers lie in one another: for which machine each is, and its bytes.
//!
//! Listing decodes as little as it can: headers, the table at the start of a compressed bundle, the first bytes of a zstd
//! frame. [`Image::decode`] decodes one image; the images of a compressed bundle share its bytes, which are inflated when
//! the first of them is asked for.
//!
//! ```
//! use offload_containers::{bundle, ccob, contents};
//! use offload_format::Limits;
//!
//! let image = bundle::Image { id: "hipv4-amdgcn-amd-amdhsa--gfx90a", bytes: b"code object" };
//! let file = ccob::write(&bundle::write(&[image], bundle::HIP_ALIGN)?, ccob::Version::V2, 19)?;
//!
//! let limits = Limits::default();
//! let images = contents::images(&file, &limits)?;
//! assert_eq!(images[0].target_text(), "amdgcn:gfx90a");
//! assert_eq!(*images[0].decode(&limits)?, *b"code object");
//! # Ok::<(), offload_format::Error>(())
//! ```

mod bundles;
mod label;
mod room;
mod source;
mod walk;

use std::borrow::Cow;

use self::label::Label;
pub use self::source::Part;
use self::source::Source;
use self::walk::walk;
use crate::carrier::{FileKind, Found, Place};
use offload_format::{Error, Limits, OffloadKind, Target};

/// An image in a container.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Image<'a> {
    /// What it lies in, outermost first.
    pub containers: Vec<FileKind>,
    /// What its bytes are, as far as that is known without decoding them.
    pub format: Option<FileKind>,
    /// For which machine it is, if this project has a name for that.
    pub target: Option<Target>,
    /// For what it is in the file's own words, as `hipv4-amdgcn-amd-amdhsa--gfx90a`; empty if it says nothing.
    pub label: String,
    /// Which programming model launches it.
    pub offload_kind: OffloadKind,
    /// Its name in the container, mostly empty.
    pub name: String,
    /// How it is compressed.
    pub compression: Compression,
    /// How many bytes of the file it takes; of a bundle that is compressed as a whole its share.
    pub stored_size: u64,
    /// Its size in bytes, as recorded: of an image in a fatbin with what pads it.
    pub raw_size: u64,
    source: Source<'a>,
}

/// How an image is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// zlib, together with the other images of its bundle.
    Zlib,
    /// zstd.
    Zstd,
    /// LZ4.
    Lz4,
    /// A method that this release does not know: the image cannot be decoded.
    Unknown,
}

impl std::fmt::Display for Compression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Compression::None => "raw",
            Compression::Zlib => "zlib",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Unknown => "unknown",
        })
    }
}

impl<'a> Image<'a> {
    /// The target's text, or else the file's own words.
    pub fn target_text(&self) -> String {
        self.target.as_ref().map_or_else(|| self.label.clone(), Target::to_string)
    }

    /// The bytes of the image.
    ///
    /// # Errors
    /// Those of the container's method of compression; [`TooLarge`](offload_format::ErrorKind::TooLarge) over `limits`.
    pub fn decode(&self, limits: &Limits) -> Result<Cow<'_, [u8]>, Error> {
        self.source.decode(limits)
    }

    /// Where the image lies, if its bundle is compressed as a whole. [`Image::decode`] holds such a bundle in memory; who
    /// wants it elsewhere inflates it by [`Ccob::steps`](crate::ccob::Ccob::steps).
    pub fn part(&self) -> Option<Part<'a>> {
        self.source.part()
    }
}

/// Every image in the container at the start of `input`, and in those behind it where containers follow one another.
/// What is no container is an image itself.
///
/// # Errors
/// Those of the container's reader; [`Nested`](offload_format::ErrorKind::Nested) if containers lie too deep in one another.
pub fn images<'a>(input: &'a [u8], limits: &Limits) -> Result<Vec<Image<'a>>, Error> {
    walk(input, (OffloadKind::None, Label::default()), limits)
}

/// Every image in what [`carrier::find`](crate::carrier::find) found; none for packs of this project, and for images in
/// other files.
///
/// # Errors
/// As [`images`].
pub fn images_of<'a>(found: &Found<'a>, limits: &Limits) -> Result<Vec<Image<'a>>, Error> {
    match (found.kind, found.place) {
        (Some(FileKind::Pack), _) | (_, Place::KpackReference { .. }) => Ok(Vec::new()),
        (_, Place::Sycl(record)) => {
            walk(found.bytes, (OffloadKind::Sycl, Label::of_words(record.target)), limits)
        }
        _ => images(found.bytes, limits),
    }
}
