//! Writing a pack's index; the frames are streamed behind it by the caller.

use std::collections::BTreeMap;

use super::layout::{
    ALIGN, ARG_RECORD, BLOCK_RECORD, DIRECTORY_ENTRY, HASH_OFFSET, HEADER_SIZE, IMAGE_RECORD,
    KERNEL_ARGS_UNKNOWN, KERNEL_HAS_BARRIER, KERNEL_RECORD, MAGIC, MAJOR, META_RECORD, MINOR, NONE,
    NOTICE_RECORD, TABLE_ARGS, TABLE_BLOCKS, TABLE_IMAGES, TABLE_KERNELS, TABLE_META, TABLE_NOTICES,
    TABLE_STRINGS, UNKNOWN,
};
use super::place::{Placed, Stored, place};
use super::read::Pack;
use super::record::{Image, KernelInfo, NoticeKind};
use crate::codec::{Codec, Filter, FrameInfo};
use crate::{Aspects, Error, Hash128, ImageKind, OffloadKind, Target, bytes};

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
    /// Version word of the image's own format, or 0; see [`Image::format_version`](super::Image::format_version).
    pub format_version: u32,
    /// What the device must support.
    pub aspects: Aspects,
    /// Which part of a split module this is, or empty. Parts of a module for one target have different kernels.
    pub part: String,
    /// Its kernels.
    pub kernels: Vec<KernelInfo>,
}

impl NewImage {
    /// An OpenCL image without variant and without kernel records.
    pub fn new(module: &str, target: Target) -> NewImage {
        NewImage {
            module: module.to_string(),
            variant: String::new(),
            target,
            offload_kind: OffloadKind::OpenCl,
            format_version: 0,
            aspects: Aspects::default(),
            part: String::new(),
            kernels: Vec::new(),
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
            ..NewImage::new(image.module, target)
        })
    }
}

/// A frame that holds several images, to be put into a pack.
#[derive(Clone, Copy, Debug)]
pub struct NewBlock {
    /// How the frame holds the images: a codec that needs no parent, or none of them.
    pub codec: Codec,
    /// Size of the frame.
    pub stored_size: u64,
    /// Size of the images together, each after its filter.
    pub raw_size: u64,
    /// Hash of those.
    pub hash: Hash128,
}

/// Collects images and lays them out. Equal images are stored once.
#[derive(Debug)]
pub struct PackBuilder {
    meta: Vec<(String, String)>,
    blocks: BTreeMap<Hash128, NewBlock>,
    images: Vec<(NewImage, FrameInfo)>,
    notices: Vec<(NoticeKind, [String; 3])>,
}

/// The result of [`PackBuilder::finish`].
#[derive(Debug)]
pub struct PackLayout {
    /// Header and tables, padded to where the payload starts.
    pub index: Vec<u8>,
    /// Which frames follow, in order of their offset; each frame starts at its offset from the end of `index`, with
    /// zeros between.
    pub frames: Vec<Placement>,
    /// Size of the whole pack.
    pub size: u64,
    /// Identity of the pack.
    pub id: Hash128,
}

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Hash of the raw image that the frame holds, or of a block's content.
    pub hash: Hash128,
    /// Offset from the start of the payload.
    pub offset: u64,
    /// Size of the frame.
    pub size: u64,
}

impl PackBuilder {
    /// A pack of the crate `package` `version`.
    pub fn new(package: &str, version: &str) -> PackBuilder {
        let meta = [("package", package), ("version", version)];
        let meta = meta.map(|(key, value)| (key.to_string(), value.to_string()));
        PackBuilder { meta: meta.into(), blocks: BTreeMap::new(), images: Vec::new(), notices: Vec::new() }
    }

    /// Adds a block, for images that [`FrameInfo::in_block`] places in it.
    pub fn block(&mut self, block: NewBlock) -> &mut PackBuilder {
        self.blocks.insert(block.hash, block);
        self
    }

    /// Adds a value to the metadata, behind those that are there.
    pub fn meta(&mut self, key: &str, value: &str) -> &mut PackBuilder {
        self.meta.push((key.to_string(), value.to_string()));
        self
    }

    /// Adds an image whose frame the caller will place as [`PackLayout::frames`] says.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if there are more than 2³² − 1 images.
    pub fn image(&mut self, image: NewImage, frame: FrameInfo) -> Result<&mut PackBuilder, Error> {
        if self.images.len() as u64 >= u64::from(NONE) {
            return Err(Error::invalid("number of images", self.images.len() as u64));
        }
        self.images.push((image, frame));
        Ok(self)
    }

