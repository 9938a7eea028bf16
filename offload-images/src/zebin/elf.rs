//! The ELF file around a zebin.

use object::LittleEndian as LE;
use object::elf::SHT_NOBITS;
use object::read::elf::{FileHeader, SectionHeader};

use crate::elf::{Elf, Format};
use offload_format::{Error, ErrorKind};

/// `EM_INTELGT`.
const MACHINE_INTELGT: u16 = 205;
/// Types of zebin files without machine number: relocatable, executable, dynamic.
const ZEBIN_TYPES: std::ops::RangeInclusive<u16> = 0xff11..=0xff13;
const FORMAT: Format = Format { name: "a zebin", nobits: &[] };

/// What is read of a zebin.
pub(super) struct Sections<'a> {
    /// Names of the code sections without `.text.`, in order.
    pub code: Vec<&'a str>,
    /// The description.
    pub ze_info: &'a str,
    /// For which devices it is, if it says so.
    pub notes: &'a [u8],
}

pub(super) fn read(image: &[u8]) -> Result<Sections<'_>, Error> {
    let file = Elf::parse(image, &FORMAT)?;
    let (machine, kind) = (file.header.e_machine(LE).0, file.header.e_type(LE).0);
    if machine != MACHINE_INTELGT && !(machine == 0 && ZEBIN_TYPES.contains(&kind)) {
        return Err(FORMAT.mismatch());
    }
    let ze_info = file.section(".ze_info").ok_or_else(|| FORMAT.mismatch())?;
    let offset = ze_info.header.sh_offset(LE);
    let malformed = ErrorKind::Text { what: "the description of the zebin", offset };
    let ze_info = std::str::from_utf8(ze_info.data).map_err(|_| malformed)?;
    let kept = |kind, data: &[u8]| kind != SHT_NOBITS && !data.is_empty();
    let code = file.sections.iter().filter(|section| kept(section.header.sh_type(LE), section.data));
    let code = code.filter_map(|section| section.name.strip_prefix(".text.")).collect();
    let notes = file.section(".note.intelgt.compat").map_or(&[][..], |section| section.data);
    Ok(Sections { code, ze_info, notes })
}
