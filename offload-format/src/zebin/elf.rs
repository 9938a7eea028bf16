//! The ELF file around a zebin.

use object::elf::{FileHeader64, SHT_NOBITS};
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, elf};

use crate::{Error, ErrorKind};

/// `EM_INTELGT`.
const MACHINE_INTELGT: u16 = 205;
/// Types of zebin files without machine number: relocatable, executable, dynamic.
const ZEBIN_TYPES: std::ops::RangeInclusive<u16> = 0xff11..=0xff13;

/// What is read of a zebin.
pub(super) struct Sections<'a> {
    /// Names of the code sections without `.text.`, in order.
    pub code: Vec<&'a str>,
    /// The description.
    pub ze_info: &'a str,
}

pub(super) fn read(image: &[u8]) -> Result<Sections<'_>, Error> {
    let header = FileHeader64::<Endianness>::parse(image).map_err(|_| no_header(image))?;
    let endian = header.endian().map_err(|_| not_zebin())?;
    let (machine, kind) = (header.e_machine(endian).0, header.e_type(endian).0);
    if machine != MACHINE_INTELGT && !(machine == 0 && ZEBIN_TYPES.contains(&kind)) {
        return Err(not_zebin());
    }
    let shoff = header.e_shoff(endian);
    let cut = |what| move |_: object::read::Error| Error::truncated(what, shoff, 64);
    let sections = header.sections(endian, image).map_err(cut("the section table of the zebin"))?;
    let mut found = Sections { code: Vec::new(), ze_info: "" };
    let mut described = false;
    for section in sections.iter() {
        let name = sections.section_name(endian, section).map_err(cut("a section name of the zebin"))?;
        let data = section.data(endian, image).map_err(cut("a section of the zebin"))?;
        let malformed = ErrorKind::Text { what: "a text of the zebin", offset: section.sh_offset(endian) };
        if name == b".ze_info" {
            found.ze_info = std::str::from_utf8(data).map_err(|_| malformed)?;
            described = true;
        } else if let Some(kernel) = name.strip_prefix(b".text.")
            && section.sh_type(endian) != SHT_NOBITS
            && !data.is_empty()
        {
            found.code.push(std::str::from_utf8(kernel).map_err(|_| malformed)?);
        }
    }
    if described { Ok(found) } else { Err(not_zebin()) }
}

fn no_header(image: &[u8]) -> Error {
    if image.starts_with(&elf::ELFMAG) && image.len() < size_of::<FileHeader64<Endianness>>() {
        return Error::truncated("the ELF header of the zebin", 0, 64);
    }
    not_zebin()
}

fn not_zebin() -> Error {
    ErrorKind::Magic { what: "a zebin" }.into()
}
