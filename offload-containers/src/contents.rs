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
pub use self::source::Part;
use self::walk::{About, walk};
use crate::carrier::{FileKind, Found, Place};
use offload_format::{Error, Limits, OffloadKind};

/// Every image in the container at the start of `input`, and in those behind it where containers follow one another.
/// What is no container is an image itself.
///
/// # Errors
/// Those of the container's reader; [`Nested`](offload_format::ErrorKind::Nested) if containers lie too deep in one another.
pub fn images<'a>(input: &'a [u8], limits: &Limits) -> Result<Vec<Image<'a>>, Error> {
    walk(input, About::default(), limits)
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
            let label = Label::of_words(record.target);
            walk(found.bytes, About { kind: OffloadKind::Sycl, label, ..About::default() }, limits)
        }
        (_, Place::Section(name)) => {
            walk(found.bytes, About { label: Label::of_section(name), ..About::default() }, limits)
        }
        _ => images(found.bytes, limits),
    }
}
