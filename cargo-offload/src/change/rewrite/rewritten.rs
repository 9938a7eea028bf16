//! Rewritten program, ready for output.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use crate::files::pieces::Piece;

/// Its bytes.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(super) pieces: Vec<Piece>,
    pub(super) patches: Vec<Patch>,
    /// The identities of its packs.
    pub(super) ids: BTreeSet<[u8; 16]>,
    /// Offset of the checksum of a PE file that has one.
    pub(super) checksum: Option<u64>,
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
