//! Reading a part of a file, without the place of the file, which is one for all threads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// What is copied at once: larger pieces take memory and are no faster.
const BUFFER: usize = 64 << 10;
const PAGE: u64 = 4096;

/// `size` bytes of `file` from `offset` on.
pub(crate) fn read_at(file: &File, offset: u64, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    At { file, offset }.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Appends `size` bytes of `file` from `offset` on to `to`, which ends at a page.
///
/// Where pages come to lie on pages, as those of images in HIP's bundles do, the kernel copies, or shares the blocks.
/// Elsewhere it would write the two parts of each page one after the other, which takes longer than a copy more.
pub(crate) fn copy_at(file: &File, (offset, size): (u64, u64), to: &mut File) -> io::Result<()> {
    let copied = if offset.is_multiple_of(PAGE) {
        let mut from = file;
        from.seek(SeekFrom::Start(offset))?;
        io::copy(&mut from.take(size), to)?
    } else {
        let mut to = io::BufWriter::with_capacity(BUFFER, to);
        let copied = io::copy(&mut At { file, offset }.take(size), &mut to)?;
        to.flush()?;
        copied
    };
    if copied == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// A file from `offset` on.
struct At<'f> {
    file: &'f File,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.offset)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.offset)?;
        self.offset = self.offset.saturating_add(count as u64);
        Ok(count)
    }
}
