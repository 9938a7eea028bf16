//! Bounds checks of images before a driver parses them: drivers take no length of most images, and trust the headers.
//!
//! Every offset and size of a header must lie within the image: of ELF files the tables, sections, segments and notes, of
//! SPIR-V the instructions, of ocloc's archives the members. A hash proves that an image is what was packed, not that it is
//! well-formed.

use offload_format::{Error, ErrorKind, ImageKind, bytes};

const ELF: &[u8] = b"\x7fELF";
const ARCHIVE: &[u8] = b"!<arch>\n";
const PE: &[u8] = b"MZ";
const MACH_O: [u8; 4] = 0xfeed_facf_u32.to_le_bytes();

/// Checks the bytes of an image of this kind.
///
/// # Errors
/// A range of the image exceeds it, or the image is truncated.
pub(crate) fn check(kind: ImageKind, image: &[u8]) -> Result<(), Error> {
    match kind {
        ImageKind::Ptx => text(image),
        ImageKind::SpirV => spirv(image),
        ImageKind::HostObject if image.starts_with(PE) => pe(image),
        ImageKind::HostObject if image.starts_with(&MACH_O) => mach_o(image),
        ImageKind::Cubin | ImageKind::HostObject => elf(image),
        ImageKind::Object if image.starts_with(ARCHIVE) => archive(image),
        ImageKind::Object if image.starts_with(ELF) => elf(image),
        _ => Ok(()),
    }
}

/// PTX is handed over with a zero at its end: another one would hide what follows it.
fn text(image: &[u8]) -> Result<(), Error> {
    match image.iter().position(|byte| *byte == 0) {
        None if image.is_empty() => Err(Error::truncated("the PTX", 0, 1)),
        Some(at) if image.iter().skip(at).any(|byte| *byte != 0) => {
            Err(Error::invalid("the zero byte in PTX at this offset", at as u64))
        }
        _ => Ok(()),
    }
}

/// Words of either order (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html>, section 2.3).
fn spirv(image: &[u8]) -> Result<(), Error> {
    const WHAT: &str = "an instruction of the SPIR-V module";
    let swapped = match bytes::u32_at(image, 0, "the SPIR-V header")? {
        0x0723_0203 => false,
        0x0302_2307 => true,
        _ => return Err(ErrorKind::Magic { what: "a SPIR-V module" }.into()),
    };
    let mut at = 20;
    bytes::range(image, 0, at, "the SPIR-V header")?;
    while at < image.len() as u64 {
        let first = bytes::u32_at(image, at, WHAT)?;
        let words = if swapped { first.swap_bytes() } else { first } >> 16;
        if words == 0 {
            return Err(Error::invalid("the number of words of a SPIR-V instruction", 0));
        }
        let size = u64::from(words) * 4;
        bytes::range(image, at, size, WHAT)?;
        at = at.saturating_add(size);
    }
    Ok(())
}

/// Members as System V has them: a header of 60 bytes, and a size in decimal.
fn archive(image: &[u8]) -> Result<(), Error> {
    const WHAT: &str = "a member of the archive";
    let mut at = ARCHIVE.len() as u64;
    while at < image.len() as u64 {
        let text = bytes::text_at(image, at.saturating_add(48), 10, WHAT)?;
        let size: u64 =
            text.trim_end().parse().map_err(|_| Error::invalid("the offset of a member's size", at))?;
        let start = at.saturating_add(60);
        bytes::range(image, start, size, WHAT)?;
        at = start.saturating_add(size).saturating_add(size % 2);
    }
    Ok(())
}

const SHT_STRTAB: u32 = 3;
const SHT_NOTE: u32 = 7;
const PT_NOTE: u32 = 4;
/// Sections of which nothing lies in the file: those of every ELF file, and NVIDIA's.
const NOBITS: [u32; 5] = [8, 0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015];

/// A 64-bit little-endian file (<https://gabi.xinuos.com/elf/02-eheader.html>).
fn elf(image: &[u8]) -> Result<(), Error> {
    const WHAT: &str = "ELF header";
    if bytes::array::<6>(image, 0, WHAT)? != [0x7f, b'E', b'L', b'F', 2, 1] {
        return Err(ErrorKind::Magic { what: "a 64-bit little-endian ELF file" }.into());
    }
    bytes::range(image, 0, 64, WHAT)?;
    for header in elf_table(image, 40, 58, "the section table of the ELF file")? {
        section(image, header)?;
    }
    for header in elf_table(image, 32, 54, "the segment table of the ELF file")? {
        segment(image, header)?;
    }
    Ok(())
}

