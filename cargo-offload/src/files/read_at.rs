//! Positioned reads, which are independent of the file offset that threads share.

use std::fs::File;
use std::io::{self, Read, Write};

/// Size of the copy buffer: a larger one is not faster.
const BUFFER: usize = 64 << 10;
const PAGE: u64 = 4096;

/// A run of bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilePart {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// `size` bytes of `file` from `offset` on.
pub(crate) fn read_at(file: &File, offset: u64, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    PositionedReader { file, offset }.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Fills `bytes` with those of `file` from `offset` on.
pub(crate) fn read_into(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    PositionedReader { file, offset }.read_exact(bytes)
}

/// Appends `part` of `file` to `to`, which ends at a page.
///
/// If source and destination have the same page alignment, as images in HIP bundles do, the kernel copies or shares
/// blocks.
/// Elsewhere it would write the two parts of each page one after the other, which takes longer than a copy more.
pub(crate) fn copy_at(file: &File, part: FilePart, to: &mut File) -> io::Result<()> {
    let copied = if part.offset.is_multiple_of(PAGE) { by_kernel(file, part, to) } else { 0 };
    let offset = part.offset.saturating_add(copied);
    let size = part.size.saturating_sub(copied);
    let mut to = io::BufWriter::with_capacity(BUFFER, to);
    let copied = io::copy(&mut PositionedReader { file, offset }.take(size), &mut to)?;
    to.flush()?;
    if copied == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The number of bytes that the kernel copied. Errors are ignored, because the fallback meets them again.
#[cfg(target_os = "linux")]
fn by_kernel(file: &File, part: FilePart, to: &File) -> u64 {
    let mut at = part.offset;
    let end = part.offset.saturating_add(part.size);
    while at < end {
        let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        match rustix::fs::copy_file_range(file, Some(&mut at), to, None, left) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    at.saturating_sub(part.offset)
}

#[cfg(not(target_os = "linux"))]
fn by_kernel(_: &File, _: FilePart, _: &File) -> u64 {
    0
}

/// A file from `offset` on.
struct PositionedReader<'f> {
    file: &'f File,
    offset: u64,
}

impl Read for PositionedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.offset)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.offset)?;
        self.offset = self.offset.saturating_add(count as u64);
        Ok(count)
    }
}
