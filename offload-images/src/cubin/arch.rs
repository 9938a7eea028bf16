//! The architecture of a cubin, from two layouts of the ELF flags.

use object::LittleEndian as LE;
use object::read::elf::FileHeader;

use super::attribute::{self, AttributeValue};
use crate::elf::Elf;
use offload_format::{Error, ErrorKind};

/// `ELFABIVERSION_CUDA_V1`.
const ABI_V1: u8 = 7;
/// `ELFABIVERSION_CUDA_V2`.
const ABI_V2: u8 = 8;
/// `EF_CUDA_ACCELERATORS_V1`.
const ACCELERATED_V1: u32 = 0x800;
/// `EF_CUDA_ACCELERATORS`, which toolkits 12.8 and 12.9 set and 13.x does not.
const ACCELERATED_V2: u32 = 0x8;
/// `EICOMPAT_ATTR_CUDA_ACCELERATOR_TARGET`, which toolkit 13.x writes instead.
const ACCELERATOR_TARGET: u8 = 0x09;
/// The first architecture with architecture-specific targets.
const FIRST_ACCELERATED: u32 = 90;
/// The version of the last toolkit that set the flag, times ten.
const LAST_WITH_FLAG: u32 = 129;

pub(super) struct Arch {
    pub(super) sm: u32,
    pub(super) accelerated: Option<bool>,
    pub(super) family: bool,
    pub(super) abi_version: u8,
}

pub(super) fn read(file: &Elf<'_>, toolkit: Option<u32>) -> Result<Arch, Error> {
    let flags = file.header.e_flags(LE).0;
    let abi_version = file.header.e_ident().abi_version;
    let (sm, accelerated) = match abi_version {
        ABI_V1 => (flags & 0xff, Some(flags & ACCELERATED_V1 != 0)),
        ABI_V2 => {
            let sm = flags >> 8 & 0xff;
            (sm, accelerated(file, sm, toolkit)?)
        }
        other => return Err(ErrorKind::Version { what: "the ABI of the cubin", found: other.into() }.into()),
    };
    Ok(Arch { sm, accelerated, family: is_for_family(file, sm), abi_version })
}

/// Whether the assembler's note has `-arch sm_100f`: toolkits since 12.9 support families and record them nowhere else.
fn is_for_family(file: &Elf<'_>, sm: u32) -> bool {
    let note = file.section(".note.nv.tkinfo").map_or(&[][..], |section| section.data);
    let arch = format!("-arch sm_{sm}f ");
    note.windows(arch.len()).any(|window| window == arch.as_bytes())
}

fn accelerated(file: &Elf<'_>, sm: u32, toolkit: Option<u32>) -> Result<Option<bool>, Error> {
    if file.header.e_flags(LE).0 & ACCELERATED_V2 != 0 {
        return Ok(Some(true));
    }
    let compat = file.section(".nv.compat").map_or(&[][..], |section| section.data);
    for attribute in attribute::records(compat) {
        let attribute = attribute?;
        if let (ACCELERATOR_TARGET, AttributeValue::Byte(value)) = (attribute.number, attribute.value) {
            return Ok(Some(value != 0));
        }
    }
    let has_flag = toolkit.is_some_and(|version| version <= LAST_WITH_FLAG);
    Ok((sm < FIRST_ACCELERATED || has_flag).then_some(false))
}