/// The headers of a table whose start is at `offset` of the ELF header, and whose entry size and count are at `entries`.
fn elf_table<'i>(
    image: &'i [u8],
    offset: u64,
    entries: u64,
    what: &'static str,
) -> Result<std::slice::ChunksExact<'i, u8>, Error> {
    let start = bytes::u64_at(image, offset, "ELF header")?;
    let size = u64::from(bytes::u16_at(image, entries, "ELF header")?);
    let count = u64::from(bytes::u16_at(image, entries.saturating_add(2), "ELF header")?);
    let table = bytes::range(image, start, size.saturating_mul(count), what)?;
    Ok(table.chunks_exact(usize::try_from(size.max(1)).unwrap_or(usize::MAX)))
}

/// A dynamic library of macOS of 64 bits
/// (<https://github.com/apple-oss-distributions/xnu/blob/main/EXTERNAL_HEADERS/mach-o/loader.h>): its segments are in the file.
fn mach_o(image: &[u8]) -> Result<(), Error> {
    const WHAT: &str = "Mach-O load commands";
    /// `LC_SEGMENT_64`.
    const SEGMENT: u32 = 0x19;
    let count = bytes::u32_at(image, 16, WHAT)?;
    let mut command = 32u64;
    for _ in 0..count {
        let size = u64::from(bytes::u32_at(image, command.saturating_add(4), WHAT)?);
        bytes::range(image, command, size, WHAT)?;
        if bytes::u32_at(image, command, WHAT)? == SEGMENT {
            let offset = bytes::u64_at(image, command.saturating_add(40), WHAT)?;
            let content = bytes::u64_at(image, command.saturating_add(48), WHAT)?;
            bytes::range(image, offset, content, "Mach-O segment")?;
        }
        // A command is not empty: otherwise the count could be anything.
        command = command.saturating_add(size.max(8));
    }
    Ok(())
}

/// A DLL of 64 bits (<https://learn.microsoft.com/en-us/windows/win32/debug/pe-format>), whose tables are looked up in memory: the
/// loader of Windows compares them with its sections.
fn pe(image: &[u8]) -> Result<(), Error> {
    const WHAT: &str = "PE header";
    const PE32_PLUS: u16 = 0x20b;
    let header = u64::from(bytes::u32_at(image, 60, WHAT)?);
    if bytes::array::<4>(image, header, WHAT)? != *b"PE\0\0" {
        return Err(ErrorKind::Magic { what: "a PE file" }.into());
    }
    let sections = u64::from(bytes::u16_at(image, header.saturating_add(6), WHAT)?);
    let optional = u64::from(bytes::u16_at(image, header.saturating_add(20), WHAT)?);
    let start = header.saturating_add(24);
    if bytes::u16_at(image, start, WHAT)? != PE32_PLUS {
        return Err(ErrorKind::Magic { what: "a PE file of 64 bits" }.into());
    }
    let table = start.saturating_add(optional);
    let table = bytes::range(image, table, sections.saturating_mul(40), "the section table of the PE file")?;
    for header in table.chunks_exact(40) {
        const WHAT: &str = "a section of the PE file";
        let size = u64::from(bytes::u32_at(header, 16, WHAT)?);
        let offset = u64::from(bytes::u32_at(header, 20, WHAT)?);
        bytes::range(image, offset, size, WHAT)?;
    }
    Ok(())
}

fn section(image: &[u8], header: &[u8]) -> Result<(), Error> {
    const WHAT: &str = "a section of the ELF file";
    let kind = bytes::u32_at(header, 4, WHAT)?;
    if NOBITS.contains(&kind) {
        return Ok(());
    }
    let offset = bytes::u64_at(header, 24, WHAT)?;
    let size = bytes::u64_at(header, 32, WHAT)?;
    let content = bytes::range(image, offset, size, WHAT)?;
    match kind {
        // Readers of names stop at a zero.
        SHT_STRTAB if content.last().is_some_and(|last| *last != 0) => {
            Err(Error::truncated("the names of the ELF file", offset, size))
        }
        SHT_NOTE => notes(content, bytes::u64_at(header, 48, WHAT)?),
        _ => Ok(()),
    }
}

