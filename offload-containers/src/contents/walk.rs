//! The walk through nested containers.

use std::rc::Rc;

use zstd::zstd_safe::get_frame_content_size;

use super::budget::WalkBudget;
use super::image::{Compression, Image};
use super::label::Label;
use super::source::{Group, ImageBytes, InflateCache};
use crate::carrier::FileKind;
use crate::fatbin::{self, EntryKind};
use crate::ocloc::{self, MemberKind};
use crate::{Checksum, frame, offload_binary, syclbin};
use offload_format::limits::push;
use offload_format::{Error, ErrorKind, Limits, OffloadKind};

/// Every image in `input`, with the attributes `attributes` of its surroundings.
pub(super) fn walk<'a>(
    input: &'a [u8],
    attributes: Attributes,
    limits: &Limits,
) -> Result<Vec<Image<'a>>, Error> {
    // The limit of one image would hold for each of many: their sum is bounded in proportion to the input.
    let allowance = limits.allowance(input.len() as u64);
    let limits = &limits.with_raw_bytes(limits.raw_bytes.min(allowance));
    let mut walker = Walker::new(limits, Vec::new(), WalkBudget::new(input.len() as u64, limits));
    walker.any(input, &attributes)?;
    Ok(walker.images)
}

/// The attributes that an image inherits from the containers around it.
#[derive(Clone, Debug)]
pub(super) struct Attributes {
    pub(super) kind: OffloadKind,
    pub(super) label: Label,
    pub(super) name: String,
}

impl Default for Attributes {
    fn default() -> Attributes {
        Attributes { kind: OffloadKind::None, label: Label::default(), name: String::new() }
    }
}

/// A compressed stream around images.
#[derive(Clone, Copy)]
struct OuterStream {
    /// Its size in the file, in bytes.
    stored_size: u64,
    checksum: Option<Checksum>,
}

pub(super) struct Walker<'a, 'l> {
    pub(super) limits: &'l Limits,
    containers: Vec<FileKind>,
    images: Vec<Image<'a>>,
    pub(super) budget: WalkBudget,
    pub(super) last: InflateCache,
    /// The number of compressed bundles and groups of fatbins so far.
    pub(super) streams: usize,
}

impl<'a, 'l> Walker<'a, 'l> {
    fn new(limits: &'l Limits, containers: Vec<FileKind>, budget: WalkBudget) -> Walker<'a, 'l> {
        Walker { limits, containers, images: Vec::new(), budget, last: InflateCache::default(), streams: 0 }
    }

    pub(super) fn any(&mut self, input: &'a [u8], attributes: &Attributes) -> Result<(), Error> {
        let format = FileKind::detect(input);
        let limit = self.limits.depth;
        if self.containers.len() as u64 > u64::from(limit) {
            return Err(ErrorKind::Nested { what: "containers of device images", limit }.into());
        }
        if is_container(format) {
            self.budget.walked.spend(input.len() as u64)?;
        }
        match format {
            Some(FileKind::CompressedBundle | FileKind::ClangBundle) => {
                self.inside(format, |walker| walker.bundles(input))
            }
            Some(FileKind::ClangBundleText) => self.inside(format, |walker| walker.text_bundle(input)),
            Some(FileKind::Kpack) => self.inside(format, |walker| walker.kpack(input)),
            Some(FileKind::CudaFatbin) => self.inside(format, |walker| walker.fatbins(input, attributes)),
            Some(FileKind::OffloadBinary) => self.inside(format, |walker| walker.offload_binaries(input)),
            Some(FileKind::Syclbin) => self.inside(format, |walker| walker.syclbin(input)),
            Some(FileKind::OclocArchive) => self.inside(format, |walker| walker.ocloc(input, attributes)),
            Some(FileKind::Zstd) => self.inside(format, |walker| walker.zstd(input, attributes)),
            _ => self.plain(input, attributes),
        }
    }

    /// Runs `walk` one container deeper.
    fn inside(
        &mut self,
        format: Option<FileKind>,
        walk: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.containers.extend(format);
        walk(self)?;
        self.containers.pop();
        Ok(())
    }

    pub(super) fn push(&mut self, image: Image<'a>) -> Result<(), Error> {
        self.limits.records("the list of device images", (self.images.len() as u64).saturating_add(1))?;
        self.budget.list(&image)?;
        push(&mut self.images, image);
        Ok(())
    }