    /// Records that `target` (empty: every target) of `module` is not in the pack.
    pub fn notice(&mut self, kind: NoticeKind, [module, target, reason]: [&str; 3]) -> &mut PackBuilder {
        self.notices.push((kind, [module, target, reason].map(str::to_string)));
        self
    }

    /// Lays everything out, sorted; the same input gives the same bytes in whatever order it came.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if texts or tables pass 4 GiB, or a frame names a parent or a block that is not in
    /// the pack.
    pub fn finish(mut self) -> Result<PackLayout, Error> {
        self.images.sort_by(|(a, _), (b, _)| {
            (&a.module, &a.variant, &a.target, &a.part).cmp(&(&b.module, &b.variant, &b.target, &b.part))
        });
        self.notices.sort();
        let placed = place(&self.images, &self.blocks)?;
        let mut tables = Tables::default();
        for (key, value) in &self.meta {
            let record = Record::default().text(tables.text(key)?).text(tables.text(value)?);
            tables.meta.extend(record.done(META_RECORD));
        }
        for (image, frame) in &self.images {
            tables.image(image, &placed.stored(frame)?)?;
        }
        placed.blocks.iter().for_each(|block| tables.block(block));
        for (kind, texts) in &self.notices {
            let mut record = Record::default().u32(kind.to_u16().into()).u32(0);
            for text in texts {
                record = record.text(tables.text(text)?);
            }
            tables.notices.extend(record.done(NOTICE_RECORD));
        }
        tables.layout(placed)
    }
}

#[derive(Default)]
struct Tables {
    strings: Vec<u8>,
    interned: BTreeMap<String, (u32, u32)>,
    meta: Vec<u8>,
    images: Vec<u8>,
    kernels: Vec<u8>,
    args: Vec<u8>,
    blocks: Vec<u8>,
    notices: Vec<u8>,
}

impl Tables {
    fn text(&mut self, text: &str) -> Result<(u32, u32), Error> {
        if let Some(found) = self.interned.get(text) {
            return Ok(*found);
        }
        let reference = (small(self.strings.len())?, small(text.len())?);
        self.strings.extend_from_slice(text.as_bytes());
        self.interned.insert(text.to_string(), reference);
        Ok(reference)
    }

    fn block(&mut self, (block, offset): &(NewBlock, u64)) {
        let record = Record::default()
            .u64(*offset)
            .u64(block.stored_size)
            .u64(block.raw_size)
            .u16(block.codec.to_u16())
            .u16(Filter::None.to_u16())
            .u32(NONE)
            .bytes(&block.hash.0);
        self.blocks.extend(record.done(BLOCK_RECORD));
    }

    fn image(&mut self, image: &NewImage, stored: &Stored) -> Result<(), Error> {
        let frame = &stored.frame;
        let first_kernel = small(self.kernels.len())? / KERNEL_RECORD as u32;
        for kernel in &image.kernels {
            self.kernel(kernel)?;
        }
        let record = Record::default()
            .text(self.text(&image.module)?)
            .text(self.text(&image.variant)?)
            .text(self.text(&image.target.to_string())?)
            .u16(image.target.image_kind().to_u16())
            .u16(image.offload_kind.to_u16())
            .u16(frame.codec.to_u16())
            .u16(frame.filter.to_u16())
            .u32(stored.parent)
            .u32(stored.block)
            .u64(stored.offset)
            .u64(frame.stored_size)
            .u64(frame.raw_size)
            .bytes(&frame.hash.0)
            .u32(first_kernel)
            .u32(small(image.kernels.len())?)
            .u32(image.format_version)
            .u32(image.aspects.bits())
            .text(self.text(&image.part)?);
        self.images.extend(record.done(IMAGE_RECORD));
        Ok(())
    }

    fn kernel(&mut self, kernel: &KernelInfo) -> Result<(), Error> {
        let first_arg = small(self.args.len())? / ARG_RECORD as u32;
        for arg in &kernel.args {
            let record = Record::default()
                .text(self.text(&arg.name)?)
                .text(self.text(&arg.type_name)?)
                .u32(arg.kind.to_u16().into())
                .u32(arg.size.unwrap_or(0));
            self.args.extend(record.done(ARG_RECORD));
        }
        let [x, y, z] = kernel.required_work_group;
        let record = Record::default()
            .text(self.text(&kernel.name)?)
            .u32(first_arg)
            .u32(small(kernel.args.len())?)
            .u32(x)
            .u32(y)
            .u32(z)
            .u32(kernel.sub_group_size.unwrap_or(0))
            .u32(kernel.registers.unwrap_or(0))
            .u32(flags(kernel))
            .u64(kernel.local_memory.unwrap_or(UNKNOWN))
            .u64(kernel.private_memory.unwrap_or(UNKNOWN))
            .u64(kernel.spilled.unwrap_or(UNKNOWN))
            .u32(kernel.scalar_registers.unwrap_or(0))
            .u32(kernel.accumulator_registers.unwrap_or(0))
            .u32(kernel.max_work_group.unwrap_or(0))
            .text(self.text(&kernel.remark)?);
        self.kernels.extend(record.done(KERNEL_RECORD));
        Ok(())
    }

