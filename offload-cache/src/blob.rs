//! Blobs: cached results, whose hash is verified when they are read.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use offload_files::{Unfinished, parent};
use offload_format::{Hash128, bytes};
use offload_packer::{Pieces, read_piece};

use crate::error::{Error, LostEntry, Result};
use crate::files;
use crate::name::EntryFile;
use crate::sweep::DAY;

/// Notes that `file` is in use: once a day, so that most look-ups write nothing.
pub(crate) fn touch(file: &File) {
    let now = SystemTime::now();
    let unused =
        file.metadata().and_then(|data| data.modified()).ok().and_then(|time| now.duration_since(time).ok());
    if unused.is_some_and(|unused| unused > DAY) {
        // A cache that may only be read loses nothing but the order of eviction.
        let _ = file.set_modified(now);
    }
}

const HEADER: usize = 48;

/// A result that was there when it was looked up. Its hash and size are known without reading it, and mostly they
/// are all that is needed: of the inputs of a step that need not run, for example.
#[derive(Clone, Debug)]
pub struct Blob {
    pub(crate) path: PathBuf,
    /// The hash of the bytes.
    pub hash: Hash128,
    /// Their number.
    pub size: u64,
}

impl Blob {
    /// Looks at the header of a file. A file that was cut or is another entry's is found out here, changed bytes by
    /// reading them.
    pub(crate) fn open(entry: EntryFile) -> Option<Blob> {
        let mut head = [0; HEADER];
        let mut file = File::open(&entry.path).ok()?;
        file.read_exact(&mut head).ok()?;
        let size = bytes::u64_at(&head, 24, "blob").ok()?;
        let hash = Hash128(bytes::array(&head, 32, "blob").ok()?);
        let whole = file.metadata().ok()?.len() == size.checked_add(HEADER as u64)?;
        if head != header(&entry, size, hash) || !whole {
            return None;
        }
        touch(&file);
        Some(Blob { path: entry.path, hash, size })
    }

    pub(crate) fn write(entry: EntryFile, content: &[u8]) -> Result<Blob> {
        let hash = Hash128::digest(content);
        let size = content.len() as u64;
        files::publish(&entry.path, |out| {
            out.write_all(&header(&entry, size, hash))?;
            out.write_all(content)
        })?;
        Ok(Blob { path: entry.path, hash, size })
    }

    /// Writes what `fill` hands out, which is not known in advance and need not fit memory.
    pub(crate) fn stream<E: From<Error>>(
        entry: EntryFile,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<Blob, E> {
        let mut file = create_unfinished(&entry.path)?;
        let mut out =
            Counted { out: io::BufWriter::new(file.file()), hasher: blake3::Hasher::new(), size: 0 };
        fill(&mut out)?;
        let (hash, size) = out.finish().map_err(|error| Error::io("write", &entry.path, error))?;
        complete(file, &entry, &header(&entry, size, hash))?;
        Ok(Blob { path: entry.path, hash, size })
    }

    /// The bytes, checked.
    ///
    /// # Errors
    /// One that [`Cache::retry_lost_entries`](crate::Cache::retry_lost_entries) knows, if the blob is gone or damaged.
    pub fn read(&self) -> Result<Vec<u8>> {
        self.read_into(Vec::new())
    }

    /// The same; they are written behind what `content` has.
    ///
    /// # Errors
    /// As [`Blob::read`].
    pub fn read_into(&self, mut content: Vec<u8>) -> Result<Vec<u8>> {
        self.copy_to(&mut content).map_err(|error| self.unreadable(error))?;
        Ok(content)
    }

    /// The bytes as text, checked.
    ///
    /// # Errors
    /// As [`Blob::read`], or if they are not UTF-8.
    pub fn read_text(&self) -> Result<String> {
        String::from_utf8(self.read()?).map_err(|_| Error::not_text(&self.path))
    }

    /// The bytes piece by piece, checked when the last one has been read.
    ///
    /// # Errors
    /// As [`Blob::read`].
    pub fn pieces(&self) -> Result<BlobPieces<'_>> {
        self.open_pieces().map_err(|error| self.unreadable(error))
    }

