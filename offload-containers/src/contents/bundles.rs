//! The walk through clang's bundles and AMD's kpacks.

use std::rc::Rc;

use super::image::{Compression, Image};
use super::label::Label;
use super::source::{Bundled, ImageBytes};
use super::walk::{Attributes, Walker};
use crate::carrier::FileKind;
use crate::ccob::{self, Ccob, Container};
use crate::{bundle, kpack};
use offload_format::{Error, Limits, OffloadKind};

impl<'a> Walker<'a, '_> {
    pub(super) fn bundles(&mut self, input: &'a [u8]) -> Result<(), Error> {
        for container in ccob::containers(input, self.limits) {
            match container?.1 {
                Container::Compressed(ccob) => self.compressed_bundle(ccob)?,
                Container::Bundle(bundle) => {
                    for entry in bundle.entries {
                        self.any(entry.image, &bundle_entry_attributes(entry.id))?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn text_bundle(&mut self, input: &'a [u8]) -> Result<(), Error> {
        let bundle = bundle::parse_text(input, self.limits)?;
        for entry in &bundle.entries {
            self.any(entry.image, &bundle_entry_attributes(entry.id))?;
        }
        Ok(())
    }

    pub(super) fn kpack(&mut self, input: &'a [u8]) -> Result<(), Error> {
        for object in kpack::parse(input, self.limits)?.code_objects {
            let index = object.index.map(|index| format!("#{index}")).unwrap_or_default();
            let name = format!("{}{index}", object.binary);
            let label = Label::from_target_id(object.target_id);
            let attributes = Attributes { kind: OffloadKind::Hip, label, name };
            if object.compression == kpack::Compression::None {
                self.any(object.stored, &attributes)?;
                continue;
            }
            let source = ImageBytes::Frame { frame: object.stored, size: object.raw_size };
            let image = self.image(&attributes, Some(FileKind::AmdCodeObject), source);
            self.push(Image {
                compression: Compression::Zstd,
                stored_size: object.stored.len() as u64,
                raw_size: object.raw_size,
                ..image
            })?;
        }
        Ok(())
    }

    fn compressed_bundle(&mut self, ccob: Ccob<'a>) -> Result<(), Error> {
        self.budget.inflate(ccob.raw_size.min(bundle::MAX_TABLE))?;
        let mut start = ccob.start(bundle::MAX_TABLE)?;
        // HIP's runtime requires the table in the first bytes; other bundles may have a longer one.
        let records = match owned_table(&start, self.limits) {
            Err(_) => {
                self.budget.inflate(ccob.raw_size)?;
                start = ccob.inflate(self.limits)?;
                owned_table(&start, self.limits)?
            }
            Ok(records) => records,
        };
        // A compilation for a later link has only bitcode: one image with inflated first bytes identifies all of them.
        let format = records.iter().find_map(|record| record.bitcode(&start));
        let compression = match ccob.method {
            ccob::Method::Zlib => Compression::Zlib,
            _ => Compression::Zstd,
        };
        let bundled = Rc::new(Bundled { ccob, number: self.streams, last: Rc::clone(&self.last) });
        self.streams = self.streams.saturating_add(1);
        for OwnedRecord { id, offset, size } in records.into_iter().filter(|record| record.size > 0) {
            let source = ImageBytes::Bundled { bundle: Rc::clone(&bundled), offset, size };
            let image = self.image(&bundle_entry_attributes(&id), format, source);
            let share = u128::from(ccob.size) * u128::from(size) / u128::from(ccob.raw_size.max(1));
            let stored_size = u64::try_from(share).unwrap_or(u64::MAX);
            self.push(Image { compression, stored_size, raw_size: size, ..image })?;
        }
        Ok(())
    }
}

/// A record that outlives the inflated table.
struct OwnedRecord {
    id: String,
    offset: u64,
    size: u64,
}

impl OwnedRecord {
    /// LLVM bitcode, if `start` of the bundle contains the first bytes of the image and they identify it.
    fn bitcode(&self, start: &[u8]) -> Option<FileKind> {
        let bytes = start.get(usize::try_from(self.offset).ok()?..)?;
        FileKind::detect(bytes).filter(|kind| *kind == FileKind::LlvmBitcode)
    }
}

fn owned_table(start: &[u8], limits: &Limits) -> Result<Vec<OwnedRecord>, Error> {
    let mut records = Vec::new();
    for bundle::BundleRecord { id, offset, size } in bundle::table(start, limits)?.records {
        records.push(OwnedRecord { id: id.to_string(), offset, size });
    }
    Ok(records)
}

fn bundle_entry_attributes(id: &str) -> Attributes {
    let kind = bundle::BundleId::parse(id).map_or(OffloadKind::None, |id| id.kind.offload_kind());
    Attributes { kind, label: Label::from_bundle_id(id), name: String::new() }
}
