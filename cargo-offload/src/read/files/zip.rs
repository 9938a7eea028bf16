//! Members of a zip archive whose first bytes are of interest, such as libraries in a Python wheel.
//!
//! They are inflated into temporary files, a few at a time. A member whose size differs from its record is damaged.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::OnceLock;

use bzip2::bufread::BzDecoder;
use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use lzma_rust2::XzReader;
use offload_format::Limits;
use offload_format::limits::Budget;
use offload_packer::Workers as _;
use rawzip::{CompressionMethod, ZipSliceArchive, ZipSliceEntry, ZipVerification};
use tempfile::NamedTempFile;

use super::inflate::LZMA_MEMORY;
use super::names::{self, Interest, Names};
use crate::error::{Error, Result};
use crate::files::mapping::Mapped;
use crate::print::text::escaped;
use crate::read::limit_hint::with_limit_hint;
use crate::threads::Threads;

/// Size of the start of a member that identifies its format.
pub(super) const HEAD: u64 = 4096;
/// So many members are inflated, by all cores, before they are looked at: they are on the disk together.
const AT_ONCE: usize = 8;
/// So many bytes are inflated at once: more than that no longer fit into a processor's second cache.
const BLOCK: usize = 1 << 17;
/// Magic number of the record at the end of an archive, and its size without a comment, which has 64 KiB at most
/// (<https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, 4.3.16).
const END: &[u8] = b"PK\x05\x06";
const END_SIZE: usize = 22;

/// An archive.
pub(super) struct Zip {
    /// Displayed name.
    name: String,
    archive: ZipSliceArchive<Mapped>,
    limits: Limits,
}

/// Whether what starts so is of interest.
pub(super) type IsWanted = fn(&[u8]) -> bool;

/// A member of interest.
pub(super) struct NamedMember {
    pub(super) name: String,
    pub(super) content: MemberContent,
}

/// The content of a member, or the reason why there is none.
pub(super) enum MemberContent {
    Inflated(NamedTempFile),
    /// It is encrypted or has an unsupported compression method.
    Unread(String),
    /// It is damaged, or another one has its name.
    Wrong(Error),
}

/// Whether an archive with members ends `file`, whatever is in front of it: a script, or a program that unpacks it.
pub(super) fn ends(file: &[u8]) -> bool {
    let from = file.len().saturating_sub(END_SIZE + usize::from(u16::MAX));
    let tail = file.get(from..).unwrap_or_default();
    let has_end = tail.windows(END.len()).any(|window| window == END);
    has_end
        && rawzip::ZipArchive::from_slice(file)
            .is_ok_and(|archive| archive.entries().next().is_some_and(|entry| entry.is_ok()))
}

impl Zip {
    /// Opens `path`, which people know as `name`.
    ///
    /// # Errors
    /// It cannot be read, or is no archive.
    pub(super) fn open(path: &Path, name: &str, limits: &Limits) -> Result<Zip> {
        let name = name.to_string();
        match rawzip::ZipArchive::from_slice(Mapped::open(path)?) {
            Ok(archive) => Ok(Zip { name, archive, limits: *limits }),
            Err(error) => Err(damaged(&name, &error)),
        }
    }

    /// The members whose start `is_wanted`: first those that are not inflated, then the others in their order.
    ///
    /// # Errors
    /// The list of members is damaged.
    pub(super) fn members(&self, is_wanted: IsWanted) -> Result<Members<'_>> {
        // Members may be the same bytes again.
        let allowance = self.limits.allowance(self.archive.get_ref().len() as u64);
        let mut members = Members {
            zip: self,
            ready: VecDeque::new(),
            compressed: VecDeque::new(),
            budget: Budget::new("what the members of the archive inflate to", allowance),
        };
        let mut names = Names::default();
        for record in self.archive.entries() {
            let record = record.map_err(|error| damaged(&self.name, &error))?;
            if record.is_dir() {
                continue;
            }
            let name = String::from_utf8_lossy(record.file_path().as_bytes()).into_owned();
            let entry =
                self.archive.get_entry(record.wayfinder()).map_err(|error| damaged(&self.name, &error))?;
            let size = record.uncompressed_size_hint();
            let member = Member { name, entry, method: record.compression_method(), size };
            let unread = if record.flags().is_encrypted() {
                Some("it is encrypted".to_string())
            } else {
                member.unknown_method()
            };
            // To inflate a member whose start cannot be read fails.
            let is_member_wanted = unread.is_none() && member.head().map_or(true, |head| is_wanted(&head));
            let interest =
                if is_member_wanted || unread.is_some() { Interest::Wanted } else { Interest::Other };
            if names.is_ambiguous(&member.name, interest, (record.crc32(), size)) {
                let text = names::sentence(&self.name, &escaped(&member.name));
                members.add(&member.name, MemberContent::Wrong(Error::check(text)));
            }
            match unread {
                Some(reason) => members.add(&member.name, MemberContent::Unread(reason)),
                None if is_member_wanted => members.compressed.push_back(member),
                None => {}
            }
        }
        Ok(members)
    }
}