    fn open_pieces(&self) -> io::Result<BlobPieces<'_>> {
        let mut file = File::open(&self.path).map_err(|error| self.missing(error))?;
        file.read_exact(&mut [0; HEADER]).map_err(|error| self.missing(error))?;
        Ok(BlobPieces { blob: self, file, hasher: blake3::Hasher::new(), read: 0, piece: Vec::new() })
    }

    /// Hands the bytes to `visit`, piece by piece, and checks them on the way.
    ///
    /// # Errors
    /// As [`Blob::read`], or that of `visit`.
    pub fn for_each_piece<E: From<Error>>(
        &self,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut pieces = self.pieces()?;
        loop {
            match pieces.advance().map_err(|error| self.unreadable(error))? {
                [] => return Ok(()),
                piece => visit(piece)?,
            }
        }
    }

    /// Copies the bytes to `out`, without holding them in memory, and checks them on the way.
    ///
    /// # Errors
    /// That of `out`, or one that carries a [`LostEntry`].
    pub fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut pieces = self.open_pieces()?;
        loop {
            match pieces.advance()? {
                [] => return Ok(()),
                piece => out.write_all(piece)?,
            }
        }
    }

    /// Removes the file; the error is that of an entry that is gone.
    pub(crate) fn discard(&self) -> Error {
        self.unreadable(self.lost())
    }

    fn unreadable(&self, error: io::Error) -> Error {
        Error::io("read", &self.path, error)
    }

    /// Not every failure says something about the file: there may be too many open ones.
    fn missing(&self, error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => self.lost(),
            _ => error,
        }
    }

    /// Removes what is left of the file, so that the next look-up misses it.
    fn lost(&self) -> io::Error {
        let _ = std::fs::remove_file(&self.path);
        io::Error::other(LostEntry(self.path.clone()))
    }
}

/// What is before the bytes: magic, key, size and hash.
fn header(entry: &EntryFile, size: u64, hash: Hash128) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let parts =
        entry.kind.magic().into_iter().chain(entry.key.bytes()).chain(size.to_le_bytes()).chain(hash.0);
    header.iter_mut().zip(parts).for_each(|(to, byte)| *to = byte);
    header
}

/// The bytes of a blob on their way.
#[derive(Debug)]
pub struct BlobPieces<'b> {
    blob: &'b Blob,
    file: File,
    hasher: blake3::Hasher,
    read: u64,
    piece: Vec<u8>,
}

impl BlobPieces<'_> {
    fn advance(&mut self) -> io::Result<&[u8]> {
        read_piece(&mut self.file, &mut self.piece)?;
        self.hasher.update(&self.piece);
        self.read = self.read.saturating_add(self.piece.len() as u64);
        if self.piece.is_empty() {
            let mut hash = Hash128([0; 16]);
            self.hasher.finalize_xof().fill(&mut hash.0);
            if hash != self.blob.hash || self.read != self.blob.size {
                return Err(self.blob.lost());
            }
        }
        Ok(&self.piece)
    }
}

impl<E: From<Error>> Pieces<E> for BlobPieces<'_> {
    fn next(&mut self) -> Result<&[u8], E> {
        let blob = self.blob;
        self.advance().map_err(|error| blob.unreadable(error).into())
    }
}

/// A file with room for the header.
fn create_unfinished(path: &Path) -> Result<Unfinished> {
    let created = Unfinished::new(parent(path)).and_then(|mut file| {
        file.file().write_all(&[0; HEADER])?;
        Ok(file)
    });
    created.map_err(|error| Error::io("write", path, error))
}

/// Writes the header, and moves the file into place.
fn complete(mut file: Unfinished, entry: &EntryFile, header: &[u8]) -> Result<()> {
    let mut write_header = || {
        file.file().rewind()?;
        file.file().write_all(header)
    };
    let written = write_header().and_then(|()| file.persist(&entry.path));
    written.map_err(|error| Error::io("write", &entry.path, error))
}

/// Hashes and counts what goes through.
struct Counted<W> {
    out: W,
    hasher: blake3::Hasher,
    size: u64,
}

impl<W: Write> Counted<W> {
    /// The hash and the number of all bytes, which are written.
    fn finish(mut self) -> io::Result<(Hash128, u64)> {
        self.out.flush()?;
        let mut hash = Hash128([0; 16]);
        self.hasher.finalize_xof().fill(&mut hash.0);
        Ok((hash, self.size))
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        self.hasher.update(bytes);
        self.size = self.size.saturating_add(bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
