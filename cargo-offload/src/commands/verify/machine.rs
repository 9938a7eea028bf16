//! Whether an image is for the machine that its record names, as far as the image itself tells.

use offload_containers::carrier::FileKind;
use offload_format::{Error, IntelArch, Target};
use offload_images::ptx::Ptx;
use offload_images::zebin::{self, Compatibility};
use offload_images::{code_object, cubin};

/// Compares an image of one of our packs with its target.
pub(super) fn check(target: &Target, bytes: &[u8]) -> Result<(), String> {
    let expected: &[FileKind] = match target {
        Target::Host(_) => &[FileKind::Elf],
        Target::Spirv64(_) => &[FileKind::SpirV],
        Target::Nvptx(_) => &[FileKind::Ptx],
        Target::Cubin(_) => &[FileKind::Cubin],
        Target::Amdgcn(_) => &[FileKind::AmdCodeObject],
        Target::Intel(_) => {
            &[FileKind::Zebin, FileKind::OclocArchive, FileKind::IntelOpenClElf, FileKind::PatchTokens]
        }
        // Source has no magic, and a target of a later release is unknown.
        _ => return Ok(()),
    };
    let kind = FileKind::detect(bytes).ok_or("the image is of no known format")?;
    if !expected.contains(&kind) {
        return Err(format!("the image is {kind}"));
    }
    if let (Target::Intel(arch), FileKind::Zebin) = (target, kind) {
        let devices = zebin::compatibility(bytes).map_err(|error| error.to_string())?;
        return intel(arch, &devices);
    }
    compare(Some(target), kind, bytes)
}

/// Compares an image of another tool chain's container with its target, if the container names one.
pub(super) fn check_foreign(target: Option<&Target>, bytes: &[u8]) -> Result<(), String> {
    FileKind::detect(bytes).map_or(Ok(()), |kind| compare(target, kind, bytes))
}

fn compare(target: Option<&Target>, kind: FileKind, bytes: &[u8]) -> Result<(), String> {
    match (target, recorded(kind, bytes).map_err(|error| error.to_string())?) {
        (Some(target), Some(is)) if !target.to_string().starts_with(&is) => {
            Err(format!("the image is for {is}"))
        }
        _ => Ok(()),
    }
}

/// The target as far as the image itself records it: a cubin does not record all suffixes of its architecture.
fn recorded(kind: FileKind, bytes: &[u8]) -> Result<Option<String>, Error> {
    let text = match kind {
        FileKind::Cubin => format!("cubin:{}", cubin::info(bytes)?.arch()),
        FileKind::Ptx => format!("nvptx:{}", Ptx::parse(bytes)?.target()),
        FileKind::AmdCodeObject => format!("amdgcn:{}", code_object::info(bytes)?.target_id),
        _ => return Ok(None),
    };
    // In the order and spelling of this project, if it knows the machine.
    Ok(text.parse::<Target>().ok().map(|target| target.to_string()))
}

/// Product families with their architecture and releases: what `ocloc` 22.43 writes into images for each. The numbers of
/// earlier families have changed between releases of ocloc, and later releases write IP versions.
const FAMILIES: [(u32, u32, [u32; 2]); 3] = [
    // DG1, DG2, Ponte Vecchio.
    (1210, 12, [10, 10]),
    (1270, 12, [55, 57]),
    (1271, 12, [60, 61]),
];

fn intel(arch: &IntelArch, image: &Compatibility) -> Result<(), String> {
    if let Some(ip @ [architecture, release, revision]) = image.ip_version {
        let is = format!("the image is for intel:{architecture}.{release}.{revision}");
        // ocloc takes a release's images for its other revisions.
        let same_release = arch.ip_version().is_some_and(|[of, at, _]| [of, at] == [architecture, release]);
        return if arch.covers(ip) || same_release { Ok(()) } else { Err(is) };
    }
    let family = image.product_family.and_then(|number| FAMILIES.iter().find(|(of, ..)| *of == number));
    match (family, arch.ip_version()) {
        (Some((number, of, [first, last])), Some([architecture, release, _]))
            if *of != architecture || !(*first..=*last).contains(&release) =>
        {
            Err(format!("the image is for Intel's product family {number}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZEBIN: &[u8] = include_bytes!("../../../../tests/data/saxpy-reduce.zebin");
    const CUBIN: &[u8] = include_bytes!("../../../../tests/data/device-12.9-sm_90a.cubin");
    const PTX: &[u8] = include_bytes!("../../../../tests/data/device-clang.ptx");
    const CODE_OBJECT: &[u8] = include_bytes!("../../../../tests/data/device-gfx1100.co");
    const SPIRV: &[u8] = include_bytes!("../../../../tests/data/saxpy-reduce.spv");

    fn checked(target: &str, bytes: &[u8]) -> Result<(), String> {
        check(&target.parse().unwrap(), bytes)
    }

    #[test]
    fn images_are_for_their_targets() {
        for (target, bytes) in [
            ("intel:pvc", ZEBIN),
            ("intel:xe-hpc", ZEBIN),
            ("cubin:sm_90a", CUBIN),
            ("nvptx:sm_80", PTX),
            ("amdgcn:gfx1100", CODE_OBJECT),
            ("spirv64", SPIRV),
            ("opencl-c", b"kernel void f(void) {}"),
        ] {
            assert_eq!(checked(target, bytes), Ok(()), "{target}");
        }
    }

    #[test]
    fn an_image_of_another_machine_is_told() {
        for (target, bytes, said) in [
            ("intel:acm-g10", ZEBIN, "the image is for Intel's product family 1271"),
            ("cubin:sm_80", CUBIN, "the image is for cubin:sm_90"),
            ("nvptx:sm_90", PTX, "the image is for nvptx:sm_80"),
            ("amdgcn:gfx906", CODE_OBJECT, "the image is for amdgcn:gfx1100"),
            ("spirv64", ZEBIN, "the image is "),
            ("host", SPIRV, "the image is "),
            ("cubin:sm_80", b"\x7fELF".as_slice(), "the image is "),
        ] {
            let problem = checked(target, bytes).unwrap_err();
            assert!(problem.starts_with(said), "{target}: {problem}");
        }
    }
}
