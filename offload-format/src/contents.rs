//! The images of any container, however containers lie in one another: for which machine each is, and its bytes.
//!
//! Listing decodes as little as it can: headers, the table at the start of a compressed bundle, the first bytes of a zstd
//! frame. [`Image::decode`] decodes one image; the images of a compressed bundle share its bytes, which are inflated when
//! the first of them is asked for.
//!
//! ```
//! use offload_format::{Limits, bundle, ccob, contents};
//!
//! let image = bundle::Image { id: "hipv4-amdgcn-amd-amdhsa--gfx90a", bytes: b"code object" };
//! let file = ccob::write(&bundle::write(&[image], bundle::HIP_ALIGN)?, ccob::Version::V2, 19)?;
//!
//! let limits = Limits::default();
//! let images = contents::images(&file, &limits)?;
//! assert_eq!(images[0].target_text(), "amdgcn:gfx90a");
//! assert_eq!(*images[0].decode(&limits)?, *b"code object");
//! # Ok::<(), offload_format::Error>(())
//! ```

mod label;
mod source;

use std::borrow::Cow;
use std::rc::Rc;

use self::label::Label;
use self::source::{Bundled, Source};
use crate::carrier::{Format, Found, Place, identify};
use crate::ccob::{self, Ccob, Container};
use crate::fatbin::{self, EntryKind};
use crate::ocloc::{self, MemberKind};
use crate::{Error, ErrorKind, Limits, OffloadKind, Target, bundle, frame, offload_binary, syclbin};

/// An image in a container.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Image<'a> {
    /// What it lies in, outermost first.
    pub containers: Vec<Format>,
    /// What its bytes are, as far as that is known without decoding them.
    pub format: Option<Format>,
    /// For which machine it is, if this project has a name for that.
    pub target: Option<Target>,
    /// For what it is in the file's own words, as `hipv4-amdgcn-amd-amdhsa--gfx90a`; empty if it says nothing.
    pub label: String,
    /// Which programming model launches it.
    pub offload_kind: OffloadKind,
    /// Its name in the container, mostly empty.
    pub name: String,
    /// How it is compressed.
    pub compression: Compression,
    /// How many bytes of the file it takes; of a bundle that is compressed as a whole its share.
    pub stored_size: u64,
    /// Its size in bytes, as recorded: of an image in a fatbin with what pads it.
    pub raw_size: u64,
    source: Source<'a>,
}

/// How an image is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// zlib, together with the other images of its bundle.
    Zlib,
    /// zstd.
    Zstd,
    /// LZ4.
    Lz4,
    /// A method that this release does not know: the image cannot be decoded.
    Unknown,
}

impl std::fmt::Display for Compression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Compression::None => "raw",
            Compression::Zlib => "zlib",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Unknown => "unknown",
        })
    }
}

impl<'a> Image<'a> {
    /// The target's text, or else the file's own words.
    pub fn target_text(&self) -> String {
        self.target.as_ref().map_or_else(|| self.label.clone(), Target::to_string)
    }

    /// The bytes of the image.
    ///
    /// # Errors
    /// Those of the container's method of compression; [`ErrorKind::TooLarge`] over `limits`.
    pub fn decode(&self, limits: &Limits) -> Result<Cow<'_, [u8]>, Error> {
        self.source.decode(limits)
    }
}

/// Every image in the container at the start of `input`, and in those behind it where containers follow one another.
/// What is no container is an image itself.
///
/// # Errors
/// Those of the container's reader; [`ErrorKind::Nested`] if containers lie too deep in one another.
pub fn images<'a>(input: &'a [u8], limits: &Limits) -> Result<Vec<Image<'a>>, Error> {
    walk(input, (OffloadKind::None, Label::default()), limits)
}

/// Every image in what [`carrier::find`](crate::carrier::find) found; none for packs of this project, and for images in
/// other files.
///
/// # Errors
/// As [`images`].
pub fn images_of<'a>(found: &Found<'a>, limits: &Limits) -> Result<Vec<Image<'a>>, Error> {
    match (found.format, found.place) {
        (Some(Format::Pack), _) | (_, Place::KpackReference { .. }) => Ok(Vec::new()),
        (_, Place::Sycl(record)) => {
            walk(found.bytes, (OffloadKind::Sycl, Label::of_words(record.target)), limits)
        }
        _ => images(found.bytes, limits),
    }
}

