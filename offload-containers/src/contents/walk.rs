//! Going through containers that lie in one another.

use std::rc::Rc;

use zstd::zstd_safe::get_frame_content_size;

use super::budget::WalkBudget;
use super::image::{Compression, Image};
use super::label::Label;
use super::source::{Group, ImageBytes, Last};
use crate::carrier::FileKind;
use crate::fatbin::{self, EntryKind};
use crate::ocloc::{self, MemberKind};
use crate::{Checksum, frame, offload_binary, syclbin};
use offload_format::limits::push;
use offload_format::{Error, ErrorKind, Limits, OffloadKind};

/// Every image in `input`, of which the outside says `about`.
pub(super) fn walk<'a>(input: &'a [u8], about: About, limits: &Limits) -> Result<Vec<Image<'a>>, Error> {
    // Many parts may have the size that one may have: together they have to be in proportion, too.
    let allowance = limits.allowance(input.len() as u64);
    let limits = &limits.with_raw_bytes(limits.raw_bytes.min(allowance));
    let mut walker = Walker::new(limits, Vec::new(), WalkBudget::new(input.len() as u64, limits));
    walker.any(input, &about)?;
    Ok(walker.images)
}

/// What outer containers say of what lies in them.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) kind: OffloadKind,
    pub(super) label: Label,
    pub(super) name: String,
}

impl Default for About {
    /// Nothing is said.
    fn default() -> About {
        About { kind: OffloadKind::None, label: Label::default(), name: String::new() }
    }
}

/// What was inflated to get at images.
#[derive(Clone, Copy)]
struct Outside {
    /// How many bytes of it are in the file.
    stored_size: u64,
    checksum: Option<Checksum>,
}

pub(super) struct Walker<'a, 'l> {
    pub(super) limits: &'l Limits,
    containers: Vec<FileKind>,
    images: Vec<Image<'a>>,
    pub(super) budget: WalkBudget,
    pub(super) last: Last,
    /// How many compressed bundles and groups of fatbins there were.
    pub(super) streams: usize,
}

impl<'a, 'l> Walker<'a, 'l> {
    fn new(limits: &'l Limits, containers: Vec<FileKind>, budget: WalkBudget) -> Walker<'a, 'l> {
        Walker { limits, containers, images: Vec::new(), budget, last: Last::default(), streams: 0 }
    }