    fn layout(self, placed: Placed) -> Result<PackLayout, Error> {
        let tables = [
            (TABLE_STRINGS, 1, self.strings),
            (TABLE_META, META_RECORD, self.meta),
            (TABLE_IMAGES, IMAGE_RECORD, self.images),
            (TABLE_KERNELS, KERNEL_RECORD, self.kernels),
            (TABLE_ARGS, ARG_RECORD, self.args),
            (TABLE_NOTICES, NOTICE_RECORD, self.notices),
            (TABLE_BLOCKS, BLOCK_RECORD, self.blocks),
        ];
        let mut directory = Record::default();
        let mut body = Vec::new();
        let start = aligned(HEADER_SIZE + DIRECTORY_ENTRY * tables.len() as u64)?;
        for (kind, record_size, table) in &tables {
            body.resize(usize_of(aligned(body.len() as u64)?)?, 0);
            let offset = start.checked_add(body.len() as u64).ok_or_else(|| too_large(start))?;
            let count = table.len() as u64 / record_size;
            directory = directory.u32(*kind).u32(*record_size as u32).u64(offset).u64(count);
            body.extend_from_slice(table);
        }
        let payload = aligned(start.checked_add(body.len() as u64).ok_or_else(|| too_large(start))?)?;
        let size = payload.checked_add(placed.size).ok_or_else(|| too_large(payload))?;
        let head = Record::default()
            .bytes(&MAGIC)
            .u16(MAJOR)
            .u16(MINOR)
            .u32(HEADER_SIZE as u32)
            .u64(size)
            .u64(HEADER_SIZE)
            .u32(tables.len() as u32)
            .u32(DIRECTORY_ENTRY as u32)
            .u64(payload)
            .done(HASH_OFFSET);
        let mut rest = directory.done(start - HEADER_SIZE);
        rest.extend(body);
        rest.resize(usize_of(payload - HEADER_SIZE)?, 0);
        let id = Hash128::of_parts(&[&head, &rest]);
        let index = [head.as_slice(), &id.0, &rest].concat();
        Ok(PackLayout { index, frames: placed.frames, size, id })
    }
}

fn flags(kernel: &KernelInfo) -> u32 {
    let barrier = if kernel.has_barrier { KERNEL_HAS_BARRIER } else { 0 };
    let arguments = if kernel.args_unknown { KERNEL_ARGS_UNKNOWN } else { 0 };
    barrier | arguments
}

#[derive(Default)]
struct Record(Vec<u8>);

impl Record {
    fn bytes(mut self, bytes: &[u8]) -> Record {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u16(self, value: u16) -> Record {
        self.bytes(&value.to_le_bytes())
    }

    fn u32(self, value: u32) -> Record {
        self.bytes(&value.to_le_bytes())
    }

    fn u64(self, value: u64) -> Record {
        self.bytes(&value.to_le_bytes())
    }

    fn text(self, (offset, size): (u32, u32)) -> Record {
        self.u32(offset).u32(size)
    }

    fn done(mut self, size: u64) -> Vec<u8> {
        self.0.resize(size as usize, 0);
        self.0
    }
}

pub(super) fn small(value: usize) -> Result<u32, Error> {
    u32::try_from(value).map_err(|_| too_large(value as u64))
}

fn usize_of(value: u64) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| too_large(value))
}

pub(super) fn aligned(offset: u64) -> Result<u64, Error> {
    bytes::align_up(offset, ALIGN).ok_or_else(|| too_large(offset))
}

pub(super) fn too_large(value: u64) -> Error {
    Error::invalid("size of the pack", value)
}

impl ImageKind {
    /// Whether a driver compiles images of this kind further (text and intermediate code).
    pub fn is_portable(self) -> bool {
        matches!(self, ImageKind::SpirV | ImageKind::OpenClC | ImageKind::Bitcode | ImageKind::Ptx)
    }
}
