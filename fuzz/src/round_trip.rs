//! Round trips: parsed input is written by this project's writer and parsed again, and both results must be equal.
//!
//! Input that the writer cannot represent is not a failure.

use std::collections::BTreeMap;

use offload_containers::bundle::{self, BundleEntry, BundleImage};
use offload_containers::ccob;
use offload_containers::fatbin::{self, FatbinImage, Packing};
use offload_containers::ocloc::{self, MemberKind, OclocImage};
use offload_containers::offload_binary::{self, NewEntry, NewString, OffloadEntry, Version};
use offload_containers::syclbin::{self, NewModule, PropertySets, PropertyValue};
use offload_format::codec::{self, Codec};
use offload_format::pack::{NewImage, Pack, PackBuilder, Pages};
use offload_format::{Error, Hash128, ImageKind, Limits};
use offload_packer::{ImageSource, Mode, RawImage, Sequential, Settings, Step};

use crate::decode::RAW_BYTES;

fn limits() -> Limits {
    Limits::default().with_raw_bytes(RAW_BYTES)
}

/// Entries of all binaries, in both versions. The writer rejects names that are not UTF-8, and NUL bytes in version 1.
pub fn offload_binary(file: &[u8]) {
    let Ok(binaries) = offload_binary::parse(file, &limits()) else { return };
    let read: Vec<OffloadEntry<'_>> = binaries.iter().flat_map(offload_binary::Binary::entries).collect();
    let Some(entries) = read.iter().map(new_entry).collect::<Option<Vec<_>>>() else { return };
    for version in [Version::V1, Version::V2] {
        let Ok(written) = offload_binary::write(&entries, version) else { continue };
        let again = offload_binary::parse(&written, &Limits::default()).expect("the written file parses");
        let again: Vec<OffloadEntry<'_>> = again.iter().flat_map(offload_binary::Binary::entries).collect();
        assert_eq!(again.len(), read.len());
        for (one, other) in read.iter().zip(&again) {
            assert_eq!((one.image_kind, one.offload_kind.0), (other.image_kind, other.offload_kind.0));
            assert!(one.image == other.image && one.strings().eq(other.strings()), "{version:?}");
        }
    }
}

fn new_entry<'a>(entry: &OffloadEntry<'a>) -> Option<NewEntry<'a>> {
    let string =
        |(key, value): (&'a [u8], &'a [u8])| Some(NewString { key: std::str::from_utf8(key).ok()?, value });
    let mut new = NewEntry::new(ImageKind::None, offload_format::OffloadKind::OpenMp, entry.image);
    (new.image_kind, new.offload_kind) = (entry.image_kind, entry.offload_kind.0);
    new.strings = entry.strings().map(string).collect::<Option<_>>()?;
    Some(new)
}

fn images<'a>(entries: &[BundleEntry<'a>]) -> Vec<BundleImage<'a>> {
    entries.iter().map(|entry| BundleImage { id: entry.id, bytes: entry.image }).collect()
}

/// A bundle, uncompressed and in each version of the compressed form.
pub fn bundle(file: &[u8]) {
    let Ok(read) = bundle::parse(file, &limits()) else { return };
    let images = images(&read.entries);
    let Ok(written) = bundle::write(&images, 8) else { return };
    assert_bundle(&written, &images);
    for version in [ccob::Version::V2, ccob::Version::V3] {
        let Ok(compressed) = ccob::write(&written, version, 1) else { continue };
        let limits = Limits::default();
        let inflated = ccob::parse(&compressed, &limits).and_then(|ccob| ccob.inflate(&limits));
        assert!(inflated.expect("the compressed file inflates") == written, "{version:?}");
    }
}

