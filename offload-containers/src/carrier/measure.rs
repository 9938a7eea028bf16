//! Recorded sizes of containers.

use super::kind::FileKind;
use offload_format::bytes;
use offload_format::pack::Pack;

const WHAT: &str = "the container";
/// The number of bundle entries that are walked for each pointer to it: a bundle has one for each architecture.
const MAX_ENTRIES: u64 = 1024;

/// The recorded size of the container at the start of `rest`, if it has one that fits.
///
/// Stricter than [`FileKind::detect`], because it also identifies containers in the middle of a file.
pub(super) fn size(kind: FileKind, rest: &[u8]) -> Option<u64> {
    let size = match kind {
        FileKind::Pack => {
            Pack::sizes(rest).ok()?;
            u64_at(rest, 16)?
        }
        FileKind::Syclbin if rest.starts_with(b"IBYS") => syclbin(rest)?,
        FileKind::OffloadBinary | FileKind::Syclbin => offload_binary(rest)?,
        FileKind::CompressedBundle => compressed(rest)?,
        FileKind::ClangBundle => bundle(rest)?,
        FileKind::CudaFatbin => fatbin(rest)?,
        _ => return None,
    };
    (size > 0 && size <= rest.len() as u64).then_some(size)
}

fn offload_binary(rest: &[u8]) -> Option<u64> {
    let version = bytes::u32_at(rest, 4, WHAT).ok()?;
    let header = if version < 3 { 32 } else { 40 };
    let size = u64_at(rest, 8)?;
    let entries = u64_at(rest, 16)?;
    ((1..=3).contains(&version) && entries >= header && size >= header && entries <= size).then_some(size)
}

/// Without an envelope: header, records of 32 bytes, metadata, binaries.
fn syclbin(rest: &[u8]) -> Option<u64> {
    let version = bytes::u32_at(rest, 4, WHAT).ok()?;
    if version > 1 {
        return None;
    }
    let mut records = 0u64;
    for offset in [8, 12, 16] {
        records = records.checked_add(bytes::u32_at(rest, offset, WHAT).ok()?.into())?;
    }
    let tables = records.checked_mul(32)?.checked_add(56)?.checked_add(u64_at(rest, 24)?)?;
    tables.checked_next_multiple_of(8)?.checked_add(u64_at(rest, 32)?)
}

/// Versions 2 and 3 record it; version 1 does not.
fn compressed(rest: &[u8]) -> Option<u64> {
    let version = bytes::u16_at(rest, 4, WHAT).ok()?;
    let method = bytes::u16_at(rest, 6, WHAT).ok()?;
    let (size, header) = match version {
        2 => (u64::from(bytes::u32_at(rest, 8, WHAT).ok()?), 24),
        3 => (u64_at(rest, 8)?, 32),
        _ => return None,
    };
    (method <= 1 && size > header).then_some(size)
}

/// The end of the last code object.
fn bundle(rest: &[u8]) -> Option<u64> {
    let count = u64_at(rest, 24)?;
    if !(1..=MAX_ENTRIES).contains(&count) {
        return None;
    }
    let mut at = 32u64;
    let mut end = 0u64;
    for _ in 0..count {
        let offset = u64_at(rest, at)?;
        let size = u64_at(rest, at.checked_add(8)?)?;
        let name_size = u64_at(rest, at.checked_add(16)?)?;
        at = at.checked_add(24)?.checked_add(name_size)?;
        end = end.max(offset.checked_add(size)?).max(at);
    }
    Some(end)
}

fn fatbin(rest: &[u8]) -> Option<u64> {
    let is_known = bytes::u16_at(rest, 4, WHAT) == Ok(1) && bytes::u16_at(rest, 6, WHAT) == Ok(16);
    let size = u64_at(rest, 8)?.checked_add(16)?;
    // A fatbin without entries has no image.
    (is_known && size > 16).then_some(size)
}

fn u64_at(rest: &[u8], offset: u64) -> Option<u64> {
    bytes::u64_at(rest, offset, WHAT).ok()
}
