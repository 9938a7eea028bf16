//! Members of a zip archive that are of interest by how they start: the libraries in a Python wheel, or kernels as files.
//!
//! Each is inflated into a temporary file, one at a time. A member is as large as its record says, or it is damaged.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use offload_format::Limits;
use offload_format::limits::Budget;
use rawzip::{CompressionMethod, ZipSliceArchive, ZipSliceEntry};

use crate::error::{Error, Result};
use crate::files::mapping::Mapped;
use crate::print::text::escaped;
use crate::read::inflater::Inflater;
use crate::read::pack_file::told;

/// How an archive starts that has a member
/// (<https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, 4.3.7).
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";
/// What of a member tells its kind.
pub(crate) const HEAD: u64 = 4096;

/// An archive.
#[derive(Debug)]
pub(crate) struct Zip {
    path: PathBuf,
    file: Mapped,
    limits: Limits,
}

/// Whether what starts so is of interest.
pub(crate) type IsWanted = fn(&[u8]) -> bool;

/// What is called with the name of each member, and with a file of its bytes or why there is none.
pub(crate) type VisitMember<'v> = dyn FnMut(&str, Result<&Path>) -> Result<()> + 'v;

impl Zip {
    /// Opens `path`; `None` if it is no zip archive.
    pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Option<Zip>> {
        let file = Mapped::open(path)?;
        let is_zip = file.starts_with(MAGIC);
        Ok(is_zip.then(|| Zip { path: path.to_path_buf(), file, limits: *limits }))
    }

    /// Inflates one after another the members whose start `is_wanted`.
    ///
    /// # Errors
    /// Those of `visit`; the list of members is damaged, or nothing can be written.
    pub(crate) fn each_member(&self, is_wanted: IsWanted, visit: &mut VisitMember<'_>) -> Result<()> {
        let directory = tempfile::tempdir();
        let directory =
            directory.map_err(|error| Error::io("create", Path::new("a temporary directory"), &error))?;
        let inflated = directory.path().join("member");
        // Members may be the same bytes again.
        let allowance = self.limits.allowance(self.file.len() as u64);
        let mut budget = Budget::new("what the members of the archive inflate to", allowance);
        let archive = self.archive()?;
        for record in archive.entries() {
            let record = record.map_err(|error| self.damaged(&error))?;
            let name = String::from_utf8_lossy(record.file_path().as_bytes()).into_owned();
            let entry = archive.get_entry(record.wayfinder()).map_err(|error| self.damaged(&error))?;
            let member =
                Member { entry, method: record.compression_method(), size: record.uncompressed_size_hint() };
            match member.head() {
                Ok(head) if !is_wanted(&head) => continue,
                Ok(_) => {
                    let allowed = budget.spend(member.size).and_then(|()| member.allowed(&self.limits));
                    let written = allowed
                        .map_err(|error| told(&error))
                        .and_then(|()| member.write(&inflated).map_err(|error| error.to_string()));
                    visit(
                        &name,
                        written.map(|()| &*inflated).map_err(|problem| self.of_member(&name, &problem)),
                    )?;
                }
                Err(error) => visit(&name, Err(self.of_member(&name, &error.to_string())))?,
            }
        }
        Ok(())
    }

    fn archive(&self) -> Result<ZipSliceArchive<&[u8]>> {
        rawzip::ZipArchive::from_slice(&*self.file).map_err(|error| self.damaged(&error))
    }

    fn damaged(&self, error: &rawzip::Error) -> Error {
        Error::check(format!("`{}` is a damaged zip archive: {error}", self.path.display()))
    }

    fn of_member(&self, name: &str, problem: &str) -> Error {
        Error::check(format!("`{}` in `{}`: {problem}", escaped(name), self.path.display()))
    }
}

/// A member, and what its record says.
struct Member<'a> {
    entry: ZipSliceEntry<'a>,
    method: CompressionMethod,
    size: u64,
}

impl<'a> Member<'a> {
    fn reader(&self) -> io::Result<Box<dyn Read + 'a>> {
        match self.method {
            CompressionMethod::STORE => Ok(Box::new(self.entry.data())),
            CompressionMethod::DEFLATE => Ok(Box::new(Inflater::new(self.entry.data()))),
            other => {
                let text =
                    format!("it is compressed by method {}, and only deflate is known", other.as_u16());
                Err(io::Error::new(io::ErrorKind::Unsupported, text))
            }
        }
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        if self.size > 0 {
            self.reader()?.take(HEAD).read_to_end(&mut head)?;
        }
        Ok(head)
    }

    fn allowed(&self, limits: &Limits) -> std::result::Result<(), offload_format::Error> {
        limits.inflated("a member of the archive", self.size, self.entry.data().len() as u64).map(drop)
    }

    /// Writes its bytes to `path`.
    fn write(&self, path: &Path) -> io::Result<()> {
        // What comes after the size that is recorded is not read: the check sum fails then.
        let mut reader = self.entry.verifying_reader(self.reader()?.take(self.size.saturating_add(1)));
        io::copy(&mut reader, &mut File::create(path)?).map(drop)
    }
}
