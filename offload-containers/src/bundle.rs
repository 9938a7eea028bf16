//! clang's offload bundles: images for several targets behind one table.
//!
//! The table is that of <https://clang.llvm.org/docs/ClangOffloadBundler.html>; readers of HIP, LLVM and this crate use
//! nothing but its offsets.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | 24 bytes | `__CLANG_OFFLOAD_BUNDLE__` |
//! | 24 | u64 | number of entries |
//! | 32 | u64, u64, u64, text | for each entry: offset and size of its image, size of its id, the id |
//!
//! LLVM takes a damaged table for a file without images; here it is an error.
//!
//! ```
//! use offload_containers::bundle::{self, BundleImage};
//! use offload_format::Limits;
//!
//! let images = [
//!     BundleImage { id: "host-x86_64-unknown-linux-gnu-", bytes: b"" },
//!     BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", bytes: b"code object" },
//! ];
//! let file = bundle::write(&images, bundle::HIP_ALIGN)?;
//! let read = bundle::parse(&file, &Limits::default())?;
//! let target = read.entries[1].target().unwrap();
//! assert_eq!((target.target_id, read.entries[1].image), (Some("gfx90a:xnack+"), &b"code object"[..]));
//! # Ok::<(), offload_format::Error>(())
//! ```

mod id;
mod text;

use std::collections::BTreeSet;

pub use self::id::{BundleId, BundleKind};
pub use self::text::{Comment, TextBundle, parse_text, write_text};
use offload_format::{Error, ErrorKind, Limits, bytes};

/// First bytes of a bundle.
pub const MAGIC: [u8; 24] = *b"__CLANG_OFFLOAD_BUNDLE__";
/// Where HIP's driver starts each image, so that pages of the file can be mapped.
pub const HIP_ALIGN: u64 = 4096;
/// The table ends before this: HIP runtimes that know only the address of a bundle look at so many bytes of it
/// (`amd_comgr_lookup_code_object` as called by <https://github.com/ROCm/clr>).
pub const MAX_TABLE: u64 = 4096;

const HEADER_SIZE: u64 = 32;
/// Of an entry, without its id.
const RECORD_SIZE: u64 = 24;
const TABLE: &str = "the table of the offload bundle";
const IMAGE: &str = "an image of the offload bundle";

/// A bundle over borrowed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bundle<'a> {
    /// The entries in the order of the table.
    pub entries: Vec<BundleEntry<'a>>,
    /// Where the last of table and images ends, in bytes: another bundle may follow.
    pub size: u64,
}

/// An image with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleEntry<'a> {
    /// The id of the entry.
    pub id: &'a str,
    /// The offset of the image in the bundle, in bytes; 0 in the text form.
    pub offset: u64,
    /// The image; empty for a host that has none.
    pub image: &'a [u8],
}

impl<'a> BundleEntry<'a> {
    /// The parsed id, if it is well formed.
    pub fn target(&self) -> Option<BundleId<'a>> {
        BundleId::parse(self.id)
    }
}

/// An image to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleImage<'a> {
    /// Its id: the text of a [`BundleId`].
    pub id: &'a str,
    /// The image.
    pub bytes: &'a [u8],
}

/// A record of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleRecord<'a> {
    /// The id of the entry.
    pub id: &'a str,
    /// The offset of the image in the bundle, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// The table of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleTable<'a> {
    /// A record for each image.
    pub records: Vec<BundleRecord<'a>>,
    /// Where the table ends, in bytes from the start of the bundle.
    pub end: u64,
}

/// Reads the table alone, from the first bytes of a bundle; the ranges of the images are not checked.
///
/// # Errors
/// [`ErrorKind::Magic`]; [`ErrorKind::Truncated`] for a table that is not inside `start`; [`ErrorKind::Text`];
/// [`ErrorKind::TooMany`].
pub fn table<'a>(start: &'a [u8], limits: &Limits) -> Result<BundleTable<'a>, Error> {
    if !start.starts_with(&MAGIC) {
        return Err(ErrorKind::Magic { what: "an offload bundle" }.into());
    }
    let count = limits.records(TABLE, bytes::u64_at(start, 24, TABLE)?)?;
    // The count is untrusted: the smallest table with so many entries has to fit before memory is allocated.
    bytes::range(start, HEADER_SIZE, count.saturating_mul(RECORD_SIZE), TABLE)?;
    let mut records = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
    let mut at = HEADER_SIZE;
    for _ in 0..count {
        let record = bytes::range(start, at, RECORD_SIZE, TABLE)?;
        let offset = bytes::u64_at(record, 0, TABLE)?;
        let size = bytes::u64_at(record, 8, TABLE)?;
        let id_size = bytes::u64_at(record, 16, TABLE)?;
        let id =
            bytes::text_at(start, at.saturating_add(RECORD_SIZE), id_size, "an id of the offload bundle")?;
        records.push(BundleRecord { id, offset, size });
        at = at.saturating_add(RECORD_SIZE).saturating_add(id_size);
    }
    Ok(BundleTable { records, end: at })
}

