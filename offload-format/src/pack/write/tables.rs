//! Encoding of the tables of an index or of a page.

use std::collections::BTreeMap;

use super::super::layout::{
    ARG_IS_CONST, ARG_RECORD, BLOCK_RECORD, DIRECTORY_ENTRY, IMAGE_RECORD, KERNEL_ARGS_UNKNOWN,
    KERNEL_HAS_BARRIER, KERNEL_RECORD, META_RECORD, MISSING_RECORD, PAGE_RECORD, TABLE_ARGS, TABLE_BLOCKS,
    TABLE_IMAGES, TABLE_KERNELS, TABLE_META, TABLE_MISSING, TABLE_PAGES, TABLE_PARENTS, TABLE_STRINGS,
    UNKNOWN,
};
use super::super::new::NewImage;
use super::super::place::{BlockPlacement, StorageFields};
use super::super::record::{ArgInfo, KernelInfo, Missing};
use super::super::size::{aligned, small, too_large, usize_of};
use super::record::{Record, TextReference};
use crate::Error;
use crate::codec::{Filter, Frame};

/// A page with the offset of its frame.
pub(super) struct PlacedPage<'a> {
    pub(super) frame: Frame,
    pub(super) offset: u64,
    pub(super) first: u32,
    pub(super) count: u32,
    /// The modules of the first and the last image.
    pub(super) modules: [&'a str; 2],
}

/// Tables under construction.
#[derive(Default)]
pub(super) struct Tables {
    strings: Vec<u8>,
    interned: BTreeMap<String, TextReference>,
    /// Lists of argument records, by their bytes, with the number of the first.
    interned_args: BTreeMap<Vec<u8>, u32>,
    meta: Vec<u8>,
    images: Vec<u8>,
    kernels: Vec<u8>,
    args: Vec<u8>,
    blocks: Vec<u8>,
    missing: Vec<u8>,
    pages: Vec<u8>,
    parents: Vec<u8>,
}

impl Tables {
    fn text(&mut self, text: &str) -> Result<TextReference, Error> {
        if let Some(reference) = self.interned.get(text) {
            return Ok(*reference);
        }
        let reference = TextReference { offset: small(self.strings.len())?, size: small(text.len())? };
        self.strings.extend_from_slice(text.as_bytes());
        self.interned.insert(text.to_string(), reference);
        Ok(reference)
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
            .u32(small(page.frame.bytes().len())?)
            .u32(small(usize_of(page.frame.info().raw_size)?)?)
            .u32(page.first)
            .u32(page.count)
            .text(self.text(first)?)
            .text(self.text(last)?)
            .u16(page.frame.info().codec.to_u16())
            .u16(0)
            .u32(0)
            .bytes(&page.frame.info().hash.0);
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
            .storage(storage)
            .u32(first_kernel)
            .u32(small(image.kernels.len())?)
            .u32(image.format_version.unwrap_or(0))
            .u32(image.aspects.bits())
            .text(self.text(&image.part)?)
            .text(self.text(&join(&image.imports))?)
            .text(self.text(&image.exports.join(","))?)
            .text(self.text(&join(&image.spec))?);
        self.images.extend(record.pad_to(IMAGE_RECORD));
        Ok(())
    }

    fn kernel(&mut self, kernel: &KernelInfo) -> Result<(), Error> {
        let args = kernel.args.as_deref().unwrap_or_default();
        let first_arg = self.args(args)?;
        let [x, y, z] = kernel.required_work_group.unwrap_or_default();
        let record = Record::default()
            .text(self.text(&kernel.name)?)
            .u32(first_arg)
            .u32(small(args.len())?)
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
        self.kernels.extend(record.pad_to(KERNEL_RECORD));
        Ok(())
    }

    /// The number of the first of `args`. Equal lists are stored once: a kernel has the same one for most targets.
    fn args(&mut self, args: &[ArgInfo]) -> Result<u32, Error> {
        let mut records = Vec::new();
        for arg in args {
            let size = if arg.kind.points_to_elements() { arg.element_size } else { arg.size };
            let record = Record::default()
                .text(self.text(&arg.name)?)
                .text(self.text(&arg.type_name)?)
                .u16(arg.kind.to_u16())
                .u16(if arg.is_const { ARG_IS_CONST } else { 0 })
                .u32(size.unwrap_or(0))
                .text(self.text(&arg.base_type)?);
            records.extend(record.pad_to(ARG_RECORD));
        }
        if let Some(first) = self.interned_args.get(&records) {
            return Ok(*first);
        }
        let first = small(self.args.len())? / ARG_RECORD as u32;
        self.args.extend_from_slice(&records);
        self.interned_args.insert(records, first);
        Ok(first)
    }

    /// The size of the records of images, with their kernels, arguments and texts.
    pub(super) fn image_size(&self) -> usize {
        self.strings.len() + self.images.len() + self.kernels.len() + self.args.len()
    }

    /// The number of tables, and the bytes of their directory and the tables, for the offset `at`.
    pub(super) fn encode(&self, at: u64) -> Result<(u32, Vec<u8>), Error> {
        let tables = [
            (TABLE_STRINGS, 1, &self.strings),
            (TABLE_META, META_RECORD, &self.meta),
            (TABLE_IMAGES, IMAGE_RECORD, &self.images),
            (TABLE_KERNELS, KERNEL_RECORD, &self.kernels),
            (TABLE_ARGS, ARG_RECORD, &self.args),
            (TABLE_MISSING, MISSING_RECORD, &self.missing),
            (TABLE_BLOCKS, BLOCK_RECORD, &self.blocks),
            (TABLE_PAGES, PAGE_RECORD, &self.pages),
            (TABLE_PARENTS, IMAGE_RECORD, &self.parents),
        ];
        // Most packs have neither pages nor foreign parents.
        let tables = tables
            .iter()
            .filter(|(kind, _, table)| !matches!(*kind, TABLE_PAGES | TABLE_PARENTS) || !table.is_empty());
        let count = tables.clone().count();
        let start = aligned(at.saturating_add(DIRECTORY_ENTRY.saturating_mul(count as u64)))?;
        let mut directory = Record::default();
        let mut body = Vec::new();
        for (kind, record_size, table) in tables {
            body.resize(usize_of(aligned(body.len() as u64)?)?, 0);
            let offset = start.checked_add(body.len() as u64).ok_or_else(|| too_large(start))?;
            let records = table.len() as u64 / record_size;
            directory = directory.u32(*kind).u32(*record_size as u32).u64(offset).u64(records);
            body.extend_from_slice(table);
        }
        body.resize(usize_of(aligned(body.len() as u64)?)?, 0);
        Ok((small(count)?, [directory.pad_to(start.saturating_sub(at)), body].concat()))
    }
}

fn join<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn flags(kernel: &KernelInfo) -> u32 {
    let barrier = if kernel.has_barrier { KERNEL_HAS_BARRIER } else { 0 };
    let arguments = if kernel.args.is_none() { KERNEL_ARGS_UNKNOWN } else { 0 };
    barrier | arguments
}
