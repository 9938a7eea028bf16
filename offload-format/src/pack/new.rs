//! Input of the pack writer: images, blocks, and the placement of their frames.

use super::read::Pack;
use super::record::{Image, KernelInfo};
use crate::codec::{Codec, FrameInfo};
use crate::{Aspects, Error, Hash128, Import, OffloadKind, SpecConstant, Target};

/// An image to be written to a pack.
#[derive(Clone, Debug)]
pub struct NewImage {
    /// The kernel module.
    pub module: String,
    /// The values of its variant, or empty.
    pub variant: String,
    /// The target that it is compiled for.
    pub target: Target,
    /// The programming model that launches it.
    pub offload_kind: OffloadKind,
    /// Version word of the image's own format; see [`Image::format_version`](super::Image::format_version).
    pub format_version: Option<u32>,
    /// The device aspects that it requires.
    pub aspects: Aspects,
    /// The part of a split module, or empty. Parts of a module for one target have different kernels.
    pub part: String,
    /// Its kernels.
    pub kernels: Vec<KernelInfo>,
    /// The device libraries that are linked with it when it is loaded.
    pub imports: Vec<Import>,
    /// The functions that it exports; their names contain no `,`.
    pub exports: Vec<String>,
    /// Its specialisation constants; their names contain no `,`, `=`, `:` or `@`.
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

    /// A copy of `image` of `pack`, whose target is `target`, for another pack.
    ///
    /// # Errors
    /// The records of its kernels are damaged.
    pub fn from_image(pack: &Pack<'_>, image: &Image<'_>, target: Target) -> Result<NewImage, Error> {
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

/// A block, a frame that holds several images, to be written to a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewBlock {
    /// The codec of the frame.
    pub codec: Codec,
    /// The parent block, by the hash of its content.
    pub parent: Option<Hash128>,
    /// Size of the frame.
    pub stored_size: u64,
    /// Size of the content: of the images together, each after its filter.
    pub raw_size: u64,
    /// Hash of the content.
    pub hash: Hash128,
}

impl NewBlock {
    /// A block without parent; `raw_size` and `hash` are those of its content.
    pub fn new(codec: Codec, stored_size: u64, raw_size: u64, hash: Hash128) -> NewBlock {
        NewBlock { codec, parent: None, stored_size, raw_size, hash }
    }
}

impl From<FrameInfo> for NewBlock {
    /// The block with the content of the frame.
    fn from(frame: FrameInfo) -> NewBlock {
        let FrameInfo { codec, parent, stored_size, raw_size, hash, .. } = frame;
        NewBlock { codec, parent, stored_size, raw_size, hash }
    }
}

/// The place of a frame in the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// Hash of the raw image in the frame, or of a block's content.
    pub hash: Hash128,
    /// Offset from the end of [`PackLayout::index`](super::PackLayout::index).
    pub offset: u64,
    /// Size of the frame.
    pub size: u64,
}