    pub(super) fn any(&mut self, input: &'a [u8], about: &About) -> Result<(), Error> {
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
            Some(FileKind::CudaFatbin) => self.inside(format, |walker| walker.fatbins(input, about)),
            Some(FileKind::OffloadBinary) => self.inside(format, |walker| walker.offload_binaries(input)),
            Some(FileKind::Syclbin) => self.inside(format, |walker| walker.syclbin(input)),
            Some(FileKind::OclocArchive) => self.inside(format, |walker| walker.ocloc(input, about)),
            Some(FileKind::Zstd) => self.inside(format, |walker| walker.zstd(input, about)),
            _ => self.plain(input, about),
        }
    }

    /// Goes one container deeper for the time of `walk`.
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

    pub(super) fn image(&self, about: &About, format: Option<FileKind>, source: ImageBytes<'a>) -> Image<'a> {
        Image {
            containers: self.containers.clone(),
            format,
            target: about.label.target.clone(),
            label: about.label.words.clone(),
            offload_kind: about.kind,
            name: about.name.clone(),
            compression: Compression::None,
            stored_size: 0,
            raw_size: 0,
            source,
        }
    }

    /// An image as it lies in the file.
    fn plain(&mut self, input: &'a [u8], about: &About) -> Result<(), Error> {
        if input.is_empty() {
            return Ok(());
        }
        let format = FileKind::detect(input);
        let about = About { label: about.label.clone().completed(format, input), ..about.clone() };
        let size = input.len() as u64;
        let image = self.image(&about, format, ImageBytes::Borrowed(input));
        self.push(Image { stored_size: size, raw_size: size, ..image })
    }

    fn fatbins(&mut self, input: &'a [u8], about: &About) -> Result<(), Error> {
        for container in fatbin::fatbins(input, self.limits) {
            for entry in container?.1.entries {
                self.fatbin_entry(entry, about)?;
            }
        }
        Ok(())
    }

    fn fatbin_entry(&mut self, entry: fatbin::FatbinEntry<'a>, about: &About) -> Result<(), Error> {
        let (compression, stored_size) = (compression_of(entry.compression), entry.stored.len() as u64);
        let members = entry.members(self.limits)?;
        if members.is_empty() {
            let image = self.fatbin_image(about, &entry.record, ImageBytes::Fatbin(entry));
            return self.push(Image { compression, stored_size, raw_size: entry.raw_size, ..image });
        }
        let stream = u128::from(entry.raw_size.max(1));
        let group = Rc::new(Group { entry, number: self.streams, last: Rc::clone(&self.last) });
        self.streams = self.streams.saturating_add(1);
        for member in members {
            let source = ImageBytes::Grouped { group: Rc::clone(&group), member };
            let image = self.fatbin_image(about, &member.record, source);
            let share = u128::from(stored_size) * u128::from(member.size) / stream;
            let share = u64::try_from(share).unwrap_or(u64::MAX);
            self.push(Image { compression, stored_size: share, raw_size: member.size, ..image })?;
        }
        Ok(())
    }

    fn fatbin_image(
        &self,
        outer: &About,
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
        self.image(&About { kind, label, name }, format, source)
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
                    self.any(entry.image, &about_entry(&entry))?;
                }
            }
        }
    }

    fn inflated_binary(&mut self, binary: &offload_binary::Binary<'_>) -> Result<(), Error> {
        let raw = binary.header().inflated_size.max(1);
        for entry in binary.entries() {
            let share = u128::from(binary.header().size) * entry.image.len() as u128 / u128::from(raw);
            let stored_size = u64::try_from(share).unwrap_or(u64::MAX);
            let outside = Outside { stored_size, checksum: binary.checksum() };
            self.owned(entry.image, &about_entry(&entry), outside)?;
        }
        Ok(())
    }

    /// The images of bytes that were inflated.
    fn owned(&mut self, inflated: &[u8], about: &About, outside: Outside) -> Result<(), Error> {
        let budget = self.budget.inner(inflated.len() as u64, self.limits);
        let mut inner = Walker::new(self.limits, self.containers.clone(), budget);
        inner.any(inflated, about)?;
        self.budget.after(&inner.budget);
        for image in inner.images {
            self.budget.inflate(image.raw_size)?;
            let share = u128::from(outside.stored_size) * u128::from(image.stored_size)
                / (inflated.len() as u128).max(1);
            let owned = Image {
                source: ImageBytes::Owned {
                    bytes: image.decode(self.limits)?.into_owned(),
                    checksum: outside.checksum.or(image.checksum()),
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
                let about = About {
                    kind: OffloadKind::Sycl,
                    label: Label::of_words(&words),
                    name: format!("module {index}"),
                };
                self.any(payload.bytes, &about)?;
            }
        }
        Ok(())
    }

    fn ocloc(&mut self, input: &'a [u8], outer: &About) -> Result<(), Error> {
        for member in ocloc::parse(input, self.limits)?.members {
            let about = About { label: Label::of_member(&member), ..outer.clone() };
            match member.kind() {
                MemberKind::GenericIr => {
                    let spirv = ocloc::parse_elf(member.data)?.section(ocloc::SectionKind::SpirV);
                    self.any(spirv.unwrap_or(member.data), &about)?;
                }
                _ => self.any(member.data, &about)?,
            }
        }
        Ok(())
    }

    /// A frame around one image, or around a container.
    fn zstd(&mut self, input: &'a [u8], about: &About) -> Result<(), Error> {
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
            let outside = Outside { stored_size: input.len() as u64, checksum: frame::checksum(input) };
            return self.owned(&frame::inflate(input, size)?, about, outside);
        }
        let about = About { label: about.label.clone().completed(format, &start), ..about.clone() };
        let image = self.image(&about, format, ImageBytes::Frame { frame: input, size });
        let (compression, stored_size) = (Compression::Zstd, input.len() as u64);
        self.push(Image { compression, stored_size, raw_size: size, ..image })
    }
}

/// Enough to tell a format, also that of an archive behind members that align the first.
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

fn about_entry(entry: &offload_binary::OffloadEntry<'_>) -> About {
    let words: Vec<&str> = ["triple", "arch"].iter().filter_map(|key| entry.text(key)).collect();
    About {
        kind: entry.offload_kind.for_triple(entry.text("triple")),
        label: Label::of_words(&words.join(" ")),
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