    pub(super) fn image(
        &self,
        attributes: &Attributes,
        format: Option<FileKind>,
        source: ImageBytes<'a>,
    ) -> Image<'a> {
        Image {
            containers: self.containers.clone(),
            format,
            target: attributes.label.target.clone(),
            label: attributes.label.words.clone(),
            offload_kind: attributes.kind,
            name: attributes.name.clone(),
            compression: Compression::None,
            stored_size: 0,
            raw_size: 0,
            source,
        }
    }

    /// Adds an uncompressed image.
    fn plain(&mut self, input: &'a [u8], attributes: &Attributes) -> Result<(), Error> {
        if input.is_empty() {
            return Ok(());
        }
        let format = FileKind::detect(input);
        let attributes =
            Attributes { label: attributes.label.clone().or_from_image(format, input), ..attributes.clone() };
        let size = input.len() as u64;
        let image = self.image(&attributes, format, ImageBytes::Borrowed(input));
        self.push(Image { stored_size: size, raw_size: size, ..image })
    }

    fn fatbins(&mut self, input: &'a [u8], attributes: &Attributes) -> Result<(), Error> {
        for container in fatbin::fatbins(input, self.limits) {
            for entry in container?.1.entries {
                self.fatbin_entry(entry, attributes)?;
            }
        }
        Ok(())
    }

    fn fatbin_entry(&mut self, entry: fatbin::FatbinEntry<'a>, attributes: &Attributes) -> Result<(), Error> {
        let compression = compression_of(entry.compression);
        let stored_size = entry.stored.len() as u64;
        let members = entry.members(self.limits)?;
        if members.is_empty() {
            let image = self.fatbin_image(attributes, &entry.record, ImageBytes::Fatbin(entry));
            return self.push(Image { compression, stored_size, raw_size: entry.raw_size, ..image });
        }
        let stream = u128::from(entry.raw_size.max(1));
        let group = Rc::new(Group { entry, number: self.streams, last: Rc::clone(&self.last) });
        self.streams = self.streams.saturating_add(1);
        for member in members {
            let source = ImageBytes::Grouped { group: Rc::clone(&group), member };
            let image = self.fatbin_image(attributes, &member.record, source);
            let share = u128::from(stored_size) * u128::from(member.size) / stream;
            let share = u64::try_from(share).unwrap_or(u64::MAX);
            self.push(Image { compression, stored_size: share, raw_size: member.size, ..image })?;
        }
        Ok(())
    }

    fn fatbin_image(
        &self,
        outer: &Attributes,
        record: &fatbin::EntryHeader<'a>,
        source: ImageBytes<'a>,
    ) -> Image<'a> {
        let kind = if outer.kind == OffloadKind::None { OffloadKind::Cuda } else { outer.kind };
        let label = Label { words: record.arch(), target: record.target() };
        let format = match record.kind {
            EntryKind::Ptx => Some(FileKind::Ptx),
            EntryKind::Elf => Some(FileKind::Cubin),
            EntryKind::LtoIr => Some(FileKind::LtoIr),
            _ => None,
        };
        let name = record.name.unwrap_or_default().to_string();
        self.image(&Attributes { kind, label, name }, format, source)
    }

    fn offload_binaries(&mut self, input: &'a [u8]) -> Result<(), Error> {
        let mut binaries = offload_binary::binaries(input, self.limits);
        loop {
            let at = usize::try_from(binaries.offset()).unwrap_or(usize::MAX);
            let Some(binary) = binaries.next() else { return Ok(()) };
            let binary = binary?;
            if binary.header().inflated_size != 0 {
                self.inflated_binary(&binary)?;
            } else if !binary.raw_entries().is_empty() {
                for entry in offload_binary::borrowed(input.get(at..).unwrap_or_default(), self.limits)? {
                    self.any(entry.image, &entry_attributes(&entry))?;
                }
            }
        }
    }

    fn inflated_binary(&mut self, binary: &offload_binary::Binary<'_>) -> Result<(), Error> {
        let raw = binary.header().inflated_size.max(1);
        for entry in binary.entries() {
            let share = u128::from(binary.header().size) * entry.image.len() as u128 / u128::from(raw);
            let stored_size = u64::try_from(share).unwrap_or(u64::MAX);
            let outer = OuterStream { stored_size, checksum: binary.checksum() };
            self.owned(entry.image, &entry_attributes(&entry), outer)?;
        }
        Ok(())
    }

    /// Adds the images of inflated bytes, decoded: the bytes do not outlive the walk.
    fn owned(&mut self, inflated: &[u8], attributes: &Attributes, outer: OuterStream) -> Result<(), Error> {
        let budget = self.budget.inner(inflated.len() as u64, self.limits);
        let mut inner = Walker::new(self.limits, self.containers.clone(), budget);
        inner.any(inflated, attributes)?;
        self.budget.after(&inner.budget);
        for image in inner.images {
            self.budget.inflate(image.raw_size)?;
            let share = u128::from(outer.stored_size) * u128::from(image.stored_size)
                / (inflated.len() as u128).max(1);
            let owned = Image {
                source: ImageBytes::Owned {
                    bytes: image.decode(self.limits)?.into_owned(),
                    checksum: outer.checksum.or(image.checksum()),
                },
                compression: Compression::Zstd,
                stored_size: u64::try_from(share).unwrap_or(u64::MAX),
                containers: image.containers,
                format: image.format,
                target: image.target,
                label: image.label,
                offload_kind: image.offload_kind,
                name: image.name,
                raw_size: image.raw_size,
            };
            self.push(owned)?;
        }
        Ok(())
    }

    fn syclbin(&mut self, input: &'a [u8]) -> Result<(), Error> {
        let file = syclbin::parse(input, self.limits)?;
        for (index, module) in file.modules.iter().enumerate() {
            for payload in module.ir.iter().chain(&module.native) {
                let words =
                    [payload.target(), payload.arch()].into_iter().flatten().collect::<Vec<_>>().join(" ");
                let attributes = Attributes {
                    kind: OffloadKind::Sycl,
                    label: Label::from_words(&words),
                    name: format!("module {index}"),
                };
                self.any(payload.bytes, &attributes)?;
            }
        }
        Ok(())
    }

    fn ocloc(&mut self, input: &'a [u8], outer: &Attributes) -> Result<(), Error> {
        for member in ocloc::parse(input, self.limits)?.members {
            let attributes = Attributes { label: Label::from_member(&member), ..outer.clone() };
            match member.kind() {
                MemberKind::GenericIr => {
                    let spirv = ocloc::parse_elf(member.data)?.section(ocloc::SectionKind::SpirV);
                    self.any(spirv.unwrap_or(member.data), &attributes)?;
                }
                _ => self.any(member.data, &attributes)?,
            }
        }
        Ok(())
    }

    /// Adds the image in a frame, or the images of the container in it.
    fn zstd(&mut self, input: &'a [u8], attributes: &Attributes) -> Result<(), Error> {
        let size = get_frame_content_size(input).ok().flatten().ok_or(ErrorKind::Unsupported {
            what: "zstd frames without the size of their content, such as one of bytes:",
            value: input.len() as u64,
        })?;
        let size = self.limits.inflated("the inflated device image", size, input.len() as u64)?;
        self.budget.inflate(size.min(FIRST_BYTES))?;
        let start = frame::start(input, FIRST_BYTES)?;
        let format = FileKind::detect(&start);
        if is_container(format) {
            self.budget.inflate(size)?;
            let outer = OuterStream { stored_size: input.len() as u64, checksum: frame::checksum(input) };
            return self.owned(&frame::inflate(input, size)?, attributes, outer);
        }
        let attributes = Attributes {
            label: attributes.label.clone().or_from_image(format, &start),
            ..attributes.clone()
        };
        let image = self.image(&attributes, format, ImageBytes::Frame { frame: input, size });
        let stored_size = input.len() as u64;
        self.push(Image { compression: Compression::Zstd, stored_size, raw_size: size, ..image })
    }
}

