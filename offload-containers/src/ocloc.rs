//! Archives of Intel's `ocloc`, with a native image for each device and SPIR-V for the others.
//!
//! Follows `shared/offline_compiler/source/ocloc_fatbinary.cpp` and `shared/source/device_binary_format` of
//! <https://github.com/intel/compute-runtime>: an `ar` archive whose members are named after their devices, each behind a
//! member `pad_N` that aligns it to 8 bytes. The native images are ELF files, see [`parse_elf`] and, for those with
//! `.ze_info`, `zebin`.
//!
//! ```
//! use offload_format::Limits;
//! use offload_containers::ocloc::{self, Device, MemberKind, OclocImage};
//!
//! let pvc: Device = "64.12.60.7".parse()?;
//! let image = OclocImage { device: pvc, bytes: b"native image" };
//! let file = ocloc::write(&[image], Some(b"\x03\x02\x23\x07"))?;
//! let archive = ocloc::parse(&file, &Limits::default())?;
//! assert_eq!(archive.members[0].kind(), MemberKind::Device(pvc));
//! assert_eq!(archive.spirv()?, Some(&b"\x03\x02\x23\x07"[..]));
//! # Ok::<(), offload_format::Error>(())
//! ```

mod elf;
mod member;
mod write;

use object::read::archive::{ArchiveFile, ArchiveMember};

pub use self::elf::{OpenClElf, OpenClElfKind, Section, SectionKind, parse_elf};
pub use self::member::{Device, Member, MemberKind};
pub use self::write::{OclocImage, write};
use offload_format::{Error, ErrorKind, Limits};

/// First bytes of an archive.
pub const MAGIC: [u8; 8] = *b"!<arch>\n";
const ARCHIVE: &str = "the archive of ocloc";

/// An archive over borrowed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Archive<'a> {
    /// The members in the order of the file, without the padding members.
    pub members: Vec<Member<'a>>,
}

impl<'a> Archive<'a> {
    /// The SPIR-V for devices without an image.
    ///
    /// # Errors
    /// Those of [`parse_elf`] for the member `generic_ir`.
    pub fn spirv(&self) -> Result<Option<&'a [u8]>, Error> {
        match self.members.iter().find(|member| member.kind() == MemberKind::GenericIr) {
            Some(member) => Ok(parse_elf(member.data)?.section(SectionKind::SpirV)),
            None => Ok(None),
        }
    }
}

/// Reads an archive.
///
/// # Errors
/// [`ErrorKind::Magic`] if it is no archive or none of its members is for a device; [`ErrorKind::Truncated`] for a
/// member that is not inside `input`; [`ErrorKind::Text`] for a name that is not UTF-8; [`ErrorKind::TooMany`] over
/// [`Limits::entries`].
pub fn parse<'a>(input: &'a [u8], limits: &Limits) -> Result<Archive<'a>, Error> {
    if !input.starts_with(&MAGIC) {
        return Err(ErrorKind::Magic { what: ARCHIVE }.into());
    }
    let file = ArchiveFile::parse(input).map_err(|_| truncated(0))?;
    let mut members = Vec::new();
    for (number, archive_member) in (1..).zip(file.members()) {
        limits.records(ARCHIVE, number)?;
        let member = member(input, &archive_member.map_err(|_| truncated(0))?)?;
        if member.kind() != MemberKind::Padding {
            members.push(member);
        }
    }
    if members.iter().all(|member| member.kind() == MemberKind::Other) {
        return Err(ErrorKind::Magic { what: ARCHIVE }.into());
    }
    Ok(Archive { members })
}

fn member<'a>(input: &'a [u8], member: &ArchiveMember<'a>) -> Result<Member<'a>, Error> {
    let (offset, _) = member.file_range();
    let name = std::str::from_utf8(member.name())
        .map_err(|_| ErrorKind::Text { what: "the name of a member of the archive", offset })?;
    Ok(Member { name, data: member.data(input).map_err(|_| truncated(offset))? })
}

fn truncated(offset: u64) -> Error {
    Error::truncated(ARCHIVE, offset, 1)
}
