//! The target ID of a code object: processor and target features in the ELF header
//! (<https://llvm.org/docs/AMDGPUUsage.html#header>).

use object::LittleEndian as LE;
use object::read::elf::FileHeader;

use crate::elf::Elf;
use offload_format::{Error, ErrorKind};

/// `ELFABIVERSION_AMDGPU_HSA_V3`; each version of the code object adds one.
const ABI_V3: u8 = 1;
/// `ELFABIVERSION_AMDGPU_HSA_V6`, the last known version.
const ABI_V6: u8 = 4;
/// `EF_AMDGPU_MACH`.
const MACH: u32 = 0xff;

/// `EF_AMDGPU_MACH_AMDGCN_*` by number.
const PROCESSORS: [(u8, &str); 55] = [
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5a, "gfx1251"),
    (0x5f, "gfx9-4-generic"),
];

pub(super) struct TargetId {
    pub(super) text: String,
    pub(super) generic_version: Option<u8>,
    pub(super) version: u8,
}

/// Reads the target ID. `note_target`, the target in the metadata note, names the processor if [`PROCESSORS`] lacks its
/// number.
pub(super) fn read(file: &Elf<'_>, note_target: Option<&str>) -> Result<TargetId, Error> {
    let abi = file.header.e_ident().abi_version;
    if !(ABI_V3..=ABI_V6).contains(&abi) {
        return Err(ErrorKind::Version { what: "the ABI of the code object", found: abi.into() }.into());
    }
    let flags = file.header.e_flags(LE).0;
    let number = (flags & MACH) as u8;
    let what = "AMD processor number";
    let processor = processor(number)
        .or_else(|| note_target.and_then(processor_of_triple))
        .ok_or(ErrorKind::Unsupported { what, value: number.into() })?;
    let [.., generic] = flags.to_le_bytes();
    let features = if abi == ABI_V3 { features_v3(flags) } else { features_v4(flags) };
    Ok(TargetId {
        text: format!("{processor}{features}"),
        generic_version: Some(generic).filter(|version| abi >= ABI_V6 && *version != 0),
        version: abi + 2,
    })
}

fn processor(number: u8) -> Option<&'static str> {
    PROCESSORS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// `gfx1310` of `amdgcn-amd-amdhsa--gfx1310:xnack+`.
fn processor_of_triple(target: &str) -> Option<&str> {
    let (at, _) = target.rmatch_indices("gfx").next()?;
    let name = target.get(at..)?;
    let name = name.split(':').next()?;
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-').then_some(name)
}

/// Version 3 has one bit for each target feature, `EF_AMDGPU_FEATURE_XNACK_V3` and `..._SRAMECC_V3`: a cleared bit means
/// "off" as well as "unsupported".
fn features_v3(flags: u32) -> String {
    let sramecc = if flags & 0x200 != 0 { ":sramecc+" } else { "" };
    let xnack = if flags & 0x100 != 0 { ":xnack+" } else { "" };
    format!("{sramecc}{xnack}")
}

/// Later versions have two bits for each target feature, `EF_AMDGPU_FEATURE_XNACK_V4` and `..._SRAMECC_V4`: unsupported,
/// any, off, on.
fn features_v4(flags: u32) -> String {
    let sramecc = match flags >> 10 & 3 {
        2 => ":sramecc-",
        3 => ":sramecc+",
        _ => "",
    };
    let xnack = match flags >> 8 & 3 {
        2 => ":xnack-",
        3 => ":xnack+",
        _ => "",
    };
    format!("{sramecc}{xnack}")
}
