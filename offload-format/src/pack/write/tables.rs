//! Encoding of the tables of an index or of a page.

use std::collections::BTreeMap;

use super::super::layout::{
    ARG_IS_CONST, ARG_RECORD, BLOCK_RECORD, DETAILS_RECORD, DIRECTORY_ENTRY, IMAGE_RECORD,
    KERNEL_ARGS_UNKNOWN, KERNEL_HAS_BARRIER, KERNEL_RECORD, META_RECORD, MISSING_RECORD, PAGE_RECORD,
    TABLE_ARGS, TABLE_BLOCKS, TABLE_DETAILS, TABLE_IMAGES, TABLE_KERNELS, TABLE_META, TABLE_MISSING,
    TABLE_PAGES, TABLE_PARENTS, TABLE_STRINGS, UNKNOWN,
};
use super::super::new::NewImage;
use super::super::place::{BlockPlacement, StorageFields};
use super::super::record::{ArgInfo, KernelInfo, Missing};
use super::super::size::{aligned, small, too_large, usize_of};
use super::record::{Record, TextReference};
use crate::codec::{Codec, Filter};
use crate::{Error, Hash128};

/// A page with the offset of its frames: that of the images, and that of the details behind it.
pub(super) struct PlacedPage<'a> {
    pub(super) images: EncodedPart,
    pub(super) details: EncodedPart,
    pub(super) offset: u64,
    pub(super) first: u32,
    pub(super) count: u32,
    /// The modules of the first and the last image.
    pub(super) modules: [&'a str; 2],
}

/// The record of a part of a page.
pub(super) struct EncodedPart {
    pub(super) codec: Codec,
    pub(super) stored_size: u32,
    pub(super) raw_size: u32,
    /// Hash of the frame.
    pub(super) hash: Hash128,
}

/// A table of texts under construction.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    interned: BTreeMap<String, TextReference>,
}

/// Records of one size under construction, in lists. Equal lists are stored once: images for several targets have the same
/// kernels, and a kernel has the same arguments for most targets.
#[derive(Default)]
struct Lists {
    bytes: Vec<u8>,
    /// The number of the first record of each list.
    interned: BTreeMap<Vec<u8>, u32>,
}

/// Tables under construction.
#[derive(Default)]
pub(super) struct Tables {
    texts: Texts,
    meta: Vec<u8>,
    images: Vec<u8>,
    kernels: Lists,
    details: Details,
    blocks: Vec<u8>,
    missing: Vec<u8>,
    pages: Vec<u8>,
    parents: Vec<u8>,
}

/// The tables of details under construction.
#[derive(Default)]
struct Details {
    /// Of a page alone; an index has one table of texts.
    texts: Option<Texts>,
    records: Lists,
    args: Lists,
}

/// The number of tables, and the bytes of their directory and the tables.
pub(super) type EncodedTables = (u32, Vec<u8>);

impl Texts {
    fn add(&mut self, text: &str) -> Result<TextReference, Error> {
        if let Some(reference) = self.interned.get(text) {
            return Ok(*reference);
        }
        let reference = TextReference { offset: small(self.bytes.len())?, size: small(text.len())? };
        self.bytes.extend_from_slice(text.as_bytes());
        self.interned.insert(text.to_string(), reference);
        Ok(reference)
    }
}

impl Lists {
    /// The number of the first of `records`, each of `size` bytes.
    fn add(&mut self, records: Vec<u8>, size: u64) -> Result<u32, Error> {
        if let Some(first) = self.interned.get(&records) {
            return Ok(*first);
        }
        let first = small(self.bytes.len())? / size as u32;
        self.bytes.extend_from_slice(&records);
        self.interned.insert(records, first);
        Ok(first)
    }
}

impl Tables {
    /// The tables of a page.
    pub(super) fn for_page() -> Tables {
        let details = Details { texts: Some(Texts::default()), ..Details::default() };
        Tables { details, ..Tables::default() }
    }

    fn text(&mut self, text: &str) -> Result<TextReference, Error> {
        self.texts.add(text)
    }

    /// A text to which details refer.
    fn detail_text(&mut self, text: &str) -> Result<TextReference, Error> {
        self.details.texts.as_mut().unwrap_or(&mut self.texts).add(text)
    }

    pub(super) fn meta(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let record = Record::default().text(self.text(key)?).text(self.text(value)?);
        self.meta.extend(record.pad_to(META_RECORD));
        Ok(())
    }

