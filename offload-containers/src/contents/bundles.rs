//! clang's bundles, as they are and compressed, and AMD's kpacks.

use std::rc::Rc;

use super::image::{Compression, Image};
use super::label::Label;
use super::source::{Bundled, ImageBytes};
use super::walk::{About, Walker};
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
                        self.any(entry.image, &about_bundled(entry.id))?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn text_bundle(&mut self, input: &'a [u8]) -> Result<(), Error> {
        let bundle = bundle::parse_text(input, self.limits)?;
        bundle.entries.iter().try_for_each(|entry| self.any(entry.image, &about_bundled(entry.id)))
    }

    pub(super) fn kpack(&mut self, input: &'a [u8]) -> Result<(), Error> {
        for object in kpack::parse(input, self.limits)?.code_objects {
            let index = object.index.map(|index| format!("#{index}")).unwrap_or_default();
            let name = format!("{}{index}", object.binary);
            let about = About { kind: OffloadKind::Hip, label: Label::of_target_id(object.target_id), name };
            if object.compression == kpack::Compression::None {
                self.any(object.stored, &about)?;
                continue;
            }
            let source = ImageBytes::Frame { frame: object.stored, size: object.raw_size };
            let image = self.image(&about, Some(FileKind::AmdCodeObject), source);
            let (compression, stored_size) = (Compression::Zstd, object.stored.len() as u64);
            self.push(Image { compression, stored_size, raw_size: object.raw_size, ..image })?;
        }
        Ok(())
    }

    fn compressed_bundle(&mut self, ccob: Ccob<'a>) -> Result<(), Error> {
        self.budget.inflate(ccob.raw_size.min(bundle::MAX_TABLE))?;
        let mut start = ccob.start(bundle::MAX_TABLE)?;
        // HIP's own runtime wants the table in the first bytes; other bundles may have a longer one.
        let records = match owned_table(&start, self.limits) {
            Err(_) => {
                self.budget.inflate(ccob.raw_size)?;
                start = ccob.inflate(self.limits)?;
                owned_table(&start, self.limits)?
            }
            Ok(records) => records,
        };
        // A compilation for a later link has bitcode alone: the images of which the first bytes are known tell it.
        let format = records.iter().find_map(|record| record.bitcode(&start));
        let compression = match ccob.method {
            ccob::Method::Zlib => Compression::Zlib,
            _ => Compression::Zstd,
        };
        let bundled = Rc::new(Bundled { ccob, number: self.streams, last: Rc::clone(&self.last) });
        self.streams = self.streams.saturating_add(1);
        for OwnedRecord { id, offset, size } in records.into_iter().filter(|record| record.size > 0) {
            let source = ImageBytes::Bundled { bundle: Rc::clone(&bundled), offset, size };
            let image = self.image(&about_bundled(&id), format, source);
            let share = u128::from(ccob.size) * u128::from(size) / u128::from(ccob.raw_size.max(1));
            let stored_size = u64::try_from(share).unwrap_or(u64::MAX);
            self.push(Image { compression, stored_size, raw_size: size, ..image })?;
        }
        Ok(())
    }
}

/// A record that outlives what was inflated for it.
struct OwnedRecord {
    id: String,
    offset: u64,
    size: u64,
}

impl OwnedRecord {
    /// LLVM bitcode, if `start` of the bundle has the first bytes of the image and they are so.
    fn bitcode(&self, start: &[u8]) -> Option<FileKind> {
        let bytes = start.get(usize::try_from(self.offset).ok()?..)?;
        FileKind::detect(bytes).filter(|kind| *kind == FileKind::LlvmBitcode)
    }
}

fn owned_table(start: &[u8], limits: &Limits) -> Result<Vec<OwnedRecord>, Error> {
    let owned = |record: bundle::BundleRecord<'_>| {
        let bundle::BundleRecord { id, offset, size } = record;
        OwnedRecord { id: id.to_string(), offset, size }
    };
    Ok(bundle::table(start, limits)?.records.into_iter().map(owned).collect())
}

fn about_bundled(id: &str) -> About {
    let kind = bundle::BundleId::parse(id).map_or(OffloadKind::None, |id| id.kind.offload_kind());
    About { kind, label: Label::of_bundle(id), name: String::new() }
}
