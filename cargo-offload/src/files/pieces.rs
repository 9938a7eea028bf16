//! File content as a list of pieces, written with bounded memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

/// A run of bytes.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// These.
    Bytes(Vec<u8>),
    /// So many zeros.
    Zeros(u64),
    /// A part of a file.
    Copy { from: Arc<File>, offset: u64, size: u64 },
}

impl Piece {
    /// Its size in bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::Zeros(size) | Piece::Copy { size, .. } => *size,
        }
    }

    /// Appends the bytes to `out`; the kernel copies between files where it can.
    pub(crate) fn write_to(&self, out: &mut File) -> io::Result<()> {
        let (copied, size) = match self {
            Piece::Bytes(bytes) => return out.write_all(bytes),
            Piece::Zeros(size) => (io::copy(&mut io::repeat(0).take(*size), out)?, *size),
            Piece::Copy { from, offset, size } => {
                let mut from: &File = from;
                from.seek(SeekFrom::Start(*offset))?;
                (io::copy(&mut from.take(*size), out)?, *size)
            }
        };
        if copied == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// The size of `pieces` one after another; `None` if it passes 64 bits.
pub(crate) fn total(pieces: &[Piece]) -> Option<u64> {
    pieces.iter().try_fold(0u64, |sum, piece| sum.checked_add(piece.size()))
}
