//! The files below a path that may carry images: those of a directory, and the members of archives, however archives lie in
//! one another: wheels and other zip archives, and tar archives as layers of containers are, compressed or not.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::Path;
use std::rc::Rc;

use lzma_rust2::XzReader;
use offload_containers::carrier::FileKind;
use offload_format::Limits;
use offload_format::limits::Budget;

use crate::error::{Error, Result};
use crate::files::mapping::Mapped;
use crate::read::gzip::{self, Gzip};
use crate::read::pack_file::told;
use crate::read::zip::{self, Zip};

/// What is called with the name of each file, and with a file of its bytes or why there is none.
pub(crate) type VisitFile<'v> = dyn FnMut(&str, Result<&Path>) -> Result<()> + 'v;

/// Archives in archives in archives: a container's layer has a wheel in a cache.
const DEPTH: u32 = 4;
const INFLATED: &str = "what the archive inflates to";

/// Calls `visit` with each file in `path` that starts as programs, libraries, containers or images do, in the order of their
/// names or of the archive. A path that is no directory and no archive is a file itself, however it starts.
///
/// # Errors
/// Those of `visit`; a directory cannot be read, a list of members is damaged, or nothing can be written.
pub(crate) fn each(path: &Path, limits: &Limits, visit: &mut VisitFile<'_>) -> Result<()> {
    let shown = path.display().to_string();
    let nothing = Rc::new(RefCell::new(Budget::new(INFLATED, 0)));
    let mut walk = Walk { limits, visit, budget: nothing };
    let place = Place { shown: &shown, depth: 0 };
    if path.is_dir() { walk.directory(path, place) } else { walk.file(path, place) }
}

/// What archives are, by their first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Archive {
    Zip,
    Tar,
    Gzip,
    Zstd,
    Xz,
}

impl Archive {
    /// <https://www.rfc-editor.org/rfc/rfc1952>, <https://www.rfc-editor.org/rfc/rfc8878>, <https://tukaani.org/xz/xz-file-format.txt>
    /// and `ustar` of <https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html>.
    fn detect(head: &[u8]) -> Option<Archive> {
        let is_tar = head.get(257..262) == Some(b"ustar");
        let magics: [(&[u8], Archive); 4] = [
            (zip::MAGIC, Archive::Zip),
            (gzip::MAGIC, Archive::Gzip),
            (b"\x28\xb5\x2f\xfd", Archive::Zstd),
            (b"\xfd7zXZ\0", Archive::Xz),
        ];
        let found = magics.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, archive)| *archive);
        found.or(is_tar.then_some(Archive::Tar))
    }
}

/// Whether what starts so may have images, or be an archive of such files.
fn is_wanted(head: &[u8]) -> bool {
    Archive::detect(head).is_some() || FileKind::detect(head).is_some()
}

/// A file's name for people, and how many archives it lies in.
#[derive(Clone, Copy)]
struct Place<'p> {
    shown: &'p str,
    depth: u32,
}

struct Walk<'w, 'v> {
    limits: &'w Limits,
    visit: &'w mut VisitFile<'v>,
    /// Of the outermost archive, and all in it: each level could inflate to as many times its size.
    budget: Rc<RefCell<Budget>>,
}

