//! Whether an image is for the machine that a record names, as far as the image itself tells.
//!
//! A cubin and an AMD code object name their processor in the flags of their header, a zebin its devices in notes, PTX
//! has `.target`. SPIR-V, source and code for the host's CPU name none: their format alone is compared.
//!
//! ```
//! use offload_images::machine;
//!
//! let ptx = b".version 7.0\n.target sm_90\n.address_size 64\n";
//! let error = machine::check(&"nvptx:sm_80".parse()?, ptx).unwrap_err();
//! assert_eq!(error.to_string(), "the image is for nvptx:sm_90");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use crate::ImageFormat;
use crate::ptx::Ptx;
use crate::zebin::{self, Compatibility};
use crate::{code_object, cubin};
use offload_format::{Error, IntelArch, Target};

/// Why an image is not for its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

impl From<Error> for Mismatch {
    fn from(error: Error) -> Mismatch {
        Mismatch(error.to_string())
    }
}

/// Compares `image` with the `target` that it is stored for: its format, and the machine that it names.
///
/// # Errors
/// If the image is of another format or for another machine, or cannot be read.
pub fn check(target: &Target, image: &[u8]) -> Result<(), Mismatch> {
    let format = ImageFormat::detect(image);
    let expected = match target {
        Target::Host(_) => return if format.is_none() { starts_with(image, &[ELF]) } else { other(format) },
        // ocloc also writes archives for several devices, and the containers of its older releases.
        Target::Intel(_) if format.is_none() => return starts_with(image, &[ARCHIVE, ELF, PATCH_TOKENS]),
        Target::Intel(_) => ImageFormat::Zebin,
        Target::Spirv64(_) => ImageFormat::SpirV,
        Target::Nvptx(_) => ImageFormat::Ptx,
        Target::Cubin(_) => ImageFormat::Cubin,
        Target::Amdgcn(_) => ImageFormat::AmdCodeObject,
        // Source has no magic, and a target of a later release is unknown.
        _ => return Ok(()),
    };
    if format != Some(expected) {
        return other(format);
    }
    match target {
        Target::Intel(arch) => intel(arch, &zebin::compatibility(image)?),
        _ => compare(target, expected, image),
    }
}

/// Compares an image of another tool chain's container with the `target` that the container names: the machine alone,
/// where both tell one.
///
/// # Errors
/// If the image is for another machine, or cannot be read.
pub fn check_foreign(target: &Target, image: &[u8]) -> Result<(), Mismatch> {
    ImageFormat::detect(image).map_or(Ok(()), |format| compare(target, format, image))
}

const ELF: &[u8] = b"\x7fELF";
const ARCHIVE: &[u8] = b"!<arch>\n";
/// Of Intel's OpenCL before zebin.
const PATCH_TOKENS: &[u8] = b"CTNI";

fn starts_with(image: &[u8], magics: &[&[u8]]) -> Result<(), Mismatch> {
    if magics.iter().any(|magic| image.starts_with(magic)) { Ok(()) } else { other(None) }
}

fn other(format: Option<ImageFormat>) -> Result<(), Mismatch> {
    Err(Mismatch(match format {
        Some(format) => format!("the image is {format}"),
        None => "the image is of no known format".to_string(),
    }))
}

fn compare(target: &Target, format: ImageFormat, image: &[u8]) -> Result<(), Mismatch> {
    match recorded(format, image)? {
        Some(is) if !target.to_string().starts_with(&is) => Err(Mismatch(format!("the image is for {is}"))),
        _ => Ok(()),
    }
}

/// The target as far as the image itself records it: a cubin does not record all suffixes of its architecture.
fn recorded(format: ImageFormat, image: &[u8]) -> Result<Option<String>, Error> {
    let text = match format {
        ImageFormat::Cubin => format!("cubin:{}", cubin::info(image)?.arch()),
        ImageFormat::Ptx => format!("nvptx:{}", Ptx::parse(image)?.target()),
        ImageFormat::AmdCodeObject => format!("amdgcn:{}", code_object::info(image)?.target_id),
        ImageFormat::SpirV | ImageFormat::Zebin => return Ok(None),
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

fn intel(arch: &IntelArch, image: &Compatibility) -> Result<(), Mismatch> {
    if let Some(ip @ [architecture, release, revision]) = image.ip_version {
        let is = format!("the image is for intel:{architecture}.{release}.{revision}");
        // ocloc takes a release's images for its other revisions.
        let same_release = arch.ip_version().is_some_and(|[of, at, _]| [of, at] == [architecture, release]);
        return if arch.covers(ip) || same_release { Ok(()) } else { Err(Mismatch(is)) };
    }
    let family = image.product_family.and_then(|number| FAMILIES.iter().find(|(of, ..)| *of == number));
    match (family, arch.ip_version()) {
        (Some((number, of, [first, last])), Some([architecture, release, _]))
            if *of != architecture || !(*first..=*last).contains(&release) =>
        {
            Err(Mismatch(format!("the image is for Intel's product family {number}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZEBIN: &[u8] = include_bytes!("../../tests/data/saxpy-reduce.zebin");
    const CUBIN: &[u8] = include_bytes!("../../tests/data/device-12.9-sm_90a.cubin");
    const PTX: &[u8] = include_bytes!("../../tests/data/device-clang.ptx");
    const CODE_OBJECT: &[u8] = include_bytes!("../../tests/data/device-gfx1100.co");
    const SPIRV: &[u8] = include_bytes!("../../tests/data/saxpy-reduce.spv");

    fn checked(target: &str, bytes: &[u8]) -> Result<(), String> {
        check(&target.parse().unwrap(), bytes).map_err(|mismatch| mismatch.to_string())
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
