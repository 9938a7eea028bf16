//! The GPU generation of patch-token containers, which ocloc wrote before zebin.
//!
//! A list of tokens behind a header, alone or in a section of an ELF file: `patch_shared.h` and `ocl_igc_shared` of
//! <https://github.com/intel/intel-graphics-compiler>.

use object::LittleEndian;
use object::read::elf::ElfFile64;
use object::read::{Object, ObjectSection};
use offload_format::{IntelArch, bytes};

use super::mismatch::Mismatch;

const MAGIC: &[u8] = b"CTNI";
const ELF: &[u8] = b"\x7fELF";

/// Numbers of `GFXCORE_FAMILY` with the architecture and its releases.
const CORES: [(u32, u32, [u32; 2]); 6] = [
    (11, 8, [0, u32::MAX]),
    (12, 9, [0, u32::MAX]),
    (15, 11, [0, u32::MAX]),
    (18, 12, [0, 10]),
    (0xc07, 12, [55, 74]),
    (0xc08, 12, [60, 61]),
];

pub(super) fn is_container(image: &[u8]) -> bool {
    image.starts_with(MAGIC) || image.starts_with(ELF)
}

pub(super) fn check(arch: &IntelArch, image: &[u8]) -> Result<(), Mismatch> {
    // Other ELF files of ocloc hold LLVM bitcode or SPIR-V, which name no device.
    let Some(tokens) = tokens(image) else { return Ok(()) };
    let core = bytes::u32_at(tokens, 8, "the header of patch tokens")?;
    let Some((_, of, [first, last])) = CORES.iter().find(|(number, ..)| *number == core) else {
        return Ok(());
    };
    match arch.ip_version() {
        Some([architecture, release, _]) if *of != architecture || !(*first..=*last).contains(&release) => {
            Err(Mismatch::new(format!("the image is for Intel's graphics core {core:#x}")))
        }
        _ => Ok(()),
    }
}

fn tokens(image: &[u8]) -> Option<&[u8]> {
    if image.starts_with(MAGIC) {
        return Some(image);
    }
    let file = ElfFile64::<LittleEndian>::parse(image).ok()?;
    file.sections().filter_map(|section| section.data().ok()).find(|data| data.starts_with(MAGIC))
}
