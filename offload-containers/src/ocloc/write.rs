//! The writer of archives, with the layout of `ocloc`.

use super::{Device, MAGIC};
use offload_format::{Error, ErrorKind, bytes};

const HEADER_SIZE: u64 = 60;
const ALIGN: u64 = 8;
/// The size of a member's name with its trailing slash; the driver supports no longer names.
const NAME_SIZE: usize = 16;
/// `e_type` of the file around SPIR-V.
const OBJECTS: u16 = 0xff02;
/// `sh_type` of SPIR-V.
const SPIRV: u32 = 0xff00_0009;
const STRTAB: u32 = 3;
const ELF_HEADER_SIZE: u16 = 64;
const SECTION_SIZE: u16 = 64;
const SEGMENT_SIZE: u16 = 56;
/// The empty section, the SPIR-V, the names.
const SECTIONS: u16 = 3;
const NAMES: &[u8] = b"\0.shstrtab\0SPIRV Object\0";
const IMAGE: &str = "the size of an image of the archive";

/// An image for [`write()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OclocImage<'a> {
    /// Its device.
    pub device: Device,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Writes an archive of native images and, for all other devices, `spirv`.
///
/// The driver takes the first member for its device.
///
/// # Errors
/// [`ErrorKind::Text`] for a duplicate device; [`ErrorKind::Invalid`] for a version of more than 15 characters and an image
/// whose size has more than ten digits.
pub fn write(images: &[OclocImage<'_>], spirv: Option<&[u8]>) -> Result<Vec<u8>, Error> {
    let mut out = Vec::from(MAGIC);
    let mut seen = std::collections::BTreeSet::new();
    let mut number = 0_u64;
    for OclocImage { device, bytes } in images {
        if !seen.insert(device) {
            return Err(ErrorKind::Text {
                what: "the device of the archive's image, number",
                offset: number,
            }
            .into());
        }
        let name = device.to_string();
        append_aligned(&mut out, number, Member { name: &name, data: bytes })?;
        number = number.saturating_add(1);
    }
    if let Some(spirv) = spirv {
        append_aligned(&mut out, number, Member { name: "generic_ir", data: &elf(spirv)? })?;
    }
    Ok(out)
}

/// A member to append.
#[derive(Clone, Copy)]
struct Member<'a> {
    name: &'a str,
    data: &'a [u8],
}

/// Appends a member behind a padding member.
fn append_aligned(out: &mut Vec<u8>, number: u64, member: Member<'_>) -> Result<(), Error> {
    let at = (out.len() as u64).saturating_add(2 * HEADER_SIZE);
    // 1 to 8 bytes: `ocloc` writes the member even if none is needed.
    let padding = ALIGN.saturating_sub(at % ALIGN);
    let blanks = [b' '; ALIGN as usize];
    let data = blanks.get(..padding as usize).unwrap_or(&blanks);
    append(out, Member { name: &format!("pad_{number}"), data })?;
    append(out, member)
}

/// Appends a member with the header of System V's `ar`: text fields, padded with blanks.
fn append(out: &mut Vec<u8>, Member { name, data }: Member<'_>) -> Result<(), Error> {
    let name = format!("{name}/");
    let size = data.len().to_string();
    if name.len() > NAME_SIZE {
        return Err(Error::invalid("the size of the name of an image of the archive", name.len() as u64));
    }
    if size.len() > 10 {
        return Err(Error::invalid(IMAGE, data.len() as u64));
    }
    out.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).into_bytes());
    out.extend_from_slice(data);
    if data.len() % 2 != 0 {
        out.push(b'\n');
    }
    Ok(())
}

/// SPIR-V in an ELF file.
fn elf(spirv: &[u8]) -> Result<Vec<u8>, Error> {
    let size = spirv.len() as u64;
    let data = u64::from(ELF_HEADER_SIZE) + u64::from(SECTION_SIZE) * u64::from(SECTIONS);
    let names = data.checked_add(size).and_then(|end| bytes::align_up(end, ALIGN));
    let names = names.ok_or_else(|| Error::invalid(IMAGE, size))?;
    // 11 and 1 are offsets in the string table.
    let spirv_section = section([11, SPIRV], [data, size]);
    let names_section = section([1, STRTAB], [names, NAMES.len() as u64]);
    let mut out =
        [&elf_header()[..], &[0; SECTION_SIZE as usize], &spirv_section, &names_section, spirv].concat();
    out.resize(usize::try_from(names).map_err(|_| Error::invalid(IMAGE, size))?, 0);
    out.extend_from_slice(NAMES);
    Ok(out)
}

fn elf_header() -> Vec<u8> {
    let ident = [0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let entry = 0_u64;
    let segments = 0_u64;
    let fields: [&[u8]; 14] = [
        &ident,
        &OBJECTS.to_le_bytes(),
        &0_u16.to_le_bytes(),
        &1_u32.to_le_bytes(),
        &entry.to_le_bytes(),
        &segments.to_le_bytes(),
        &u64::from(ELF_HEADER_SIZE).to_le_bytes(),
        &0_u32.to_le_bytes(),
        &ELF_HEADER_SIZE.to_le_bytes(),
        &SEGMENT_SIZE.to_le_bytes(),
        &0_u16.to_le_bytes(),
        &SECTION_SIZE.to_le_bytes(),
        &SECTIONS.to_le_bytes(),
        &SECTIONS.saturating_sub(1).to_le_bytes(),
    ];
    fields.concat()
}

fn section([name, kind]: [u32; 2], [offset, size]: [u64; 2]) -> Vec<u8> {
    let fields: [&[u8]; 9] = [
        &name.to_le_bytes(),
        &kind.to_le_bytes(),
        &0_u64.to_le_bytes(),
        &0_u64.to_le_bytes(),
        &offset.to_le_bytes(),
        &size.to_le_bytes(),
        &[0; 8],
        &ALIGN.to_le_bytes(),
        &0_u64.to_le_bytes(),
    ];
    fields.concat()
}
