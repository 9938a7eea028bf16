//! The writer of versions 1 and 2.

use std::collections::BTreeMap;

use super::raw::{ENTRY_SIZE, HEADER_SIZE, RawEntry};
use super::{ALIGN, MAGIC};
use offload_format::{Error, ErrorKind, ImageKind, OffloadKind, bytes};

/// The version to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Version {
    /// One binary for each image, one after another; every LLVM since 15 reads it.
    #[default]
    V1,
    /// One binary of all images; LLVM 23 and later, and oneAPI 2026.2.
    V2,
}

/// An image to write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewEntry<'a> {
    /// LLVM's number of the image kind.
    pub image_kind: u16,
    /// LLVM's number of the offload kind.
    pub offload_kind: u16,
    /// [`FLAG_METADATA`](super::FLAG_METADATA) or 0; readers of version 1 expect 0.
    pub flags: u32,
    /// Names and values, for example of `triple` and `arch`.
    pub strings: Vec<NewString<'a>>,
    /// The image.
    pub image: &'a [u8],
}

/// A name and a value of an image to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewString<'a> {
    /// The name, as `triple`; without a zero byte.
    pub key: &'a str,
    /// The value; in version 1 without a zero byte.
    pub value: &'a [u8],
}

impl<'a> NewEntry<'a> {
    /// An image without strings, with the numbers of LLVM 21 and later.
    pub fn new(image_kind: ImageKind, offload_kind: OffloadKind, image: &'a [u8]) -> NewEntry<'a> {
        NewEntry {
            image_kind: image_kind.to_u16(),
            offload_kind: offload_kind.to_u16(),
            flags: 0,
            strings: Vec::new(),
            image,
        }
    }

    /// Adds a string.
    #[must_use]
    pub fn with_string(mut self, key: &'a str, value: &'a str) -> NewEntry<'a> {
        self.strings.push(NewString { key, value: value.as_bytes() });
        self
    }
}

/// Writes `entries`. Version 1 without entries gives an empty file.
///
/// # Errors
/// [`ErrorKind::Text`] for a string that the version cannot hold, [`ErrorKind::TooLarge`] if the sizes overflow.
pub fn write(entries: &[NewEntry<'_>], version: Version) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    match version {
        Version::V1 => entries.chunks(1).try_for_each(|entry| binary(&mut out, entry, version))?,
        Version::V2 => binary(&mut out, entries, version)?,
    }
    Ok(out)
}

/// Header, entries, string maps, strings, images.
fn binary(out: &mut Vec<u8>, entries: &[NewEntry<'_>], version: Version) -> Result<(), Error> {
    let (number, pair_size, second) = match version {
        Version::V1 => (1u32, 16u64, ENTRY_SIZE),
        Version::V2 => (2u32, 24u64, entries.len() as u64),
    };
    let maps_at = HEADER_SIZE + ENTRY_SIZE * entries.len() as u64;
    let pairs = entries.iter().map(|entry| entry.strings.len() as u64).sum::<u64>();
    let strings_at = maps_at + pairs * pair_size;
    let strings = StringTable::new(entries, strings_at, version)?;
    let maps = strings.maps(entries, version);
    let images_at = strings_at + strings.bytes.len() as u64;
    let (records, size) = records(entries, &Layout { maps_at, pair_size, images_at })?;
    let start = out.len();
    out.extend([MAGIC, number.to_le_bytes()].concat());
    out.extend([size, HEADER_SIZE, second].map(u64::to_le_bytes).concat());
    out.extend(records.iter().flat_map(RawEntry::encode));
    out.extend(maps);
    out.extend(&strings.bytes);
    for (entry, record) in entries.iter().zip(&records) {
        pad(out, start, record.image_offset);
        out.extend_from_slice(entry.image);
    }
    pad(out, start, size);
    Ok(())
}

/// The layout of a binary; offsets are in bytes from its start.
struct Layout {
    /// The offset of the string maps.
    maps_at: u64,
    /// The size of a name and value in a string map, in bytes.
    pair_size: u64,
    /// The offset of the first image.
    images_at: u64,
}

/// The entries' records, and the size of the binary.
fn records(entries: &[NewEntry<'_>], layout: &Layout) -> Result<(Vec<RawEntry>, u64), Error> {
    let mut map = layout.maps_at;
    let mut end = layout.images_at;
    let mut records = Vec::new();
    for entry in entries {
        let image_size = entry.image.len() as u64;
        let image_offset = bytes::align_up(end, ALIGN).ok_or_else(|| too_large(end))?;
        end = image_offset.checked_add(image_size).ok_or_else(|| too_large(image_size))?;
        let strings = entry.strings.len() as u64;
        records.push(RawEntry {
            image_kind: entry.image_kind,
            offload_kind: entry.offload_kind,
            flags: entry.flags,
            strings_offset: map,
            strings,
            image_offset,
            image_size,
        });
        map += strings * layout.pair_size;
    }
    let size = bytes::align_up(end, ALIGN).ok_or_else(|| too_large(end))?;
    Ok((records, size))
}

fn too_large(size: u64) -> ErrorKind {
    ErrorKind::TooLarge { what: "the OffloadBinary", size, limit: u64::MAX }
}

/// Pads with zeros up to `offset` from `start`.
fn pad(out: &mut Vec<u8>, start: usize, offset: u64) {
    let size = start as u64 + offset;
    out.resize(out.len().max(size as usize), 0);
}

/// The deduplicated string table.
struct StringTable<'a> {
    bytes: Vec<u8>,
    offsets: BTreeMap<&'a [u8], u64>,
}

impl<'a> StringTable<'a> {
    /// Collects the strings of `entries`, in their order, for a table at `offset`.
    fn new(entries: &[NewEntry<'a>], offset: u64, version: Version) -> Result<StringTable<'a>, Error> {
        // The first byte terminates the empty string, as in LLVM's tables.
        let mut table = StringTable { bytes: vec![0], offsets: BTreeMap::from([(&b""[..], offset)]) };
        for NewString { key, value } in entries.iter().flat_map(|entry| &entry.strings) {
            // Version 2 records the size of a value; names are zero-terminated in both versions.
            if key.contains('\0') || (version == Version::V1 && value.contains(&0)) {
                let what = "a string of the OffloadBinary, in which there is a zero byte,";
                return Err(ErrorKind::Text { what, offset: table.bytes.len() as u64 }.into());
            }
            table.add(key.as_bytes(), offset);
            table.add(value, offset);
        }
        Ok(table)
    }

    fn add(&mut self, text: &'a [u8], table: u64) {
        let offset = table + self.bytes.len() as u64;
        if !self.offsets.contains_key(text) {
            self.offsets.insert(text, offset);
            self.bytes.extend_from_slice(text);
            self.bytes.push(0);
        }
    }

    fn offset(&self, text: &[u8]) -> u64 {
        self.offsets.get(text).copied().unwrap_or_default()
    }

    fn maps(&self, entries: &[NewEntry<'_>], version: Version) -> Vec<u8> {
        let mut out = Vec::new();
        for NewString { key, value } in entries.iter().flat_map(|entry| &entry.strings) {
            out.extend(self.offset(key.as_bytes()).to_le_bytes());
            out.extend(self.offset(value).to_le_bytes());
            if version == Version::V2 {
                out.extend((value.len() as u64).to_le_bytes());
            }
        }
        out
    }
}
