//! Reading files of every form.

use super::draft;
use super::file::{AbstractModule, Envelope, File, Payload};
use super::property::PropertySets;
use super::tables::{RawPayload, Tables};
use super::{ImageKindNumber, MAGIC, RawHeader, RawModule};
use crate::offload_binary;
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind, Limits, bytes};

/// Reads a file of version 0 or 1, or of the draft of version 2. Like a runtime it reads the first image of a version 1
/// envelope and nothing behind it.
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
    match entry.image.starts_with(&MAGIC.to_le_bytes()) {
        true => tables(entry.image, Some(envelope), limits),
        false if header.version > 1 => draft::parse(file, envelope, limits),
        false => Err(ErrorKind::Magic { what: "a SYCLBIN" }.into()),
    }
}

fn tables<'a>(inner: &'a [u8], envelope: Option<Envelope>, limits: &Limits) -> Result<File<'a>, Error> {
    let tables = Tables::parse(inner)?;
    let RawHeader { version, modules, ir, native, global_offset, global_size, .. } = tables.header;
    limits.records("the SYCLBIN", u64::from(modules) + u64::from(ir) + u64::from(native))?;
    let budget = Budget::for_file("metadata of the SYCLBIN", inner.len() as u64);
    let mut reader = Reader { tables: &tables, budget, ir_left: ir, native_left: native };
    let metadata = reader.metadata(global_offset, global_size)?;
    let mut read = Vec::new();
    for module in tables.modules() {
        read.push(reader.module(&module?)?);
    }
    Ok(File { envelope, version, metadata, modules: read })
}

struct Reader<'a, 't> {
    tables: &'t Tables<'a>,
    budget: Budget,
    /// Records that no module has taken yet.
    ir_left: u32,
    native_left: u32,
}

impl<'a> Reader<'a, '_> {
    fn module(&mut self, raw: &RawModule) -> Result<AbstractModule<'a>, Error> {
        // Modules that share images would make more of them than the file has.
        let taken = |left: u32, count: u32, what| {
            left.checked_sub(count).ok_or_else(|| Error::invalid(what, count.into()))
        };
        self.ir_left = taken(self.ir_left, raw.ir, "the number of a SYCLBIN module's IR modules")?;
        self.native_left =
            taken(self.native_left, raw.native, "the number of a SYCLBIN module's native images")?;
        let inside = |first: u32, count: u32, all: u32, what| {
            let end = first.checked_add(count).filter(|end| count == 0 || *end <= all);
            end.map(drop).ok_or_else(|| Error::invalid(what, first.into()))
        };
        let header = &self.tables.header;
        inside(raw.first_ir, raw.ir, header.ir, "first IR module of a SYCLBIN's module")?;
        inside(raw.first_native, raw.native, header.native, "first native image of a SYCLBIN's module")?;
        let tables = self.tables;
        Ok(AbstractModule {
            metadata: self.metadata(raw.metadata_offset, raw.metadata_size)?,
            ir: tables.ir(raw.first_ir, raw.ir).map(|raw| self.payload(&raw?)).collect::<Result<_, _>>()?,
            native: tables
                .native(raw.first_native, raw.native)
                .map(|raw| self.payload(&raw?))
                .collect::<Result<_, _>>()?,
        })
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
