//! Files of several files: static archives, and Mach-O files of several architectures.

use object::read::archive::ArchiveFile;
use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};

use super::search::{At, Search};
use offload_format::{Error, bytes};

impl<'a> Search<'a> {
    /// Each member; those of a thin archive are in other files.
    pub(super) fn archive(&mut self, archive: &'a [u8], at: At<'a>) -> Result<(), Error> {
        const WHAT: &str = "a member of the archive";
        let malformed = |_| Error::truncated(WHAT, at.offset, 60);
        let read = ArchiveFile::parse(archive).map_err(malformed)?;
        if read.is_thin() {
            return Ok(());
        }
        for member in read.members() {
            let member = member.map_err(malformed)?;
            let (offset, size) = member.file_range();
            let inner = self.inner(at, offset, Some(member.name()))?;
            let bytes = bytes::range(archive, offset, size, WHAT)?;
            self.member(bytes, inner)?;
        }
        Ok(())
    }

    /// Each architecture.
    pub(super) fn universal(&mut self, file: &'a [u8], at: At<'a>) -> Result<(), Error> {
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

    /// A member that only looks like an object hides no other member.
    fn member(&mut self, bytes: &'a [u8], at: At<'a>) -> Result<(), Error> {
        match self.any(bytes, at) {
            Err(error) if matches!(error.kind(), offload_format::ErrorKind::Truncated { .. }) => Ok(()),
            other => other,
        }
    }
}