    pub(super) fn missing(&mut self, missing: &Missing<'_>) -> Result<(), Error> {
        let mut record = Record::default().u32(missing.kind.to_u16().into()).u32(0);
        for text in [missing.module, missing.target, missing.reason] {
            record = record.text(self.text(text)?);
        }
        self.missing.extend(record.pad_to(MISSING_RECORD));
        Ok(())
    }

    /// A page of images whose frames have offsets relative to `base`.
    pub(super) fn page(&mut self, page: &PlacedPage<'_>, base: u64) -> Result<(), Error> {
        let [first, last] = page.modules;
        let record = Record::default()
            .u64(page.offset)
            .u64(base)
            .u32(page.images.stored_size)
            .u32(page.images.raw_size)
            .u32(page.first)
            .u32(page.count)
            .text(self.text(first)?)
            .text(self.text(last)?)
            .u16(page.images.codec.to_u16())
            .u16(page.details.codec.to_u16())
            .u32(page.details.stored_size)
            .u32(page.details.raw_size)
            .bytes(&page.images.hash.0)
            .bytes(&page.details.hash.0);
        self.pages.extend(record.pad_to(PAGE_RECORD));
        Ok(())
    }

    /// A block whose parent has the number `parent`.
    pub(super) fn block(&mut self, placement: &BlockPlacement, parent: u32) {
        let BlockPlacement { block, offset } = placement;
        let record = Record::default()
            .u64(*offset)
            .u64(block.stored_size)
            .u64(block.raw_size)
            .u16(block.codec.to_u16())
            .u16(Filter::None.to_u16())
            .u32(parent)
            .bytes(&block.hash.0);
        self.blocks.extend(record.pad_to(BLOCK_RECORD));
    }

    /// A parent in another pack.
    pub(super) fn parent(&mut self, storage: &StorageFields) {
        self.parents.extend(Record::parent(storage).pad_to(IMAGE_RECORD));
    }

    pub(super) fn image(&mut self, image: &NewImage, storage: &StorageFields) -> Result<(), Error> {
        let mut kernels = Vec::new();
        let mut details = Vec::new();
        for kernel in &image.kernels {
            kernels.extend(self.needs(kernel)?);
            details.extend(self.kernel_details(kernel)?);
        }
        let first_kernel = self.kernels.add(kernels, KERNEL_RECORD)?;
        let first_details = self.details.records.add(details, DETAILS_RECORD)?;
        let record = Record::default()
            .text(self.text(&image.module)?)
            .text(self.text(&image.variant)?)
            .text(self.text(&image.target.to_string())?)
            .u16(image.target.image_kind().to_u16())
            .u16(image.offload_kind.to_u16())
            .storage(storage)
            .u32(first_kernel)
            .u32(small(image.kernels.len())?)
            .u32(image.format_version.unwrap_or(0))
            .u32(image.aspects.bits())
            .text(self.text(&image.part)?)
            .text(self.text(&join(&image.imports))?)
            .text(self.text(&image.exports.join(","))?)
            .text(self.text(&join(&image.spec))?)
            .u32(first_details);
        self.images.extend(record.pad_to(IMAGE_RECORD));
        Ok(())
    }

    /// The record of a kernel.
    fn needs(&mut self, kernel: &KernelInfo) -> Result<Vec<u8>, Error> {
        let [x, y, z] = kernel.required_work_group.unwrap_or_default();
        let record = Record::default()
            .text(self.text(&kernel.name)?)
            .u32(x)
            .u32(y)
            .u32(z)
            .u32(kernel.sub_group_size.unwrap_or(0));
        Ok(record.pad_to(KERNEL_RECORD))
    }

    /// The record of a kernel's details.
    fn kernel_details(&mut self, kernel: &KernelInfo) -> Result<Vec<u8>, Error> {
        let args = kernel.args.as_deref().unwrap_or_default();
        let first_arg = self.args(args)?;
        let record = Record::default()
            .u32(first_arg)
            .u32(small(args.len())?)
            .u32(kernel.registers.unwrap_or(0))
            .u32(flags(kernel))
            .u64(kernel.local_memory.unwrap_or(UNKNOWN))
            .u64(kernel.private_memory.unwrap_or(UNKNOWN))
            .u64(kernel.spilled.unwrap_or(UNKNOWN))
            .u32(kernel.scalar_registers.unwrap_or(0))
            .u32(kernel.accumulator_registers.unwrap_or(0))
            .u32(kernel.max_work_group.unwrap_or(0))
            .text(self.detail_text(&kernel.remark)?);
        Ok(record.pad_to(DETAILS_RECORD))
    }

