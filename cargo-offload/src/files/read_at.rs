//! Reading a part of a file, without the place of the file, which is one for all threads.

use std::fs::File;
use std::io::{self, Read, Write};

/// What is copied at once: larger pieces take memory and are no faster.
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
    At { file, offset }.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Fills `bytes` with those of `file` from `offset` on.
pub(crate) fn read_into(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    At { file, offset }.read_exact(bytes)
}

/// Appends `part` of `file` to `to`, which ends at a page.
///
/// Where pages come to lie on pages, as those of images in HIP's bundles do, the kernel copies, or shares the blocks.
/// Elsewhere it would write the two parts of each page one after the other, which takes longer than a copy more.
pub(crate) fn copy_at(file: &File, part: FilePart, to: &mut File) -> io::Result<()> {
    let copied = if part.offset.is_multiple_of(PAGE) { by_kernel(file, part, to) } else { 0 };
    let (offset, size) = (part.offset.saturating_add(copied), part.size.saturating_sub(copied));
    let mut to = io::BufWriter::with_capacity(BUFFER, to);
    let copied = io::copy(&mut At { file, offset }.take(size), &mut to)?;
    to.flush()?;
    if copied == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// How much of it the kernel has copied: not every file system can, and what is wrong shows again where it is written.
#[cfg(target_os = "linux")]
fn by_kernel(file: &File, part: FilePart, to: &File) -> u64 {
    let (mut at, end) = (part.offset, part.offset.saturating_add(part.size));
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
