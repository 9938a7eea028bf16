//! The images of any container and of nested containers, with their targets and bytes.
//!
//! Listing decodes as little as possible: headers, the table at the start of a compressed bundle, the first bytes of a zstd
//! frame. [`Image::decode`] decodes one image; the images of a compressed bundle share its inflated bytes, which the first
//! of them inflates.
//!
//! ```
//! use offload_containers::{bundle, ccob, contents};
//! use offload_format::Limits;
//!
//! let image = bundle::BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx90a", bytes: b"code object" };
//! let file = ccob::write(&bundle::write(&[image], bundle::HIP_ALIGN)?, ccob::Version::V2, 19)?;
//!
//! let limits = Limits::default();
//! let images = contents::images(&file, &limits)?;
//! assert_eq!(images[0].target_text(), "amdgcn:gfx90a");
//! assert_eq!(*images[0].decode(&limits)?, *b"code object");
//! # Ok::<(), offload_format::Error>(())
//! ```

mod budget;
mod bundles;
mod image;
mod label;
mod source;
mod walk;

pub use self::image::{Compression, Image};
use self::label::Label;
pub use self::source::BundleSlice;
use self::walk::{Attributes, walk};
use crate::carrier::{FileKind, ImageRange, RangeOrigin};
use offload_format::{Error, Limits, OffloadKind};

/// Every image in the container at the start of `input`, and in the ones that follow it. Bytes that are no container are
/// one image.
///
/// # Errors
/// Those of the container's reader; [`Nested`](offload_format::ErrorKind::Nested) if containers are nested too deep.
pub fn images<'a>(input: &'a [u8], limits: &Limits) -> Result<Vec<Image<'a>>, Error> {
    walk(input, Attributes::default(), limits)
}

/// Every image in a result of [`carrier::find`](crate::carrier::find); none for packs of this project, and for references
/// to other files.
///
/// # Errors
/// As [`images`].
pub fn images_of<'a>(found: &ImageRange<'a>, limits: &Limits) -> Result<Vec<Image<'a>>, Error> {
    match (found.kind, found.origin) {
        (Some(FileKind::Pack), _) | (_, RangeOrigin::KpackReference { .. }) => Ok(Vec::new()),
        (_, RangeOrigin::Sycl(record)) => {
            let label = Label::from_words(record.target);
            walk(found.bytes, Attributes { kind: OffloadKind::Sycl, label, ..Attributes::default() }, limits)
        }
        (_, RangeOrigin::Section(name)) => walk(
            found.bytes,
            Attributes { label: Label::from_section(name), ..Attributes::default() },
            limits,
        ),
        _ => images(found.bytes, limits),
    }
}