    /// The number of the first of `args`.
    fn args(&mut self, args: &[ArgInfo]) -> Result<u32, Error> {
        let mut records = Vec::new();
        for arg in args {
            let size = if arg.kind.points_to_elements() { arg.element_size } else { arg.size };
            let record = Record::default()
                .text(self.detail_text(&arg.name)?)
                .text(self.detail_text(&arg.type_name)?)
                .u16(arg.kind.to_u16())
                .u16(if arg.is_const { ARG_IS_CONST } else { 0 })
                .u32(size.unwrap_or(0))
                .text(self.detail_text(&arg.base_type)?);
            records.extend(record.pad_to(ARG_RECORD));
        }
        self.details.args.add(records, ARG_RECORD)
    }

    /// The size of the records of images, with their kernels, details, arguments and texts.
    pub(super) fn image_size(&self) -> usize {
        let Details { texts, records, args } = &self.details;
        let texts = texts.as_ref().map_or(0, |texts| texts.bytes.len()) + self.texts.bytes.len();
        texts + self.images.len() + self.kernels.bytes.len() + records.bytes.len() + args.bytes.len()
    }

    /// The tables for the offset `at`, without the details of a page.
    pub(super) fn encode(&self, at: u64) -> Result<EncodedTables, Error> {
        let Details { texts, records, args } = &self.details;
        let (details, args): (&[u8], &[u8]) = match texts {
            Some(_) => (&[], &[]),
            None => (&records.bytes, &args.bytes),
        };
        encode_tables(
            at,
            &[
                (TABLE_STRINGS, 1, &self.texts.bytes),
                (TABLE_META, META_RECORD, &self.meta),
                (TABLE_IMAGES, IMAGE_RECORD, &self.images),
                (TABLE_KERNELS, KERNEL_RECORD, &self.kernels.bytes),
                (TABLE_DETAILS, DETAILS_RECORD, details),
                (TABLE_ARGS, ARG_RECORD, args),
                (TABLE_MISSING, MISSING_RECORD, &self.missing),
                (TABLE_BLOCKS, BLOCK_RECORD, &self.blocks),
                (TABLE_PAGES, PAGE_RECORD, &self.pages),
                (TABLE_PARENTS, IMAGE_RECORD, &self.parents),
            ],
        )
    }

    /// The details of a page, for the offset `at`.
    pub(super) fn encode_details(&self, at: u64) -> Result<EncodedTables, Error> {
        let Details { texts, records, args } = &self.details;
        let texts = texts.as_ref().map_or(&[][..], |texts| &texts.bytes);
        encode_tables(
            at,
            &[
                (TABLE_STRINGS, 1, texts),
                (TABLE_DETAILS, DETAILS_RECORD, &records.bytes),
                (TABLE_ARGS, ARG_RECORD, &args.bytes),
            ],
        )
    }
}

/// Encodes tables of (kind, record size, records) for the offset `at`; empty ones are left out.
fn encode_tables(at: u64, tables: &[(u16, u64, &[u8])]) -> Result<EncodedTables, Error> {
    let tables = tables.iter().filter(|(_, _, table)| !table.is_empty());
    let count = tables.clone().count();
    let start = aligned(at.saturating_add(DIRECTORY_ENTRY.saturating_mul(count as u64)))?;
    let mut directory = Record::default();
    let mut body = Vec::new();
    for (kind, record_size, table) in tables {
        body.resize(usize_of(aligned(body.len() as u64)?)?, 0);
        let offset = start.checked_add(body.len() as u64).ok_or_else(|| too_large(start))?;
        let offset = small(usize_of(offset)?)?;
        let records = small(table.len())? / *record_size as u32;
        directory = directory.u16(*kind).u16(*record_size as u16).u32(offset).u32(records);
        body.extend_from_slice(table);
    }
    body.resize(usize_of(aligned(body.len() as u64)?)?, 0);
    Ok((small(count)?, [directory.pad_to(start.saturating_sub(at)), body].concat()))
}

fn join<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn flags(kernel: &KernelInfo) -> u32 {
    let barrier = if kernel.has_barrier { KERNEL_HAS_BARRIER } else { 0 };
    let arguments = if kernel.args.is_none() { KERNEL_ARGS_UNKNOWN } else { 0 };
    barrier | arguments
}
