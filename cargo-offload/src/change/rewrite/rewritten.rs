//! Rewritten program, ready for output.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use super::pe_checksum;
use super::signature::PageHashes;
use crate::files::pieces::Piece;

/// Its bytes.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(super) pieces: Vec<Piece>,
    pub(super) patches: Vec<Patch>,
    /// The identities of its packs.
    pub(super) ids: BTreeSet<[u8; 16]>,
    /// What is computed of the whole file.
    pub(super) seal: Option<Seal>,
}

/// Bytes that are computed of all others.
#[derive(Debug)]
pub(super) enum Seal {
    /// The checksum of a PE file, whose field is at this offset.
    Checksum(u64),
    /// The hashes in the signature of a Mach-O file.
    PageHashes(PageHashes),
}

impl Seal {
    /// The bytes for the file as it is `written` without them.
    pub(super) fn patch(&self, written: &File) -> io::Result<Patch> {
        match self {
            Seal::Checksum(offset) => {
                let sum = pe_checksum::checksum(written, *offset)?;
                Ok(Patch { offset: *offset, bytes: sum.to_le_bytes().to_vec() })
            }
            Seal::PageHashes(hashes) => Ok(Patch { offset: hashes.offset, bytes: hashes.compute(written)? }),
        }
    }
}

/// Bytes in place of others.
#[derive(Debug)]
pub(super) struct Patch {
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

impl Rewritten {
    /// Writes the whole file into `out`, which is empty.
    pub(super) fn write_to(&self, out: &mut File) -> io::Result<()> {
        self.pieces.iter().try_for_each(|piece| piece.write_to(out))?;
        self.patches.iter().try_for_each(|patch| patch.write_to(out))
    }
}

impl Patch {
    pub(super) fn write_to(&self, out: &mut File) -> io::Result<()> {
        out.seek(SeekFrom::Start(self.offset))?;
        out.write_all(&self.bytes)
    }
}
