//! Static archives, and Mach-O files of several architectures.

use object::read::archive::ArchiveFile;
use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};

use super::search::{Position, Search};
use offload_format::{Error, bytes};

/// Bytes for one release: members are small, and each release is a system call.
const RELEASE_SIZE: u64 = 4 << 20;

/// Size of a member's header in bytes.
const MEMBER_HEADER: u64 = 60;

impl<'a> Search<'a> {
    /// Searches each member; the members of a thin archive are in other files.
    pub(super) fn archive(&mut self, archive: &'a [u8], at: Position<'a>) -> Result<(), Error> {
        const WHAT: &str = "a member of the archive";
        let read =
            ArchiveFile::parse(archive).map_err(|_| Error::truncated(WHAT, at.offset, MEMBER_HEADER))?;
        if read.is_thin() {
            return Ok(());
        }
        let mut kept = 0;
        for member in read.members() {
            let member = member.map_err(|_| Error::truncated(WHAT, at.offset, MEMBER_HEADER))?;
            let (offset, size) = member.file_range();
            if offset.saturating_sub(kept) > RELEASE_SIZE {
                self.release(archive, kept, offset);
                kept = offset;
            }
            let inner = self.inner(at, offset, Some(member.name()))?;
            let bytes = bytes::range(archive, offset, size, WHAT)?;
            self.member(bytes, inner)?;
        }
        self.release(archive, kept, archive.len() as u64);
        Ok(())
    }

    /// Releases the memory of searched bytes.
    fn release(&self, archive: &[u8], start: u64, end: u64) {
        let searched = bytes::range(archive, start, end.saturating_sub(start), "the archive");
        if let (Some(memory), Ok(searched)) = (self.memory, searched) {
            memory.release(searched);
        }
    }

    /// Searches each architecture.
    pub(super) fn universal(&mut self, file: &'a [u8], at: Position<'a>) -> Result<(), Error> {
        let mut ranges = Vec::new();
        if let Ok(fat) = MachOFatFile32::parse(file) {
            ranges.extend(fat.arches().iter().map(FatArch::file_range));
        } else if let Ok(fat) = MachOFatFile64::parse(file) {
            ranges.extend(fat.arches().iter().map(FatArch::file_range));
        }
        for (offset, size) in ranges {
            let bytes = bytes::range(file, offset, size, "an architecture of the Mach-O file")?;
            let inner = self.inner(at, offset, None)?;
            self.any(bytes, inner)?;
        }
        Ok(())
    }

    /// Searches a member. A truncated object must not hide the other members.
    fn member(&mut self, bytes: &'a [u8], at: Position<'a>) -> Result<(), Error> {
        match self.any(bytes, at) {
            Err(error) if matches!(error.kind(), offload_format::ErrorKind::Truncated { .. }) => Ok(()),
            other => other,
        }
    }
}
