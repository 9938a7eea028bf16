//! Files below a path that may contain images: those of a directory, and members of nested archives, such as wheels,
//! container layers and packages of distributions. Unread files are listed too.

mod appended;
mod cpio;
mod form;
mod gzip;
mod inflate;
mod links;
mod names;
mod rpm;
mod stream;
mod walk;
mod zip;

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use object::read::archive::ArchiveFile;
use offload_containers::carrier::{self, FileKind};
use offload_format::Limits;
use offload_format::limits::Budget;

use self::form::{Codec, Form};
use self::names::{Interest, Names};
use self::walk::{FileLocation, SCRIPT, Walk, head, is_wanted};
pub(crate) use self::walk::{VisitFile, VisitedFile};
use self::zip::{MemberContent, NamedMember, Zip};
use crate::error::{Error, ExitStatus, IoContext, Result};
use crate::files::mapping::Mapped;
use crate::print::text::escaped;
use crate::read::limit_hint::with_limit_hint;

/// Archives in archives in archives: a container's layer has a wheel in a cache.
const DEPTH: u32 = 4;
/// Size of the part of a library that is scanned before its pages are released.
const RELEASED_AT_ONCE: usize = 4 << 20;
const INFLATED: &str = "what the archive inflates to";

/// Calls `visit` with each file in `path` that starts as programs, libraries, containers or images do, and with what is not
/// read, in the order of their names or of the archive. A path that is no directory and no archive is a file itself, however
/// it starts.
///
/// # Errors
/// Those of `visit`; `path` cannot be read, or nothing can be written.
pub(crate) fn each(path: &Path, limits: &Limits, visit: &mut VisitFile<'_>) -> Result<()> {
    let shown = path.display().to_string();
    let nothing = Rc::new(RefCell::new(Budget::new(INFLATED, 0)));
    let root = path.canonicalize().io_context("open", path)?;
    let mut walk = Walk { limits, visit, budget: nothing, root };
    let place = FileLocation { shown: &shown, depth: 0 };
    if path.is_dir() { walk.directory(path, place) } else { walk.file(path, place) }
}

/// Whether `path` is an archive, whose files are looked at.
///
/// # Errors
/// It cannot be read.
pub(crate) fn is_archive(path: &Path) -> Result<bool> {
    if path.is_dir() {
        return Ok(false);
    }
    let head = head(path)?;
    match Form::detect(&head) {
        Some(Form::Ar) => Ok(is_package(&Mapped::open(path)?)),
        Some(Form::ThinAr) => Ok(false),
        // A frame around an image or a container is what tool chains make, too.
        Some(Form::Compressed(Codec::Zstd)) => Ok(stream::has_archive(&Mapped::open(path)?, Codec::Zstd)),
        Some(_) => Ok(true),
        None => Ok(FileKind::detect(&head).is_none() && zip::ends(&Mapped::open(path)?)),
    }
}

