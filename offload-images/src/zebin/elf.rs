//! The ELF sections of a zebin.

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

pub(super) struct Sections<'a> {
    /// Names of the code sections without `.text.`, in order.
    pub code: Vec<&'a str>,
    /// The kernel descriptions in YAML.
    pub ze_info: &'a str,
    /// The compatibility notes, empty if there are none.
    pub notes: &'a [u8],
}

pub(super) fn read(image: &[u8]) -> Result<Sections<'_>, Error> {
    let file = Elf::parse(image, &FORMAT)?;
    let machine = file.header.e_machine(LE).0;
    let kind = file.header.e_type(LE).0;
    if machine != MACHINE_INTELGT && !(machine == 0 && ZEBIN_TYPES.contains(&kind)) {
        return Err(FORMAT.mismatch());
    }
    let ze_info = file.section(".ze_info").ok_or_else(|| FORMAT.mismatch())?;
    let offset = ze_info.header.sh_offset(LE);
    let malformed = ErrorKind::Text { what: "the description of the zebin", offset };
    let ze_info = std::str::from_utf8(ze_info.data).map_err(|_| malformed)?;
    let mut code = Vec::new();
    for section in &file.sections {
        if section.header.sh_type(LE) != SHT_NOBITS && !section.data.is_empty() {
            code.extend(section.name.strip_prefix(".text."));
        }
    }
    let notes = file.section(".note.intelgt.compat").map_or(&[][..], |section| section.data);
    Ok(Sections { code, ze_info, notes })
}