/// Reads the bundle at the start of `input`; bytes behind it are ignored.
///
/// Entries may share their bytes, as equal images of two targets do.
///
/// # Errors
/// [`ErrorKind::Magic`]; [`ErrorKind::Truncated`] for a table or an image that is not inside `input`;
/// [`ErrorKind::Invalid`] for images that overlap the table or each other in part; [`ErrorKind::Text`] for an id that is
/// not UTF-8; [`ErrorKind::TooMany`] over [`Limits::entries`].
pub fn parse<'a>(input: &'a [u8], limits: &Limits) -> Result<Bundle<'a>, Error> {
    let BundleTable { records, end: table_size } = table(input, limits)?;
    let mut entries = Vec::with_capacity(records.len());
    let mut size = table_size;
    for BundleRecord { id, offset, size: image_size } in records {
        let image = bytes::range(input, offset, image_size, IMAGE)?;
        entries.push(BundleEntry { id, offset, image });
        size = size.max(offset.saturating_add(image_size));
    }
    check_overlaps(&entries, table_size)?;
    Ok(Bundle { entries, size })
}

fn check_overlaps(entries: &[BundleEntry<'_>], table_size: u64) -> Result<(), Error> {
    const WHAT: &str = "the offset of an image of the offload bundle";
    let mut ranges = Vec::new();
    for entry in entries {
        if !entry.image.is_empty() {
            ranges.push((entry.offset, entry.offset.saturating_add(entry.image.len() as u64)));
        }
    }
    ranges.sort_unstable();
    ranges.dedup();
    let mut end = table_size;
    for (start, next) in ranges {
        if start < end {
            return Err(Error::invalid(WHAT, start));
        }
        end = next;
    }
    Ok(())
}

/// Writes a bundle in which each image starts at a multiple of `align`, a power of two, as clang writes it.
///
/// clang requires the host's entry to be first, and LLVM's readers require unique ids.
///
/// # Errors
/// [`ErrorKind::Invalid`] for `align`; [`ErrorKind::Text`] for a malformed or duplicate id;
/// [`ErrorKind::TooLarge`] for a table over [`MAX_TABLE`].
pub fn write(images: &[BundleImage<'_>], align: u64) -> Result<Vec<u8>, Error> {
    if !align.is_power_of_two() {
        return Err(Error::invalid("the alignment of the offload bundle", align));
    }
    check_ids(images)?;
    let table_size = table_size(images)?;
    let mut table = Vec::from(MAGIC);
    table.extend((images.len() as u64).to_le_bytes());
    let mut end = table_size;
    let mut offsets = Vec::with_capacity(images.len());
    for image in images {
        let size = image.bytes.len() as u64;
        let offset = bytes::align_up(end, align).ok_or_else(|| Error::invalid(IMAGE, size))?;
        end = offset.checked_add(size).ok_or_else(|| Error::invalid(IMAGE, size))?;
        let numbers = [offset, size, image.id.len() as u64].map(u64::to_le_bytes);
        table.extend_from_slice(numbers.as_flattened());
        table.extend_from_slice(image.id.as_bytes());
        offsets.push(offset);
    }
    fill(table, images, &offsets, end)
}

/// Appends the images at their offsets. The file reaches to `end` even if the last image is empty, because LLVM rejects an
/// offset behind the end of the file.
fn fill(mut out: Vec<u8>, images: &[BundleImage<'_>], offsets: &[u64], end: u64) -> Result<Vec<u8>, Error> {
    out.reserve_exact(to_usize(end)?.saturating_sub(out.len()));
    for (image, offset) in images.iter().zip(offsets) {
        out.resize(to_usize(*offset)?, 0);
        out.extend_from_slice(image.bytes);
    }
    Ok(out)
}

fn to_usize(offset: u64) -> Result<usize, Error> {
    usize::try_from(offset).map_err(|_| Error::invalid("the size of the offload bundle", offset))
}

fn table_size(images: &[BundleImage<'_>]) -> Result<u64, Error> {
    let sizes = images.iter().map(|image| RECORD_SIZE.saturating_add(image.id.len() as u64));
    let size = sizes.fold(HEADER_SIZE, u64::saturating_add);
    if size > MAX_TABLE {
        return Err(ErrorKind::TooLarge { what: TABLE, size, limit: MAX_TABLE }.into());
    }
    Ok(size)
}

fn check_ids(images: &[BundleImage<'_>]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for (offset, image) in (0..).zip(images) {
        let plain = !image.id.chars().any(char::is_control);
        if !plain || BundleId::parse(image.id).is_none() || !seen.insert(image.id) {
            return Err(ErrorKind::Text { what: "the id of a bundle's entry, number", offset }.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let images = [
            BundleImage { id: "host-x86_64-unknown-linux-gnu-", bytes: b"" },
            BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx90a", bytes: b"ninety" },
            BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx1100", bytes: b"eleven" },
        ];
        write(&images, 64).unwrap()
    }

    fn set(file: &mut [u8], at: usize, value: u64) {
        file[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    #[test]
    fn what_is_written_is_read() {
        let file = sample();
        let mut behind = file.clone();
        behind.extend(b"another");
        let bundle = parse(&behind, &Limits::default()).unwrap();
        assert_eq!(bundle.size, file.len() as u64);
        let found: Vec<_> = bundle.entries.iter().map(|entry| (entry.id, entry.image)).collect();
        let id = "hipv4-amdgcn-amd-amdhsa--gfx90a";
        assert_eq!(found[1], (id, &b"ninety"[..]));
        assert_eq!(found[2].1, b"eleven");
        assert!(bundle.entries.iter().all(|entry| entry.offset % 64 == 0));
    }

    #[test]
    fn entries_may_share_an_image_but_not_a_part_of_it() {
        let mut file = sample();
        let second = 32 + 24 + "host-x86_64-unknown-linux-gnu-".len();
        let third = second + 24 + "hipv4-amdgcn-amd-amdhsa--gfx90a".len();
        let offset = u64::from_le_bytes(file[second..second + 8].try_into().unwrap());
        set(&mut file, third, offset);
        let bundle = parse(&file, &Limits::default()).unwrap();
        assert_eq!(bundle.entries[1].image, bundle.entries[2].image);
        set(&mut file, third, offset + 1);
        let error = parse(&file, &Limits::default()).unwrap_err();
        assert_eq!(
            error.kind(),
            &ErrorKind::Invalid { what: "the offset of an image of the offload bundle", value: offset + 1 }
        );
        set(&mut file, third, 8);
        assert!(parse(&file, &Limits::default()).is_err(), "an image over the table");
    }

    #[test]
    fn a_damaged_table_is_an_error() {
        let file = sample();
        for end in 0..file.len() {
            assert!(parse(&file[..end], &Limits::default()).is_err(), "cut at {end}");
        }
        let mut many = file.clone();
        set(&mut many, 24, 1 << 19);
        assert!(matches!(parse(&many, &Limits::default()).unwrap_err().kind(), ErrorKind::Truncated { .. }));
        let few = Limits::default().with_entries(2);
        assert!(matches!(
            parse(&file, &few).unwrap_err().kind(),
            ErrorKind::TooMany { count: 3, limit: 2, .. }
        ));
        let mut wrapped = file;
        set(&mut wrapped, 32 + 8, u64::MAX);
        assert!(parse(&wrapped, &Limits::default()).is_err());
    }

    #[test]
    fn what_readers_refuse_is_not_written() {
        let twice = [BundleImage { id: "host-x86_64-unknown-linux-gnu-", bytes: b"" }; 2];
        assert!(matches!(write(&twice, 1).unwrap_err().kind(), ErrorKind::Text { offset: 1, .. }));
        let newline = BundleImage { id: "hip-amdgcn-amd-amdhsa--gfx90a\n", bytes: b"" };
        assert!(write(&[newline], 1).is_err());
        assert!(write(&twice[..1], 3).is_err());
        let ids: Vec<String> = (0..80).map(|n| format!("hipv4-amdgcn-amd-amdhsa--gfx{n}")).collect();
        let images: Vec<_> = ids.iter().map(|id| BundleImage { id, bytes: b"" }).collect();
        assert!(matches!(write(&images, 1).unwrap_err().kind(), ErrorKind::TooLarge { limit: 4096, .. }));
    }

    #[test]
    fn the_file_reaches_to_an_empty_last_image() {
        let images = [
            BundleImage { id: "host-x86_64-unknown-linux-gnu-", bytes: b"x" },
            BundleImage { id: "hip-spirv64----", bytes: b"" },
        ];
        let file = write(&images, 4096).unwrap();
        assert_eq!(file.len(), 8192);
        assert_eq!(parse(&file, &Limits::default()).unwrap().entries[1].offset, 8192);
    }
}
