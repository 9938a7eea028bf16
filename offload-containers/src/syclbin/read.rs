//! The reader of every form.

use super::draft;
use super::file::{AbstractModule, Envelope, File, Payload};
use super::property::PropertySets;
use super::tables::{RawPayload, Tables};
use super::{ImageKindNumber, MAGIC, RawHeader, RawModule};
use crate::offload_binary;
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind, Limits, bytes};

/// Reads a file of version 0 or 1, or of the draft of version 2. Like a runtime, it reads only the first image of a
/// version 1 envelope.
///
/// # Errors
/// [`ErrorKind::Magic`], [`ErrorKind::Version`], [`ErrorKind::Truncated`], [`ErrorKind::Text`],
/// [`ErrorKind::Invalid`], [`ErrorKind::TooMany`] or [`ErrorKind::TooLarge`].
pub fn parse<'a>(file: &'a [u8], limits: &Limits) -> Result<File<'a>, Error> {
    if bytes::u32_at(file, 0, "SYCLBIN")? == MAGIC {
        return tables(file, None, limits);
    }
    let (header, entry) = offload_binary::first(file)?;
    let envelope = Envelope {
        version: header.version,
        image_kind: ImageKindNumber(entry.image_kind),
        offload_kind: entry.offload_kind,
    };
    if entry.image.starts_with(&MAGIC.to_le_bytes()) {
        return tables(entry.image, Some(envelope), limits);
    }
    if header.version > 1 {
        return draft::parse(file, envelope, limits);
    }
    Err(ErrorKind::Magic { what: "a SYCLBIN" }.into())
}

fn tables<'a>(inner: &'a [u8], envelope: Option<Envelope>, limits: &Limits) -> Result<File<'a>, Error> {
    let tables = Tables::parse(inner)?;
    let RawHeader { version, ir, native, global_offset, global_size, .. } = tables.header;
    let count = u64::from(tables.header.modules) + u64::from(ir) + u64::from(native);
    limits.records("the SYCLBIN", count)?;
    let budget = Budget::for_file("metadata of the SYCLBIN", inner.len() as u64);
    let mut reader = Reader { tables: &tables, budget, ir_left: ir, native_left: native };
    let metadata = reader.metadata(global_offset, global_size)?;
    let mut modules = Vec::new();
    for module in tables.modules() {
        modules.push(reader.module(&module?)?);
    }
    Ok(File { envelope, version, metadata, modules })
}

fn take(left: &mut u32, count: u32, what: &'static str) -> Result<(), Error> {
    *left = left.checked_sub(count).ok_or_else(|| Error::invalid(what, count.into()))?;
    Ok(())
}

/// Checks that `count` records from `first` on are in a table of `len` records.
fn check_range(first: u32, count: u32, len: u32, what: &'static str) -> Result<(), Error> {
    match first.checked_add(count) {
        Some(end) if count == 0 || end <= len => Ok(()),
        _ => Err(Error::invalid(what, first.into())),
    }
}

struct Reader<'a, 't> {
    tables: &'t Tables<'a>,
    budget: Budget,
    /// The numbers of payloads that no module refers to yet.
    ir_left: u32,
    native_left: u32,
}

impl<'a> Reader<'a, '_> {
    fn module(&mut self, raw: &RawModule) -> Result<AbstractModule<'a>, Error> {
        // Modules must not share payloads: the result would have more of them than the file.
        take(&mut self.ir_left, raw.ir, "the number of a SYCLBIN module's IR modules")?;
        take(&mut self.native_left, raw.native, "the number of a SYCLBIN module's native images")?;
        let header = &self.tables.header;
        check_range(raw.first_ir, raw.ir, header.ir, "first IR module of a SYCLBIN's module")?;
        check_range(raw.first_native, raw.native, header.native, "first native image of a SYCLBIN's module")?;
        let metadata = self.metadata(raw.metadata_offset, raw.metadata_size)?;
        let tables = self.tables;
        let mut ir = Vec::new();
        for payload in tables.ir(raw.first_ir, raw.ir) {
            ir.push(self.payload(&payload?)?);
        }
        let mut native = Vec::new();
        for payload in tables.native(raw.first_native, raw.native) {
            native.push(self.payload(&payload?)?);
        }
        Ok(AbstractModule { metadata, ir, native })
    }

    fn payload(&mut self, raw: &RawPayload) -> Result<Payload<'a>, Error> {
        let metadata = self.metadata(raw.metadata_offset, raw.metadata_size)?;
        let bytes = bytes::range(self.tables.binary, raw.offset, raw.size, "the image of the SYCLBIN")?;
        Ok(Payload { metadata, bytes })
    }

    fn metadata(&mut self, offset: u64, size: u64) -> Result<PropertySets<'a>, Error> {
        self.budget.spend(size)?;
        PropertySets::parse(bytes::text_at(
            self.tables.metadata,
            offset,
            size,
            "the metadata of the SYCLBIN",
        )?)
    }
}