impl Walk<'_, '_> {
    /// The target of a symbolic link is searched under its own name, or not at all.
    fn directory(&mut self, path: &Path, place: FileLocation<'_>) -> Result<()> {
        let entries = std::fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => return self.unread(place.shown, format!("it cannot be listed: {error}")),
        };
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let kind = entry.file_type().io_context("read", &path)?;
            let shown = path.display().to_string();
            let place = FileLocation { shown: &shown, ..place };
            if kind.is_dir() {
                self.directory(&path, place)?;
            } else if kind.is_file() {
                self.entry(&path, place)?;
            } else if let Some(why) = kind.is_symlink().then(|| links::reason(&path, &self.root)).flatten() {
                self.unread(place.shown, why)?;
            }
        }
        Ok(())
    }

    /// A file of a directory.
    fn entry(&mut self, path: &Path, place: FileLocation<'_>) -> Result<()> {
        let wanted = head(path).and_then(|head| Ok(is_wanted(&head) || zip::ends(&Mapped::open(path)?)));
        match wanted {
            Ok(true) => self.file(path, place),
            Ok(false) => Ok(()),
            Err(error) => self.unread(place.shown, error.message().to_string()),
        }
    }

    /// Looks into an archive, and calls `visit` with anything else.
    fn file(&mut self, path: &Path, place: FileLocation<'_>) -> Result<()> {
        if place.depth == 0 {
            let size = path.metadata().io_context("read", path)?.len();
            let budget = Budget::new(INFLATED, self.limits.allowance(size));
            self.budget = Rc::new(RefCell::new(budget));
        }
        match Form::detect(&head(path)?) {
            None => self.plain(path, place),
            Some(Form::Unread(name)) => self.unread(place.shown, format!("{name} are not supported")),
            Some(Form::ThinAr) => {
                self.unread(place.shown, "it is a thin archive, whose members are other files")
            }
            Some(_) if place.depth >= DEPTH => {
                self.unread(place.shown, format!("it is nested in {DEPTH} archives"))
            }
            Some(Form::Zip) => self.zip(path, place),
            Some(Form::Ar) => self.static_archive(path, place),
            Some(form) => self.stream(path, form, place),
        }
    }

    /// A file that is no archive by its start, and may have one behind it.
    fn plain(&mut self, path: &Path, place: FileLocation<'_>) -> Result<()> {
        let file = Mapped::open(path)?;
        let is_zip = zip::ends(&file);
        let is_script = file.starts_with(SCRIPT);
        if is_zip {
            self.zip(path, place)?;
        } else if is_script && file.contains(&0) {
            self.unread(place.shown, "it is a script followed by an archive or other data")?;
        } else if let Some(what) = appended::to_program(&file) {
            self.unread(place.shown, what)?;
        }
        drop(file);
        // Of packs that lie in the archive, its members are the place.
        if is_zip && FileKind::detect(&head(path)?).is_none() {
            return Ok(());
        }
        (self.visit)(place.shown, VisitedFile::File(path))
    }

    fn zip(&mut self, path: &Path, place: FileLocation<'_>) -> Result<()> {
        if place.depth >= DEPTH {
            return self.unread(place.shown, format!("it is nested in {DEPTH} archives"));
        }
        match self.zip_members(path, place) {
            // Its list is damaged: other files of the directory are not.
            Err(error) if error.status() == ExitStatus::CheckFailed => {
                (self.visit)(place.shown, VisitedFile::Wrong(error))
            }
            outcome => outcome,
        }
    }

    fn zip_members(&mut self, path: &Path, place: FileLocation<'_>) -> Result<()> {
        let zip = Zip::open(path, place.shown, self.limits)?;
        for NamedMember { name, content } in zip.members(is_wanted)? {
            let shown = format!("{}: {name}", place.shown);
            match content {
                MemberContent::Unread(reason) => self.unread(&shown, reason)?,
                MemberContent::Wrong(error) => (self.visit)(&shown, VisitedFile::Wrong(error))?,
                MemberContent::Inflated(file) => match self.spend_member(file.path(), &shown) {
                    Ok(()) => self.file(file.path(), place.member(&shown))?,
                    Err(error) => (self.visit)(&shown, VisitedFile::Wrong(error))?,
                },
            }
        }
        Ok(())
    }

    fn spend_member(&self, file: &Path, shown: &str) -> Result<()> {
        let size = file.metadata().io_context("read", file)?.len();
        let spent = self.budget.borrow_mut().spend(size);
        spent.map_err(|error| Error::check(format!("`{shown}`: {}", with_limit_hint(&error))))
    }

    /// Objects are found by who looks at the library; archives among the members are looked into here.
    fn static_archive(&mut self, path: &Path, place: FileLocation<'_>) -> Result<()> {
        let file = Mapped::open(path)?;
        let damage = self.archive_members(&file, place)?;
        match damage {
            _ if !is_package(&file) => (self.visit)(place.shown, VisitedFile::File(path)),
            Some(error) => {
                let text = format!("`{}` is a damaged package: {error}", place.shown);
                (self.visit)(place.shown, VisitedFile::Wrong(Error::check(text)))
            }
            None => Ok(()),
        }
    }

    /// Looks into the archives among the members; returns what ended the list before its end.
    fn archive_members(&mut self, file: &Mapped, place: FileLocation<'_>) -> Result<Option<object::Error>> {
        let archive = match ArchiveFile::parse(&**file) {
            Ok(archive) => archive,
            Err(error) => return Ok(Some(error)),
        };
        let mut names: Names<&[u8]> = Names::default();
        let mut kept = 0;
        for member in archive.members() {
            let member = member.and_then(|member| {
                let bytes = member.data(&**file)?;
                Ok((member, bytes))
            });
            let (member, bytes) = match member {
                Ok(member) => member,
                Err(error) => return Ok(Some(error)),
            };
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let interest = if is_wanted(bytes) { Interest::Wanted } else { Interest::Other };
            if names.is_ambiguous(&name, interest, bytes) && self.has_images(bytes) {
                let text = names::sentence(place.shown, &escaped(&name));
                (self.visit)(place.shown, VisitedFile::Wrong(Error::check(text)))?;
            }
            if is_archive_member(bytes) {
                let shown = format!("{}: {name}", place.shown);
                self.stopped(&shown, |walk| walk.member(bytes, place.member(&shown)))?;
            }
            // Members are smaller than the pages of memory.
            let end = usize::try_from(member.file_range().0).unwrap_or(usize::MAX);
            if end.saturating_sub(kept) > RELEASED_AT_ONCE {
                file.release(file.get(kept..end).unwrap_or_default());
                kept = end;
            }
        }
        Ok(None)
    }

    fn has_images(&self, object: &[u8]) -> bool {
        carrier::find(object, self.limits).is_ok_and(|found| !found.is_empty())
    }
}

/// Whether a static archive is a package of Debian's (<https://manpages.debian.org/deb.5>).
fn is_package(archive: &[u8]) -> bool {
    let first = ArchiveFile::parse(archive).ok().and_then(|read| read.members().next()?.ok());
    first.is_some_and(|member| member.name() == b"debian-binary")
}

/// Whether a member is an archive itself, or something that is not read; libraries in libraries are found with their objects.
fn is_archive_member(bytes: &[u8]) -> bool {
    Form::detect(bytes).is_some_and(|form| form != Form::Ar)
}