fn assert_bundle(written: &[u8], expected: &[BundleImage<'_>]) {
    let again = bundle::parse(written, &Limits::default()).expect("the written file parses");
    assert!(images(&again.entries) == expected);
}

/// A text bundle. The line break between two markers belongs to the format, not to an image.
pub fn bundle_text(file: &[u8]) {
    let Ok(read) = bundle::parse_text(file, &limits()) else { return };
    let expected = images(&read.entries);
    let Ok(written) = bundle::write_text(&expected, read.comment) else { return };
    let again = bundle::parse_text(&written, &Limits::default());
    // A file of white space alone is not a bundle.
    let Ok(again) = again else { return assert!(expected.is_empty()) };
    assert!(images(&again.entries) == expected);
}

/// The images of a fatbin, stored and compressed.
pub fn fatbin(file: &[u8]) {
    let limits = limits();
    let Ok(read) = fatbin::parse(file, &limits) else { return };
    let mut found = Vec::new();
    for entry in &read.entries {
        let Ok(images) = entry.images(&limits) else { return };
        for image in images {
            let Some(target) = image.record.target() else { return };
            found.push((target, image.bytes.into_owned()));
        }
    }
    let new: Vec<FatbinImage<'_>> =
        found.iter().map(|(target, bytes)| FatbinImage { target, bytes, name: "", options: "" }).collect();
    for packing in [Packing::Stored, Packing::Zstd { level: 1 }] {
        let Ok(written) = fatbin::write(&new, packing) else { continue };
        let again = fatbin::parse(&written, &Limits::default()).expect("the written file parses");
        let images =
            again.entries.iter().flat_map(|entry| entry.images(&Limits::default()).expect("decoded"));
        let again: Vec<_> = images.map(|image| (image.record.target(), image.bytes.into_owned())).collect();
        assert_eq!(again.len(), found.len());
        for ((target, bytes), (other, read)) in found.iter().zip(&again) {
            assert_eq!(Some(target), other.as_ref());
            assert!(same_but_for_padding(bytes, read), "{target}: {packing:?}");
        }
    }
}

/// Whether `read` is `image`, up to zero padding: a stored cubin that ends after its tables is padded to a multiple of 8.
fn same_but_for_padding(image: &[u8], read: &[u8]) -> bool {
    let padding = read.strip_prefix(image);
    padding.is_some_and(|padding| {
        padding.is_empty()
            || read.len() == image.len().next_multiple_of(8) && padding.iter().all(|byte| *byte == 0)
    })
}

/// Device images, and the SPIR-V module.
pub fn ocloc(file: &[u8]) {
    let Ok(read) = ocloc::parse(file, &limits()) else { return };
    let Ok(spirv) = read.spirv() else { return };
    let devices: BTreeMap<String, OclocImage<'_>> = (read.members.iter())
        .filter_map(|member| match member.kind() {
            MemberKind::Device(device) => {
                Some((device.to_string(), OclocImage { device, bytes: member.data }))
            }
            _ => None,
        })
        .collect();
    let images: Vec<OclocImage<'_>> = devices.into_values().collect();
    let Ok(written) = ocloc::write(&images, spirv) else { return };
    let Ok(again) = ocloc::parse(&written, &Limits::default()) else { return assert!(images.is_empty()) };
    for image in &images {
        let kind = MemberKind::Device(image.device);
        let member = again.members.iter().find(|member| member.kind() == kind).expect("a member");
        assert!(member.data == image.bytes);
    }
    assert!(again.spirv().expect("an ELF file") == spirv);
}

type Properties = Vec<(String, String, PropertyValue)>;

fn properties(sets: &PropertySets<'_>) -> Properties {
    sets.properties()
        .map(|property| (property.set.to_string(), property.name.to_string(), property.value))
        .collect()
}

pub fn property_sets(file: &[u8]) {
    let Ok(text) = std::str::from_utf8(file) else { return };
    let Ok(read) = PropertySets::parse(text) else { return };
    let mut again = PropertySets::default();
    for (set, name, value) in properties(&read) {
        match again.set(&set).property(&name, value) {
            Ok(more) => again = more,
            Err(_) => return,
        }
    }
    assert_eq!(properties(&again), properties(&read));
}

/// Modules with their images. Of the file's own properties only the state is kept.
pub fn syclbin(file: &[u8]) {
    let Ok(read) = syclbin::parse(file, &limits()) else { return };
    let Ok(state) = read.state() else { return };
    let modules: Vec<NewModule<'_>> = read.modules.iter().map(NewModule::from).collect();
    let Ok(written) = syclbin::write(state, &modules, syclbin::ImageKindNumber::default()) else { return };
    let again = syclbin::parse(&written, &Limits::default()).expect("the written file parses");
    assert_eq!(again.state().expect("a state"), state);
    let again: Vec<NewModule<'_>> = again.modules.iter().map(NewModule::from).collect();
    assert!(again == modules);
}

/// All images with their records, written to a new pack.
pub fn pack(file: &[u8]) {
    let pages = Pages::default();
    let Ok(read) = Pack::parse(file, &pages) else { return };
    let mut builder = PackBuilder::new("p", "1.0.0");
    let mut frames = Vec::new();
    let mut expected = Vec::new();
    for image in read.images().take(64) {
        let Ok(image) = image else { return };
        let block = image.block.map_or(0, |block| read.block(block).map_or(u64::MAX, |block| block.raw_size));
        if image.raw_size.max(block) > RAW_BYTES / 16 {
            return;
        }
        let (Ok(target), Ok(bytes)) = (image.target(), codec::decode(&read, &image)) else { return };
        let Ok(new) = NewImage::from_image(&read, &image, target) else { return };
        let frame = codec::encode(&bytes, Codec::Zstd, 1).expect("a frame");
        expected.push((format!("{new:?}"), bytes));
        builder.image(new, frame.info()).expect("an image");
        frames.push(frame);
    }
    let Ok(layout) = builder.finish() else { return };
    let written = layout.with_frames(&frames).expect("all frames");
    let pages = Pages::default();
    let again = Pack::parse(&written, &pages).expect("the written file parses");
    again.verify_index().expect("its own hash");
    let mut found: Vec<(String, Vec<u8>)> = (again.images())
        .map(|image| {
            let image = image.expect("an image");
            let new =
                NewImage::from_image(&again, &image, image.target().expect("a target")).expect("its records");
            (format!("{new:?}"), codec::decode(&again, &image).expect("its bytes"))
        })
        .collect();
    found.sort();
    expected.sort();
    assert!(found == expected, "{found:?}\n{expected:?}");
}

/// An in-memory image source.
struct Images(BTreeMap<Hash128, Vec<u8>>);

impl ImageSource for Images {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
        Ok(self.0.get(&hash).cloned().unwrap_or_default())
    }
}