impl Walk<'_, '_> {
    /// Symbolic links are not followed: what they name is there under its own name, or is somebody else's.
    fn directory(&mut self, path: &Path, place: Place<'_>) -> Result<()> {
        let failed = |error: io::Error| Error::io("read", path, &error);
        let entries = std::fs::read_dir(path).map_err(failed)?.collect::<io::Result<Vec<_>>>();
        let mut entries = entries.map_err(failed)?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            let shown = path.display().to_string();
            let place = Place { shown: &shown, ..place };
            if kind.is_dir() {
                self.directory(&path, place)?;
            } else if kind.is_file() && is_wanted(&head(&path)?) {
                self.file(&path, place)?;
            }
        }
        Ok(())
    }

    /// Looks into an archive, and calls `visit` with anything else.
    fn file(&mut self, path: &Path, place: Place<'_>) -> Result<()> {
        if place.depth == 0 {
            let size = path.metadata().map_err(|error| Error::io("read", path, &error))?.len();
            let budget = Budget::new(INFLATED, self.limits.allowance(size));
            self.budget = Rc::new(RefCell::new(budget));
        }
        match Archive::detect(&head(path)?) {
            None => (self.visit)(place.shown, Ok(path)),
            Some(_) if place.depth >= DEPTH => {
                let text = format!("`{}` lies in {DEPTH} archives in one another", place.shown);
                (self.visit)(place.shown, Err(Error::check(text)))
            }
            Some(Archive::Zip) => self.zip(path, place),
            Some(archive) => match self.stream(path, archive, place) {
                // The members before the damage were looked at.
                Err(Stopped::Damaged(problem)) => {
                    let text = format!("`{}` is a damaged archive: {problem}", place.shown);
                    (self.visit)(place.shown, Err(Error::check(text)))
                }
                Err(Stopped::Failed(error)) => Err(error),
                Ok(()) => Ok(()),
            },
        }
    }

    fn zip(&mut self, path: &Path, place: Place<'_>) -> Result<()> {
        let Some(zip) = Zip::open(path, self.limits)? else { return Ok(()) };
        zip.each_member(is_wanted, &mut |name, file| {
            let shown = format!("{}: {name}", place.shown);
            match file.and_then(|file| self.spend_member(file, &shown).map(|()| file)) {
                Ok(file) => self.file(file, Place { shown: &shown, depth: place.depth.saturating_add(1) }),
                Err(error) => (self.visit)(&shown, Err(error)),
            }
        })
    }

    fn spend_member(&self, file: &Path, shown: &str) -> Result<()> {
        let size = file.metadata().map_err(|error| Error::io("read", file, &error))?.len();
        let spent = self.budget.borrow_mut().spend(size);
        spent.map_err(|error| Error::check(format!("`{shown}`: {}", told(&error))))
    }

    /// An archive that is read from its start to its end.
    fn stream(
        &mut self,
        path: &Path,
        archive: Archive,
        place: Place<'_>,
    ) -> std::result::Result<(), Stopped> {
        let file = Mapped::open(path)?;
        let reader = inflated(&file, archive)?;
        let mut reader = BufReader::with_capacity(1 << 16, Bounded { reader, budget: self.budget.clone() });
        let mut start = Vec::new();
        (&mut reader).take(zip::HEAD).read_to_end(&mut start)?;
        let is_tar = Archive::detect(&start) == Some(Archive::Tar);
        let is_wanted = is_wanted(&start);
        let whole = Cursor::new(start).chain(reader);
        match (is_tar, is_wanted) {
            (true, _) => self.tar(whole, place),
            (false, true) => self.member(whole, place.shown, place),
            (false, false) => Ok(()),
        }
    }

    fn tar(&mut self, archive: impl Read, place: Place<'_>) -> std::result::Result<(), Stopped> {
        let mut archive = tar::Archive::new(archive);
        for entry in archive.entries()? {
            let mut entry = entry?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let shown = format!("{}: {}", place.shown, entry.path()?.display());
            let mut start = Vec::new();
            (&mut entry).take(zip::HEAD).read_to_end(&mut start)?;
            if is_wanted(&start) {
                self.member(Cursor::new(start).chain(entry), &shown, place)?;
            }
        }
        Ok(())
    }

    /// Writes a member of an archive to a file of its own, and looks at that.
    fn member(
        &mut self,
        mut bytes: impl Read,
        shown: &str,
        place: Place<'_>,
    ) -> std::result::Result<(), Stopped> {
        let temporary = |error: io::Error| Error::io("write", Path::new("a temporary file"), &error);
        let mut file = tempfile::NamedTempFile::new().map_err(temporary)?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            // What fails here is the archive, and what fails below the disk.
            let count = bytes.read(&mut buffer)?;
            let Some(read) = buffer.get(..count).filter(|read| !read.is_empty()) else { break };
            file.write_all(read).map_err(temporary)?;
        }
        Ok(self.file(file.path(), Place { shown, depth: place.depth.saturating_add(1) })?)
    }
}

/// Why an archive was not read to its end.
enum Stopped {
    /// It is damaged, or inflates to more than it may.
    Damaged(io::Error),
    /// What ends the command.
    Failed(Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Damaged(error)
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        Stopped::Failed(error)
    }
}

/// A reader that fails once more than its budget came from it.
struct Bounded<R> {
    reader: R,
    budget: Rc<RefCell<Budget>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        let spent = self.budget.borrow_mut().spend(count as u64);
        spent.map_err(|error| io::Error::other(told(&error)))?;
        Ok(count)
    }
}

/// The bytes of `file` without the compression around them.
fn inflated<'f>(file: &'f [u8], archive: Archive) -> io::Result<Box<dyn Read + 'f>> {
    Ok(match archive {
        Archive::Zip | Archive::Tar => Box::new(file),
        Archive::Gzip => Box::new(Gzip::new(file)),
        Archive::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
        Archive::Xz => Box::new(XzReader::new(file, true)),
    })
}

/// How `path` starts.
fn head(path: &Path) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(|error| Error::io("open", path, &error))?;
    file.take(zip::HEAD).read_to_end(&mut head).map_err(|error| Error::io("read", path, &error))?;
    Ok(head)
}