fn walk<'a>(
    input: &'a [u8],
    (kind, label): (OffloadKind, Label),
    limits: &Limits,
) -> Result<Vec<Image<'a>>, Error> {
    let mut walker = Walker { limits, containers: Vec::new(), images: Vec::new() };
    walker.any(input, &About { kind, label, name: String::new() })?;
    Ok(walker.images)
}

/// What outer containers say of what lies in them.
#[derive(Clone, Debug)]
struct About {
    kind: OffloadKind,
    label: Label,
    name: String,
}

struct Walker<'a, 'l> {
    limits: &'l Limits,
    containers: Vec<Format>,
    images: Vec<Image<'a>>,
}

impl<'a> Walker<'a, '_> {
    fn any(&mut self, input: &'a [u8], about: &About) -> Result<(), Error> {
        let format = identify(input);
        let limit = self.limits.depth;
        if self.containers.len() as u64 > u64::from(limit) {
            return Err(ErrorKind::Nested { what: "containers of device images", limit }.into());
        }
        match format {
            Some(Format::CompressedBundle | Format::ClangBundle) => {
                self.inside(format, |walker| walker.bundles(input))
            }
            Some(Format::CudaFatbin) => self.inside(format, |walker| walker.fatbins(input, about)),
            Some(Format::OffloadBinary) => self.inside(format, |walker| walker.offload_binaries(input)),
            Some(Format::Syclbin) => self.inside(format, |walker| walker.syclbin(input)),
            Some(Format::OclocArchive) => self.inside(format, |walker| walker.ocloc(input, about)),
            Some(Format::Zstd) => self.inside(format, |walker| walker.zstd(input, about)),
            _ => self.plain(input, about),
        }
    }

    /// Goes one container deeper for the time of `walk`.
    fn inside(
        &mut self,
        format: Option<Format>,
        walk: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.containers.extend(format);
        walk(self)?;
        self.containers.pop();
        Ok(())
    }

    fn push(&mut self, image: Image<'a>) -> Result<(), Error> {
        self.limits.records("the list of device images", (self.images.len() as u64).saturating_add(1))?;
        self.images.push(image);
        Ok(())
    }

    fn image(&self, about: &About, (format, source): (Option<Format>, Source<'a>)) -> Image<'a> {
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
        let format = identify(input);
        let about = About { label: about.label.clone().completed(format, input), ..about.clone() };
        let size = input.len() as u64;
        let image = self.image(&about, (format, Source::Borrowed(input)));
        self.push(Image { stored_size: size, raw_size: size, ..image })
    }

    fn bundles(&mut self, input: &'a [u8]) -> Result<(), Error> {
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

    fn compressed_bundle(&mut self, ccob: Ccob<'a>) -> Result<(), Error> {
        let table = |size| ccob.start(size).and_then(|start| owned_table(&start, self.limits));
        // HIP's own runtime wants the table in the first bytes; other bundles may have a longer one.
        let records = match table(bundle::MAX_TABLE) {
            Err(_) => owned_table(&ccob.inflate(self.limits)?, self.limits)?,
            records => records?,
        };
        let compression = match ccob.method {
            ccob::Method::Zlib => Compression::Zlib,
            _ => Compression::Zstd,
        };
        let bundled = Rc::new(Bundled::new(ccob));
        for (id, offset, size) in records.into_iter().filter(|(_, _, size)| *size > 0) {
            let source = Source::Bundled { bundle: Rc::clone(&bundled), offset, size };
            let image = self.image(&about_bundled(&id), (None, source));
            let share = u128::from(ccob.size) * u128::from(size) / u128::from(ccob.raw_size.max(1));
            let stored_size = u64::try_from(share).unwrap_or(u64::MAX);
            self.push(Image { compression, stored_size, raw_size: size, ..image })?;
        }
        Ok(())
    }

    fn fatbins(&mut self, input: &'a [u8], about: &About) -> Result<(), Error> {
        for container in fatbin::fatbins(input, self.limits) {
            for entry in container?.1.entries {
                self.fatbin_entry(entry, about)?;
            }
        }
        Ok(())
    }

    fn fatbin_entry(&mut self, entry: fatbin::Entry<'a>, about: &About) -> Result<(), Error> {
        let (compression, stored_size) = (compression_of(entry.compression), entry.stored.len() as u64);
        let members = entry.members(self.limits)?;
        if members.is_empty() {
            let image = self.fatbin_image(about, &entry.record, Source::Fatbin { entry, member: None });
            return self.push(Image { compression, stored_size, raw_size: entry.raw_size, ..image });
        }
        let stream = u128::from(entry.raw_size.max(1));
        for (index, member) in members.iter().enumerate() {
            let source = Source::Fatbin { entry, member: Some(index) };
            let image = self.fatbin_image(about, &member.record, source);
            let share = u128::from(stored_size) * u128::from(member.size) / stream;
            let share = u64::try_from(share).unwrap_or(u64::MAX);
            self.push(Image { compression, stored_size: share, raw_size: member.size, ..image })?;
        }
        Ok(())
    }

    fn fatbin_image(&self, outer: &About, record: &fatbin::Record<'a>, source: Source<'a>) -> Image<'a> {
        let kind = if outer.kind == OffloadKind::None { OffloadKind::Cuda } else { outer.kind };
        let label = Label { words: record.arch(), target: record.target() };
        let format = match record.kind {
            EntryKind::Ptx => Some(Format::Ptx),
            EntryKind::Elf => Some(Format::Cubin),
            _ => None,
        };
        let name = record.name.unwrap_or_default().to_string();
        self.image(&About { kind, label, name }, (format, source))
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
            self.owned(entry.image, &about_entry(&entry), u64::try_from(share).unwrap_or(u64::MAX))?;
        }
        Ok(())
    }

    /// The images of bytes that were inflated, of which `stored` are in the file.
    fn owned(&mut self, inflated: &[u8], about: &About, stored: u64) -> Result<(), Error> {
        let mut inner =
            Walker { limits: self.limits, containers: self.containers.clone(), images: Vec::new() };
        inner.any(inflated, about)?;
        for image in inner.images {
            let share = u128::from(stored) * u128::from(image.stored_size) / (inflated.len() as u128).max(1);
            let owned = Image {
                source: Source::Owned(image.decode(self.limits)?.into_owned()),
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
        let size = frame::content_size(input).ok_or(ErrorKind::Unsupported {
            what: "a zstd frame that does not record the size of its content, of bytes",
            value: input.len() as u64,
        })?;
        let size = self.limits.inflated("the inflated device image", size, input.len() as u64)?;
        let start = frame::start(input, FIRST_BYTES)?;
        let format = identify(&start);
        if is_container(format) {
            return self.owned(&frame::inflate(input, size)?, about, input.len() as u64);
        }
        let about = About { label: about.label.clone().completed(format, &start), ..about.clone() };
        let image = self.image(&about, (format, Source::Frame { frame: input, size }));
        let (compression, stored_size) = (Compression::Zstd, input.len() as u64);
        self.push(Image { compression, stored_size, raw_size: size, ..image })
    }
}

/// Enough to tell a format, also that of an archive behind members that align the first.
const FIRST_BYTES: u64 = 4096;

fn is_container(format: Option<Format>) -> bool {
    matches!(
        format,
        Some(
            Format::Archive
                | Format::ClangBundle
                | Format::CompressedBundle
                | Format::CudaFatbin
                | Format::OclocArchive
                | Format::OffloadBinary
                | Format::Syclbin
                | Format::Zstd
        )
    )
}

type OwnedTable = Vec<(String, u64, u64)>;

fn owned_table(start: &[u8], limits: &Limits) -> Result<OwnedTable, Error> {
    let (records, _) = bundle::table(start, limits)?;
    Ok(records.into_iter().map(|record| (record.id.to_string(), record.offset, record.size)).collect())
}

fn about_bundled(id: &str) -> About {
    let kind = bundle::BundleId::parse(id).map_or(OffloadKind::None, |id| id.kind.offload_kind());
    About { kind, label: Label::of_bundle(id), name: String::new() }
}

fn about_entry(entry: &offload_binary::Entry<'_>) -> About {
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
