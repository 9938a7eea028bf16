//! What is put into a pack.

use super::read::Pack;
use super::record::{Image, KernelInfo};
use crate::codec::{Codec, FrameInfo};
use crate::{Aspects, Error, Hash128, Import, OffloadKind, SpecConstant, Target};

/// An image to be put into a pack.
#[derive(Clone, Debug)]
pub struct NewImage {
    /// The kernel module.
    pub module: String,
    /// The values of its variant, or empty.
    pub variant: String,
    /// What it is compiled for.
    pub target: Target,
    /// Which programming model launches it.
    pub offload_kind: OffloadKind,
    /// Version word of the image's own format; see [`Image::format_version`](super::Image::format_version).
    pub format_version: Option<u32>,
    /// What the device must support.
    pub aspects: Aspects,
    /// Which part of a split module this is, or empty. Parts of a module for one target have different kernels.
    pub part: String,
    /// Its kernels.
    pub kernels: Vec<KernelInfo>,
    /// The device libraries that are linked with it when it is loaded.
    pub imports: Vec<Import>,
    /// The functions that it has for images which import it; their names have no `,`.
    pub exports: Vec<String>,
    /// Its specialisation constants; their names have no `,`, `=`, `:` or `@`.
    pub spec: Vec<SpecConstant>,
}

impl NewImage {
    /// An OpenCL image without variant and without kernel records.
    pub fn new(module: &str, target: Target) -> NewImage {
        NewImage {
            module: module.to_string(),
            variant: String::new(),
            target,
            offload_kind: OffloadKind::OpenCl,
            format_version: None,
            aspects: Aspects::default(),
            part: String::new(),
            kernels: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            spec: Vec::new(),
        }
    }

    /// The same as `image` of `pack`, whose target is `target`, for another pack.
    ///
    /// # Errors
    /// If the records of its kernels are damaged.
    pub fn of(pack: &Pack<'_>, image: &Image<'_>, target: Target) -> Result<NewImage, Error> {
        Ok(NewImage {
            variant: image.variant.to_string(),
            offload_kind: image.offload_kind,
            format_version: image.format_version,
            aspects: image.aspects,
            part: image.part.to_string(),
            kernels: pack.kernels(image).collect::<Result<_, _>>()?,
            imports: Import::list(image.imports),
            exports: image.exported().map(str::to_string).collect(),
            spec: SpecConstant::list(image.spec),
            ..NewImage::new(image.module, target)
        })
    }
}

/// A frame that holds several images, to be put into a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewBlock {
    /// How the frame holds the images.
    pub codec: Codec,
    /// The block whose content the frame needs, by the hash of that; it has no parent itself.
    pub parent: Option<Hash128>,
    /// Size of the frame.
    pub stored_size: u64,
    /// Size of the images together, each after its filter.
    pub raw_size: u64,
    /// Hash of those.
    pub hash: Hash128,
}

impl NewBlock {
    /// A block without parent; `raw_size` and `hash` are those of its content.
    pub fn new(codec: Codec, stored_size: u64, raw_size: u64, hash: Hash128) -> NewBlock {
        NewBlock { codec, parent: None, stored_size, raw_size, hash }
    }
}

impl From<FrameInfo> for NewBlock {
    /// The block whose content the frame holds.
    fn from(frame: FrameInfo) -> NewBlock {
        let FrameInfo { codec, parent, stored_size, raw_size, hash, .. } = frame;
        NewBlock { codec, parent, stored_size, raw_size, hash }
    }
}

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// Hash of the raw image that the frame holds, or of a block's content.
    pub hash: Hash128,
    /// Offset from the end of [`PackLayout::index`](super::PackLayout::index).
    pub offset: u64,
    /// Size of the frame.
    pub size: u64,
}