/// Enough to detect a format, also that of an ocloc archive with padding members.
const FIRST_BYTES: u64 = 4096;

fn is_container(format: Option<FileKind>) -> bool {
    matches!(
        format,
        Some(
            FileKind::Archive
                | FileKind::ClangBundle
                | FileKind::ClangBundleText
                | FileKind::CompressedBundle
                | FileKind::CudaFatbin
                | FileKind::Kpack
                | FileKind::OclocArchive
                | FileKind::OffloadBinary
                | FileKind::Syclbin
                | FileKind::Zstd
        )
    )
}

fn entry_attributes(entry: &offload_binary::OffloadEntry<'_>) -> Attributes {
    let words: Vec<&str> = ["triple", "arch"].iter().filter_map(|key| entry.text(key)).collect();
    Attributes {
        kind: entry.offload_kind.for_triple(entry.text("triple")),
        label: Label::from_words(&words.join(" ")),
        name: String::new(),
    }
}

fn compression_of(compression: fatbin::Compression) -> Compression {
    match compression {
        fatbin::Compression::Stored => Compression::None,
        fatbin::Compression::Lz4 => Compression::Lz4,
        fatbin::Compression::Zstd => Compression::Zstd,
        fatbin::Compression::Unknown => Compression::Unknown,
    }
}
