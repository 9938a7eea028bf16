//! Reader for the crate `object` that keeps the I/O error, of which `object` reports only the fact.

use std::cell::RefCell;
use std::fs::File;
use std::io;

use object::read::{ReadCache, ReadCacheOps};

use super::read_at::read_into;

/// Reader of a file for `object`.
pub(crate) type ObjectFile<'f> = ReadCache<Reader<'f>>;

/// Runs `look` on `file`, and returns its result.
///
/// # Errors
/// The system could not read something that `look` asked for: what it found is not all.
pub(crate) fn examine<T>(file: &File, look: impl FnOnce(&ObjectFile<'_>) -> T) -> io::Result<T> {
    let failure = RefCell::new(None);
    let size = file.metadata()?.len();
    let found = look(&ReadCache::new(Reader { file, size, offset: 0, failure: &failure }));
    failure.into_inner().map_or(Ok(found), Err)
}

/// A file that remembers the first error of the system.
#[derive(Debug)]
pub(crate) struct Reader<'f> {
    file: &'f File,
    size: u64,
    offset: u64,
    failure: &'f RefCell<Option<io::Error>>,
}

impl ReadCacheOps for Reader<'_> {
    fn len(&mut self) -> Result<u64, ()> {
        Ok(self.size)
    }

    fn seek(&mut self, offset: u64) -> Result<u64, ()> {
        self.offset = offset;
        Ok(offset)
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, ()> {
        let left = self.size.saturating_sub(self.offset);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        self.read_exact(bytes.get_mut(..count).ok_or(())?)?;
        Ok(count)
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<(), ()> {
        let outcome = read_into(self.file, self.offset, bytes);
        self.offset = self.offset.saturating_add(bytes.len() as u64);
        outcome.map_err(|error| {
            // A file that is too short is what the caller has to judge.
            if error.kind() != io::ErrorKind::UnexpectedEof {
                self.failure.borrow_mut().get_or_insert(error);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use object::read::ReadRef;

    use super::*;

    #[test]
    fn what_the_system_cannot_read_is_an_error_and_a_short_file_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, b"0123456789").unwrap();
        let file = File::open(&path).unwrap();
        let read =
            |file: &File, size| examine(file, |cache| cache.read_bytes_at(2, size).map(<[u8]>::to_vec));
        assert_eq!(read(&file, 8).unwrap().unwrap(), b"23456789");
        assert!(read(&file, 9).unwrap().is_err());
        // A file that is open for writing alone cannot be read.
        let write_only = File::options().write(true).open(&path).unwrap();
        assert!(read(&write_only, 8).is_err());
    }
}
