//! The draft of version 2: instead of tables, one OffloadBinary entry for each piece, identified by its string `role`.

use super::file::{AbstractModule, Envelope, File, Payload};
use super::{ImageKindNumber, PropertySets};
use crate::offload_binary::{self, OffloadEntry};
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind, Limits, bytes};

const WHAT: &str = "a piece of the SYCLBIN";

/// Reads a file whose first image is not version 1.
pub(super) fn parse<'a>(file: &'a [u8], envelope: Envelope, limits: &Limits) -> Result<File<'a>, Error> {
    let entries = offload_binary::borrowed(file, limits)?;
    let budget = Budget::for_file("metadata of the SYCLBIN", file.len() as u64);
    let mut reader = Reader { budget, global: None, modules: Vec::new() };
    reader.modules(&entries)?;
    for entry in &entries {
        reader.piece(entry)?;
    }
    let metadata = reader.global.ok_or(ErrorKind::Missing { what: "the global metadata of the SYCLBIN" })?;
    Ok(File { envelope: Some(envelope), version: 2, metadata, modules: reader.modules })
}

struct Reader<'a> {
    budget: Budget,
    global: Option<PropertySets<'a>>,
    modules: Vec<AbstractModule<'a>>,
}

impl<'a> Reader<'a> {
    /// Creates every module first, because pieces may come in any order.
    fn modules(&mut self, entries: &[OffloadEntry<'a>]) -> Result<(), Error> {
        let count = entries.iter().filter(|entry| entry.text("role") == Some("am_metadata")).count();
        self.modules.resize_with(count, AbstractModule::default);
        let mut seen = vec![false; count];
        for entry in entries.iter().filter(|entry| entry.text("role") == Some("am_metadata")) {
            let metadata = self.text(entry.image, 0, entry.image.len() as u64)?;
            let index = index(entry)?;
            // As many distinct indices as modules: every module has metadata.
            let Some(seen) = seen.get_mut(index).filter(|seen| !**seen) else {
                return Err(Error::invalid("the index of the SYCLBIN's module", index as u64));
            };
            *seen = true;
            self.module(index)?.metadata = metadata;
        }
        Ok(())
    }

    fn piece(&mut self, entry: &OffloadEntry<'a>) -> Result<(), Error> {
        if entry.image_kind != ImageKindNumber::ONEAPI_2026.0 {
            return Err(Error::invalid("the image kind of a piece of the SYCLBIN", entry.image_kind.into()));
        }
        match entry.text("role") {
            Some("am_metadata") => Ok(()),
            Some("global_metadata") => self.global(entry),
            Some("ir") => {
                let payload = self.payload(entry)?;
                self.module(index(entry)?)?.ir.push(payload);
                Ok(())
            }
            Some("native") => {
                let payload = self.payload(entry)?;
                self.module(index(entry)?)?.native.push(payload);
                Ok(())
            }
            _ => Err(ErrorKind::Text { what: "the role of a piece of the SYCLBIN", offset: 0 }.into()),
        }
    }

    fn global(&mut self, entry: &OffloadEntry<'a>) -> Result<(), Error> {
        let version = entry.text("sycl_format_version").and_then(|text| text.parse().ok()).unwrap_or(0);
        if version != 2 {
            return Err(ErrorKind::Version { what: "the SYCLBIN", found: version }.into());
        }
        let metadata = self.text(entry.image, 0, entry.image.len() as u64)?;
        match self.global.replace(metadata) {
            None => Ok(()),
            Some(_) => Err(Error::invalid("the number of global metadata in the SYCLBIN", 2)),
        }
    }

    /// Reads the size of the metadata as u64, the metadata, and the bytes.
    fn payload(&mut self, entry: &OffloadEntry<'a>) -> Result<Payload<'a>, Error> {
        let size = bytes::u64_at(entry.image, 0, WHAT)?;
        let metadata = self.text(entry.image, 8, size)?;
        let at = size.saturating_add(8);
        let rest = (entry.image.len() as u64).saturating_sub(at);
        Ok(Payload { metadata, bytes: bytes::range(entry.image, at, rest, WHAT)? })
    }

    fn text(&mut self, image: &'a [u8], offset: u64, size: u64) -> Result<PropertySets<'a>, Error> {
        self.budget.spend(size)?;
        PropertySets::parse(bytes::text_at(image, offset, size, "the metadata of the SYCLBIN")?)
    }

    fn module(&mut self, index: usize) -> Result<&mut AbstractModule<'a>, Error> {
        let module = self.modules.get_mut(index);
        module.ok_or_else(|| Error::invalid("the index of the SYCLBIN's module", index as u64))
    }
}

/// Digits alone: `parse` would accept a sign.
fn index(entry: &OffloadEntry<'_>) -> Result<usize, Error> {
    let text = entry.text("am_index").filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let malformed = ErrorKind::Text { what: "the am_index of a piece of the SYCLBIN", offset: 0 };
    text.and_then(|text| text.parse().ok()).ok_or_else(|| malformed.into())
}