/// Members of interest, inflated as they are asked for.
pub(super) struct Members<'z> {
    zip: &'z Zip,
    ready: VecDeque<NamedMember>,
    compressed: VecDeque<Member<'z>>,
    budget: Budget,
}

impl Iterator for Members<'_> {
    type Item = NamedMember;

    fn next(&mut self) -> Option<NamedMember> {
        if self.ready.is_empty() {
            self.inflate_some();
        }
        self.ready.pop_front()
    }
}

impl<'z> Members<'z> {
    fn add(&mut self, name: &str, content: MemberContent) {
        self.ready.push_back(NamedMember { name: name.to_string(), content });
    }

    /// Inflates the next members, on all cores.
    fn inflate_some(&mut self) {
        let count = self.compressed.len().min(AT_ONCE);
        let members: Vec<Member<'z>> = self.compressed.drain(..count).collect();
        let files = self.inflate(&members);
        for (member, file) in members.iter().zip(files) {
            let file = file.into_inner().unwrap_or_else(|| Err("it was not inflated".to_owned()));
            let content = match file {
                Ok(file) => MemberContent::Inflated(file),
                Err(problem) => {
                    let text = format!("`{}` in `{}`: {problem}", escaped(&member.name), self.zip.name);
                    MemberContent::Wrong(Error::check(text))
                }
            };
            self.add(&member.name, content);
        }
    }

    /// A file of each member, or why there is none.
    fn inflate(&mut self, members: &[Member<'_>]) -> Vec<OnceLock<Inflated>> {
        let limits = &self.zip.limits;
        let mut files = Vec::new();
        for member in members {
            files.push(match self.budget.spend(member.size).and_then(|()| member.check_limits(limits)) {
                Ok(()) => OnceLock::new(),
                Err(error) => OnceLock::from(Err(with_limit_hint(&error))),
            });
        }
        Threads.each(members.len(), &|number| {
            if let (Some(member), Some(file)) = (members.get(number), files.get(number)) {
                file.get_or_init(|| member.inflate().map_err(|error| error.to_string()));
            }
        });
        files
    }
}

fn damaged(name: &str, error: &rawzip::Error) -> Error {
    Error::check(format!("`{name}` is a damaged zip archive: {error}"))
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
    /// The reason why the member cannot be inflated, if its method is unsupported.
    fn unknown_method(&self) -> Option<String> {
        let error = self.reader().err().filter(|error| error.kind() == io::ErrorKind::Unsupported);
        error.map(|error| error.to_string())
    }

    fn reader(&self) -> io::Result<Box<dyn Read + 'a>> {
        let data = self.entry.data();
        match self.method {
            CompressionMethod::STORE => Ok(Box::new(data)),
            CompressionMethod::DEFLATE => Ok(Box::new(DeflateDecoder::new(data))),
            CompressionMethod::BZIP2 => Ok(Box::new(BzDecoder::new(data))),
            CompressionMethod::XZ => Ok(Box::new(XzReader::new_mem_limit(data, false, LZMA_MEMORY))),
            CompressionMethod::ZSTD => Ok(Box::new(zstd::stream::read::Decoder::with_buffer(data)?)),
            other => {
                let text = format!("it is compressed by method {}, which is not read", other.as_u16());
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

    fn check_limits(&self, limits: &Limits) -> std::result::Result<(), offload_format::Error> {
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