fn segment(image: &[u8], header: &[u8]) -> Result<(), Error> {
    const WHAT: &str = "a segment of the ELF file";
    let offset = bytes::u64_at(header, 8, WHAT)?;
    let size = bytes::u64_at(header, 32, WHAT)?;
    let content = bytes::range(image, offset, size, WHAT)?;
    match bytes::u32_at(header, 0, WHAT)? {
        PT_NOTE => notes(content, bytes::u64_at(header, 48, WHAT)?),
        _ => Ok(()),
    }
}

/// Each a header of three words, a name and a description, both padded.
fn notes(all: &[u8], align: u64) -> Result<(), Error> {
    const WHAT: &str = "a note of the ELF file";
    let align = if align == 8 { 8 } else { 4 };
    let mut at = 0;
    // What is shorter than a header pads the section.
    while at + 12 <= all.len() as u64 {
        let [name, description] = [bytes::u32_at(all, at, WHAT)?, bytes::u32_at(all, at + 4, WHAT)?];
        let start = bytes::align_up((at + 12).saturating_add(name.into()), align).unwrap_or(u64::MAX);
        bytes::range(all, start.min(all.len() as u64 + 1), description.into(), WHAT)?;
        at = bytes::align_up(start.saturating_add(description.into()), align).unwrap_or(u64::MAX);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [(ImageKind, &[u8]); 10] = [
        (ImageKind::Cubin, include_bytes!("../../tests/data/device-12.9-sm_80.cubin")),
        (ImageKind::Cubin, include_bytes!("../../tests/data/device-13.5-sm_90a.cubin")),
        (ImageKind::Cubin, include_bytes!("../../tests/data/calls-12.9-sm_100a.cubin")),
        (ImageKind::Object, include_bytes!("../../tests/data/device-gfx906.co")),
        (ImageKind::Object, include_bytes!("../../tests/data/device-gfx1100.co")),
        (ImageKind::Object, include_bytes!("../../tests/data/saxpy-reduce.zebin")),
        (ImageKind::Object, include_bytes!("../../tests/data/saxpy-reduce-dg1.clelf")),
        (ImageKind::Object, include_bytes!("../../tests/data/two.ocloc")),
        (ImageKind::SpirV, include_bytes!("../../tests/data/saxpy-reduce.spv")),
        (ImageKind::Ptx, include_bytes!("../../tests/data/device-nvcc.ptx")),
    ];

    #[test]
    fn images_of_compilers_are_whole_and_cut_ones_are_not() {
        for (kind, image) in SAMPLES {
            assert_eq!(check(kind, image), Ok(()), "{kind}");
            // Text may end anywhere.
            if kind == ImageKind::Ptx {
                continue;
            }
            for size in (9..image.len()).step_by(image.len() / 40 + 1) {
                let cut = &image[..size];
                // Between two instructions or members a shorter file is a whole one.
                let ends = kind == ImageKind::SpirV || cut.starts_with(ARCHIVE);
                assert!(check(kind, cut).is_err() || ends, "{kind}: {size} of {}", image.len());
            }
        }
    }

    #[test]
    fn what_reaches_outside_is_told() {
        let (_, cubin) = SAMPLES[0];
        let mut sections = cubin.to_vec();
        sections[40..48].copy_from_slice(&(cubin.len() as u64 - 64).to_le_bytes());
        assert!(check(ImageKind::Cubin, &sections).unwrap_err().to_string().contains("section table"));
        let mut count = cubin.to_vec();
        count[60..62].copy_from_slice(&u16::MAX.to_le_bytes());
        assert!(check(ImageKind::Cubin, &count).is_err());
        assert!(notes(&[4, 0, 0, 0, 255, 0, 0, 0, 1, 0, 0, 0, b'x', 0, 0, 0], 4).is_err());
        assert!(notes(&[255; 16], 8).is_err());
        assert!(notes(&[4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, b'x', 0, 0, 0, 1, 2, 3, 4, 0, 0], 4).is_ok());
    }

    #[test]
    fn a_zero_hides_no_text() {
        assert!(
            check(ImageKind::Ptx, b".version 7.0\n").is_ok()
                && check(ImageKind::Ptx, b".version\0\0").is_ok()
        );
        assert!(
            check(ImageKind::Ptx, b".version 7.0\0.entry").is_err() && check(ImageKind::Ptx, b"").is_err()
        );
    }

    #[test]
    fn every_changed_byte_of_a_header_ends_soon() {
        for (kind, image) in SAMPLES {
            for at in 0..image.len().min(256) {
                let mut changed = image.to_vec();
                changed[at] ^= 0xff;
                let _ = check(kind, &changed);
            }
        }
    }
}
