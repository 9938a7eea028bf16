//! Archives that are read sequentially: tar and cpio, compressed or not.

use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::Path;

use super::form::{Codec, Form};
use super::inflate::{self, BudgetReader};
use super::names::{self, Interest, Names};
use super::walk::{ArchiveError, FileLocation, VisitedFile, Walk, is_wanted};
use super::{cpio, rpm, zip};
use crate::error::{Error, IoContext, Result};
use crate::files::mapping::Mapped;
use crate::print::text::escaped;

impl Walk<'_, '_> {
    /// An archive of any of these forms, or a compressed file.
    pub(super) fn stream(&mut self, path: &Path, form: Form, place: FileLocation<'_>) -> Result<()> {
        let file = Mapped::open(path)?;
        self.stopped(place.shown, |walk| match form {
            Form::Rpm => walk.bytes(
                rpm::payload(&file).ok_or_else(|| {
                    io::Error::new(io::ErrorKind::InvalidData, "its headers lead to no payload")
                })?,
                place,
            ),
            _ => walk.bytes(&file, place),
        })
    }

    fn bytes(&mut self, file: &[u8], place: FileLocation<'_>) -> std::result::Result<(), ArchiveError> {
        let reader = match Form::detect(file) {
            Some(Form::Compressed(codec)) => inflate::inflated(file, codec)?,
            _ => Box::new(file),
        };
        let mut reader =
            BufReader::with_capacity(1 << 16, BudgetReader { reader, budget: self.budget.clone() });
        let start = start(&mut reader)?;
        let form = Form::detect(&start);
        let is_wanted = is_wanted(&start);
        let whole = Cursor::new(start).chain(reader);
        match form {
            Some(Form::Tar) => self.tar(whole, place),
            Some(Form::Cpio) => self.cpio(whole, place),
            _ if is_wanted => self.member(whole, place.member(place.shown)),
            _ => Ok(()),
        }
    }

    fn tar(&mut self, archive: impl Read, place: FileLocation<'_>) -> std::result::Result<(), ArchiveError> {
        let mut archive = tar::Archive::new(archive);
        let mut names = Names::default();
        for (number, entry) in archive.entries()?.enumerate() {
            let mut entry = entry?;
            let kind = entry.header().entry_type();
            let name = entry.path()?.display().to_string();
            let has_content = kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse();
            let start = if has_content { start(&mut entry)? } else { Vec::new() };
            let interest = if is_wanted(&start) { Interest::Wanted } else { Interest::Other };
            // The same directory may come several times.
            if !kind.is_dir() && names.is_ambiguous(&name, interest, number) {
                self.ambiguous(&name, place)?;
            }
            if interest == Interest::Wanted {
                let shown = format!("{}: {name}", place.shown);
                self.member(Cursor::new(start).chain(entry), place.member(&shown))?;
            }
        }
        Ok(())
    }

    fn cpio(
        &mut self,
        mut archive: impl Read,
        place: FileLocation<'_>,
    ) -> std::result::Result<(), ArchiveError> {
        let mut names = Names::default();
        let mut number = 0u64;
        while let Some(member) = cpio::Member::read(&mut archive)? {
            let mut content = (&mut archive).take(member.size);
            let start = if member.is_file() { start(&mut content)? } else { Vec::new() };
            let interest = if is_wanted(&start) { Interest::Wanted } else { Interest::Other };
            // Of hard links the last alone has the content.
            if member.size > 0 && names.is_ambiguous(&member.name, interest, number) {
                self.ambiguous(&member.name, place)?;
            }
            if interest == Interest::Wanted {
                let shown = format!("{}: {}", place.shown, member.name);
                self.member(Cursor::new(start).chain(&mut content), place.member(&shown))?;
            }
            let left = content.limit();
            skip(&mut archive, left.saturating_add(member.padding))?;
            number = number.saturating_add(1);
        }
        self.after_cpio(archive, place)
    }

    /// An initial RAM disk is several archives, the later ones compressed, with nulls between them.
    fn after_cpio(
        &mut self,
        archive: impl Read,
        place: FileLocation<'_>,
    ) -> std::result::Result<(), ArchiveError> {
        let mut rest = BufReader::new(archive).bytes();
        loop {
            match rest.next() {
                None => return Ok(()),
                Some(Ok(0)) => {}
                Some(Ok(_)) => {
                    let what = "more follows the first cpio archive, and only that was looked into";
                    return Ok((self.visit)(place.shown, VisitedFile::Unread(what.to_string()))?);
                }
                Some(Err(error)) => return Err(error.into()),
            }
        }
    }

    fn ambiguous(&mut self, name: &str, place: FileLocation<'_>) -> Result<()> {
        let text = names::sentence(place.shown, &escaped(name));
        (self.visit)(place.shown, VisitedFile::Wrong(Error::check(text)))
    }

    /// Writes a member of an archive to a file of its own, and looks at that.
    pub(super) fn member(
        &mut self,
        mut bytes: impl Read,
        place: FileLocation<'_>,
    ) -> std::result::Result<(), ArchiveError> {
        let mut file = tempfile::NamedTempFile::new().io_context("write", "a temporary file")?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            // What fails here is the archive, and what fails below the disk.
            let count = bytes.read(&mut buffer)?;
            let Some(read) = buffer.get(..count).filter(|read| !read.is_empty()) else { break };
            file.write_all(read).io_context("write", "a temporary file")?;
        }
        Ok(self.file(file.path(), place)?)
    }
}

/// Whether there is an archive in a compressed file. For a damaged one that is unknown.
pub(super) fn has_archive(file: &[u8], codec: Codec) -> bool {
    let start = inflate::inflated(file, codec).and_then(|mut reader| start(&mut reader));
    start.is_ok_and(|start| Form::detect(&start).is_some())
}

/// Reads the start of `file`, which identifies its format.
fn start(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(zip::HEAD).read_to_end(&mut start)?;
    Ok(start)
}

/// Reads over `count` bytes, which have to be there.
fn skip(archive: &mut impl Read, count: u64) -> io::Result<()> {
    let skipped = io::copy(&mut archive.take(count), &mut io::sink())?;
    if skipped == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
