//! Members of a zip archive that are of interest by how they start: the libraries in a Python wheel, or kernels as files.
//!
//! They are inflated into temporary files, a few at a time. A member is as large as its record says, or it is damaged.

use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use offload_format::Limits;
use offload_format::limits::Budget;
use offload_format::packer::Workers as _;
use rawzip::{CompressionMethod, ZipSliceArchive, ZipSliceEntry, ZipVerification};
use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::files::mapping::Mapped;
use crate::print::text::escaped;
use crate::read::pack_file::told;
use crate::threads::Threads;

/// How an archive starts that has a member
/// (<https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, 4.3.7).
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";
/// What of a member tells its kind.
pub(crate) const HEAD: u64 = 4096;
/// So many members are inflated, by all cores, before they are looked at: they are on the disk together.
const AT_ONCE: usize = 8;
/// So many bytes are inflated at once: more than that no longer fit into a processor's second cache.
const BLOCK: usize = 1 << 17;

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

    /// Calls `visit` with the members whose start `is_wanted`, in their order.
    ///
    /// # Errors
    /// Those of `visit`; the list of members is damaged.
    pub(crate) fn each_member(&self, is_wanted: IsWanted, visit: &mut VisitMember<'_>) -> Result<()> {
        let archive = self.archive()?;
        let members = self.members(&archive, is_wanted)?;
        // Members may be the same bytes again.
        let allowance = self.limits.allowance(self.file.len() as u64);
        let mut budget = Budget::new("what the members of the archive inflate to", allowance);
        for members in members.chunks(AT_ONCE) {
            let files = self.inflate(members, &mut budget);
            for (Member { name, .. }, file) in members.iter().zip(files) {
                let file = file.into_inner().unwrap_or_else(|| Err("it was not inflated".to_owned()));
                let file = file.as_ref().map(NamedTempFile::path);
                visit(name, file.map_err(|problem| self.of_member(name, problem)))?;
            }
        }
        Ok(())
    }

    /// The members that are wanted, and those whose start cannot be read: to inflate them fails.
    fn members<'z>(
        &self,
        archive: &'z ZipSliceArchive<&'z [u8]>,
        is_wanted: IsWanted,
    ) -> Result<Vec<Member<'z>>> {
        let mut members = Vec::new();
        for record in archive.entries() {
            let record = record.map_err(|error| self.damaged(&error))?;
            let name = String::from_utf8_lossy(record.file_path().as_bytes()).into_owned();
            let entry = archive.get_entry(record.wayfinder()).map_err(|error| self.damaged(&error))?;
            let member = Member {
                name,
                entry,
                method: record.compression_method(),
                size: record.uncompressed_size_hint(),
            };
            if member.head().map_or(true, |head| is_wanted(&head)) {
                members.push(member);
            }
        }
        Ok(members)
    }

    /// A file of each member, or why there is none.
    fn inflate(&self, members: &[Member<'_>], budget: &mut Budget) -> Vec<OnceLock<Inflated>> {
        let mut allowed = |member: &Member<'_>| {
            let allowed = budget.spend(member.size).and_then(|()| member.allowed(&self.limits));
            allowed.map_or_else(|error| OnceLock::from(Err(told(&error))), |()| OnceLock::new())
        };
        let files: Vec<OnceLock<Inflated>> = members.iter().map(&mut allowed).collect();
        Threads.each(members.len(), &|number| {
            if let (Some(member), Some(file)) = (members.get(number), files.get(number)) {
                file.get_or_init(|| member.inflate().map_err(|error| error.to_string()));
            }
        });
        files
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

/// A member's file, or why there is none.
type Inflated = std::result::Result<NamedTempFile, String>;

/// A member, and what its record says.
struct Member<'a> {
    name: String,
    entry: ZipSliceEntry<'a>,
    method: CompressionMethod,
    size: u64,
}

impl<'a> Member<'a> {
    fn reader(&self) -> io::Result<Box<dyn Read + 'a>> {
        match self.method {
            CompressionMethod::STORE => Ok(Box::new(self.entry.data())),
            CompressionMethod::DEFLATE => Ok(Box::new(DeflateDecoder::new(self.entry.data()))),
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

    fn inflate(&self) -> io::Result<NamedTempFile> {
        let mut file = NamedTempFile::new()?;
        // What comes after the size that is recorded is not read: the size differs then.
        let mut reader = CrcReader::new(self.reader()?.take(self.size.saturating_add(1)));
        let mut writer = BufWriter::with_capacity(BLOCK, &mut file);
        let uncompressed_size = io::copy(&mut reader, &mut writer)?;
        writer.flush()?;
        drop(writer);
        let found = ZipVerification { crc: reader.crc().sum(), uncompressed_size };
        self.entry.claim_verifier().valid(found).map_err(io::Error::other)?;
        Ok(file)
    }
}
