//! Writing archives, as `ocloc` writes them.

use super::{Device, MAGIC};
use offload_format::{Error, ErrorKind, bytes};

const HEADER_SIZE: u64 = 60;
const ALIGN: u64 = 8;
/// Of a member's name with the slash at its end; the driver knows no longer ones.
const NAME_SIZE: usize = 16;
/// `e_type` of the file around SPIR-V: objects.
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

/// An image to be put into an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OclocImage<'a> {
    /// The device that it is for.
    pub device: Device,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Writes an archive of native images and, for the devices that have none, `spirv`.
///
/// The driver takes the first member that fits its device.
///
/// # Errors
/// [`ErrorKind::Text`] for a device that comes twice; [`ErrorKind::Invalid`] for a version of more than 15 characters and
/// an image that passes the ten digits of its size.
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
        aligned(&mut out, number, Member { name: &name, data: bytes })?;
        number = number.saturating_add(1);
    }
    if let Some(spirv) = spirv {
        aligned(&mut out, number, Member { name: "generic_ir", data: &elf(spirv)? })?;
    }
    Ok(out)
}

/// A file of the archive.
#[derive(Clone, Copy)]
struct Member<'a> {
    name: &'a str,
    data: &'a [u8],
}

/// A member behind one that aligns it.
fn aligned(out: &mut Vec<u8>, number: u64, member: Member<'_>) -> Result<(), Error> {
    let at = (out.len() as u64).saturating_add(2 * HEADER_SIZE);
    // 1 to 8: there is such a member even where none is needed.
    let padding = ALIGN.saturating_sub(at % ALIGN);
    let blanks = [b' '; ALIGN as usize];
    let data = blanks.get(..padding as usize).unwrap_or(&blanks);
    append(out, Member { name: &format!("pad_{number}"), data })?;
    append(out, member)
}

/// As `ar` of System V: fields of text, padded with blanks.
fn append(out: &mut Vec<u8>, Member { name, data }: Member<'_>) -> Result<(), Error> {
    let (name, size) = (format!("{name}/"), data.len().to_string());
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
    // Offsets of the names in the table of names.
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
    let (entry, segments) = (0_u64, 0_u64);
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
