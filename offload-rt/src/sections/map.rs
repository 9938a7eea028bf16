//! A file in memory; the system reads the pages that are touched.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;

/// A file mapped for reading.
pub(super) struct Mapping {
    start: NonNull<u8>,
    size: usize,
}

impl Mapping {
    /// Maps all of `path`, which must not be empty. Who shortens the file while it is mapped ends the program, as with
    /// the program's own file.
    pub(super) fn open(path: &Path) -> io::Result<Mapping> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let size = usize::try_from(size).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let (access, kind) = (libc::PROT_READ, libc::MAP_PRIVATE);
        // SAFETY: the system chooses the place of a new mapping; no memory of the program changes.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, access, kind, file.as_raw_fd(), 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Mapping { start, size }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The file's bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping of that size is readable and stays until the value is dropped; it is private, and nothing
        // of this program writes to it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and the slices of it borrow the value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}

// SAFETY: the memory is only read, and it is not bound to a thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_through_its_mapping() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, b"content").unwrap();
        assert_eq!(Mapping::open(&path).unwrap().bytes(), b"content");
        std::fs::write(&path, b"").unwrap();
        assert!(Mapping::open(&path).is_err());
        assert!(Mapping::open(&dir.path().join("none")).is_err());
    }
}
