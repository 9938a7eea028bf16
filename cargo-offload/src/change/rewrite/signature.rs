//! The ad-hoc signature of a Mach-O file, which has hashes of its pages
//! (<https://github.com/apple-oss-distributions/xnu/blob/main/osfmk/kern/cs_blobs.h>).
//!
//! Linkers write one into programs for Apple's processors, and so does `codesign --sign -`. It has no certificate and needs
//! no key: it is made again for the changed file. Other signatures are refused.

use std::fs::File;
use std::io;

use offload_format::bytes::range;
use sha2::{Digest, Sha256};

use crate::files::read_at::read_at;

/// `CSMAGIC_EMBEDDED_SIGNATURE`.
const SIGNATURE: u32 = 0xfade_0cc0;
/// `CSMAGIC_CODEDIRECTORY`.
const DIRECTORY: u32 = 0xfade_0c02;
/// `CS_ADHOC`.
const AD_HOC: u32 = 2;
/// `CS_HASHTYPE_SHA256`.
const SHA_256: u8 = 2;
const HASH_SIZE: u64 = 32;
/// Offsets in the directory of hashes.
const HASHES: u64 = 16;
const SLOTS: u64 = 28;
const LIMIT: u64 = 32;
/// Above this, the limit is in a field of 64 bits.
const MOST: u64 = u32::MAX as u64;

/// A signature for a file of another size, but for its hashes.
#[derive(Debug)]
pub(super) struct NewSignature {
    pub(super) bytes: Vec<u8>,
    pub(super) hashes: PageHashes,
}

/// The hashes of the pages before a signature.
#[derive(Debug)]
pub(super) struct PageHashes {
    /// Where they stand in the file.
    pub(super) offset: u64,
    /// How much of the file is hashed.
    limit: u64,
    page: u64,
}

impl PageHashes {
    /// The hashes of `file`.
    pub(super) fn compute(&self, file: &File) -> io::Result<Vec<u8>> {
        let mut hashes = Vec::new();
        let mut at = 0;
        while at < self.limit {
            let size = self.limit.saturating_sub(at).min(self.page);
            hashes.extend(Sha256::digest(read_at(file, at, size)?));
            at = at.saturating_add(size);
        }
        Ok(hashes)
    }
}

/// The signature `old`, for a file whose signature begins at `limit`; `None` if it is another one than an ad-hoc signature
/// with one directory of SHA-256.
pub(super) fn renew(old: &[u8], limit: u64) -> Option<NewSignature> {
    /// Type of the blob with the certificates.
    const CERTIFICATES: u32 = 0x1_0000;
    let mut new = Vec::new();
    let mut hashes = None;
    let mut index = Vec::new();
    let count = number(old, 8)?;
    let end_of_index = 12u64.checked_add(u64::from(count).checked_mul(8)?)?;
    // The first blob follows the index, aligned.
    let start = u64::from(number(old, 16)?);
    if number(old, 0)? != SIGNATURE || !(end_of_index..=old.len() as u64).contains(&start) {
        return None;
    }
    for entry in 0..u64::from(count) {
        let entry = entry.checked_mul(8)?.checked_add(12)?;
        let kind = number(old, entry)?;
        let blob = blob(old, u64::from(number(old, entry.checked_add(4)?)?))?;
        let offset = start.checked_add(new.len() as u64)?;
        index.extend(kind.to_be_bytes());
        index.extend(u32::try_from(offset).ok()?.to_be_bytes());
        if number(blob, 0)? == DIRECTORY {
            let directory = renew_directory(blob, limit)?;
            let place = limit.checked_add(offset)?.checked_add(directory.hashes.offset)?;
            if hashes.replace(PageHashes { offset: place, ..directory.hashes }).is_some() {
                return None;
            }
            new.extend(directory.bytes);
        } else if kind == CERTIFICATES && blob.len() > 8 {
            return None;
        } else {
            new.extend(blob);
        }
    }
    let size = start.checked_add(new.len() as u64)?;
    let mut bytes = SIGNATURE.to_be_bytes().to_vec();
    bytes.extend(u32::try_from(size).ok()?.to_be_bytes());
    bytes.extend(count.to_be_bytes());
    bytes.extend(index);
    bytes.resize(usize::try_from(start).ok()?, 0);
    bytes.extend(new);
    // Linkers align what follows.
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    Some(NewSignature { bytes, hashes: hashes? })
}

/// A directory for a file of `limit` bytes, with room for hashes; their offset is from its start.
fn renew_directory(old: &[u8], limit: u64) -> Option<NewSignature> {
    let flags = number(old, 12)?;
    let hash_size = u64::from(*old.get(36)?);
    let page = 1u64.checked_shl(u32::from(*old.get(39)?))?;
    if flags & AD_HOC == 0 || (hash_size, *old.get(37)?) != (HASH_SIZE, SHA_256) || limit > MOST {
        return None;
    }
    let offset = u64::from(number(old, HASHES)?);
    let end = u64::from(number(old, SLOTS)?).checked_mul(HASH_SIZE)?.checked_add(offset)?;
    // The hashes come last, as in all that linkers write.
    if end != old.len() as u64 {
        return None;
    }
    let slots = limit.div_ceil(page);
    let size = slots.checked_mul(HASH_SIZE)?.checked_add(offset)?;
    let mut bytes = old.get(..usize::try_from(offset).ok()?)?.to_vec();
    bytes.resize(usize::try_from(size).ok()?, 0);
    put(&mut bytes, 4, size)?;
    put(&mut bytes, SLOTS, slots)?;
    put(&mut bytes, LIMIT, limit)?;
    Some(NewSignature { bytes, hashes: PageHashes { offset, limit, page } })
}

/// The blob at `offset`: its size follows its magic.
fn blob(bytes: &[u8], offset: u64) -> Option<&[u8]> {
    let size = u64::from(number(bytes, offset.checked_add(4)?)?);
    range(bytes, offset, size, "signature").ok()
}

/// Signatures are big-endian.
fn number(bytes: &[u8], offset: u64) -> Option<u32> {
    let bytes = range(bytes, offset, 4, "signature").ok()?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn put(bytes: &mut [u8], offset: u64, number: u64) -> Option<()> {
    let offset = usize::try_from(offset).ok()?;
    let field = bytes.get_mut(offset..offset.checked_add(4)?)?;
    field.copy_from_slice(&u32::try_from(number).ok()?.to_be_bytes());
    Some(())
}