/// The first byte selects the mode. The rest is a sequence of images, each preceded by its size in two bytes. A size with
/// the highest bit set repeats the previous image with one byte changed: a near-duplicate.
pub fn packer(input: &[u8]) {
    let Some((mode, mut rest)) = input.split_first() else { return };
    let mode = [Mode::None, Mode::Fast, Mode::Balanced, Mode::Max, Mode::Archive][usize::from(*mode) % 5];
    let mut images: Vec<Vec<u8>> = Vec::new();
    while let Some((size, behind)) = rest.split_first_chunk::<2>().filter(|_| images.len() < 32) {
        let size = u16::from_le_bytes(*size);
        let (image, behind) = behind.split_at(usize::from(size & 0x7fff).min(behind.len()));
        rest = behind;
        let again = images.last().filter(|last| size >> 15 != 0 && !last.is_empty()).cloned();
        let near = again.map(|mut last| {
            let at = image.len() % last.len();
            last[at] ^= 1;
            last
        });
        images.push(near.unwrap_or_else(|| image.to_vec()));
    }
    let order: Vec<RawImage> = images.iter().map(|image| raw(image)).collect();
    let source = Images(images.iter().map(|image| (Hash128::digest(image), image.clone())).collect());
    let settings = Settings { mode, level: 1 };
    let plan = offload_packer::plan(&order, &source, settings, &Sequential).expect("a plan");
    let written = packed(&plan, &source, &order);
    let pages = Pages::default();
    let pack = Pack::parse(&written, &pages).expect("the written file parses");
    assert_eq!(pack.image_count(), images.len() as u64);
    for (image, bytes) in pack.images().zip(&images) {
        let image = image.expect("an image");
        assert!(codec::decode(&pack, &image).expect("its bytes") == *bytes, "{mode:?}");
    }
}

fn raw(image: &[u8]) -> RawImage {
    let kind = if image.starts_with(&[3, 2, 0x23, 7]) { ImageKind::SpirV } else { ImageKind::Object };
    RawImage { hash: Hash128::digest(image), size: image.len() as u64, kind }
}

fn packed(plan: &offload_packer::Plan, source: &Images, order: &[RawImage]) -> Vec<u8> {
    let mut builder = PackBuilder::new("p", "1.0.0");
    let mut frames = Vec::new();
    let mut infos = BTreeMap::new();
    for block in 0..plan.blocks().len() {
        let frame = offload_packer::encode_block(plan, source, block).expect("a block");
        let info = frame.info();
        builder.block(info.into());
        let members = offload_packer::in_block(plan, block, info.hash, |hash| {
            source.0.get(&hash).map_or(0, |image| image.len() as u64)
        });
        infos.extend(members.into_iter().map(|info| (info.hash, info)));
        frames.push(frame);
    }
    for hash in source.0.keys().filter(|hash| matches!(plan.step(**hash), Some(Step::Frame { .. }))) {
        let frame = offload_packer::encode_image(plan, source, *hash).expect("a frame");
        infos.insert(*hash, frame.info());
        frames.push(frame);
    }
    for (at, image) in order.iter().enumerate() {
        let record = NewImage::new(&format!("m{at:04}"), offload_format::Target::OpenClC);
        builder.image(record, infos[&image.hash]).expect("an image");
    }
    builder.finish().and_then(|layout| layout.with_frames(&frames)).expect("a pack")
}
