//! How large containers say that they are.

use super::kind::FileKind;
use offload_format::bytes;
use offload_format::pack::Pack;

const WHAT: &str = "the container";
/// A bundle has an entry for each architecture; more of them are not walked again for each pointer to it.
const MOST_ENTRIES: u64 = 1024;

/// The recorded size of the container at the start of `rest`, if it records one that fits.
///
/// Stricter than [`FileKind::detect`]: it decides whether bytes in the middle of a file are a container.
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
    let (size, entries) = (u64_at(rest, 8)?, u64_at(rest, 16)?);
    ((1..=3).contains(&version) && entries >= header && size >= header && entries <= size).then_some(size)
}

/// Without an envelope: header, records of 32 bytes, metadata, binaries.
fn syclbin(rest: &[u8]) -> Option<u64> {
    let count = |offset| bytes::u32_at(rest, offset, WHAT).ok().map(u64::from);
    let records = count(8)?.checked_add(count(12)?)?.checked_add(count(16)?)?;
    let tables = records.checked_mul(32)?.checked_add(56)?.checked_add(u64_at(rest, 24)?)?;
    tables.checked_next_multiple_of(8)?.checked_add(u64_at(rest, 32)?).filter(|_| count(4) <= Some(1))
}

/// Versions 2 and 3 record it; version 1 does not.
fn compressed(rest: &[u8]) -> Option<u64> {
    let (version, method) = (bytes::u16_at(rest, 4, WHAT).ok()?, bytes::u16_at(rest, 6, WHAT).ok()?);
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
    let mut at = 32u64;
    let mut end = 0u64;
    for _ in 0..Some(count).filter(|count| (1..=MOST_ENTRIES).contains(count))? {
        let (offset, size, name) =
            (u64_at(rest, at)?, u64_at(rest, at.checked_add(8)?)?, u64_at(rest, at.checked_add(16)?)?);
        at = at.checked_add(24)?.checked_add(name)?;
        end = end.max(offset.checked_add(size)?).max(at);
    }
    Some(end)
}

fn fatbin(rest: &[u8]) -> Option<u64> {
    let known = bytes::u16_at(rest, 4, WHAT) == Ok(1) && bytes::u16_at(rest, 6, WHAT) == Ok(16);
    // One without entries holds nothing.
    u64_at(rest, 8)?.checked_add(16).filter(|size| known && *size > 16)
}

fn u64_at(rest: &[u8], offset: u64) -> Option<u64> {
    bytes::u64_at(rest, offset, WHAT).ok()
}
