//! Whether an image is for the machine that a record names, as far as the image itself tells.
//!
//! A cubin and an AMD code object name their processor in the flags of their header, a zebin its devices in notes, PTX
//! has `.target`. Members of ocloc's archives are named for their devices, and its older containers name a generation.
//! SPIR-V, source and code for the host's CPU name none: their format alone is compared.
//!
//! ```
//! use offload_images::machine;
//!
//! let ptx = b".version 7.0\n.target sm_90\n.address_size 64\n";
//! let error = machine::check(&"nvptx:sm_80".parse()?, ptx).unwrap_err();
//! assert_eq!(error.to_string(), "the image is for nvptx:sm_90");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod intel;
mod mismatch;
mod patch_tokens;

pub use self::mismatch::Mismatch;
use crate::ImageFormat;
use crate::ptx::Ptx;
use crate::{code_object, cubin};
use offload_format::{Error, IntelArch, Target};

/// Compares `image` with the `target` that it is stored for: its format, and the machine that it names.
///
/// # Errors
/// If the image is of another format or for another machine, or cannot be read.
pub fn check(target: &Target, image: &[u8]) -> Result<(), Mismatch> {
    let format = ImageFormat::detect(image);
    let expected = match target {
        Target::Host(_) => {
            return if format.is_none() && image.starts_with(ELF) {
                Ok(())
            } else {
                Err(Mismatch::format(format))
            };
        }
        Target::Intel(arch) => return native_image(arch, image).map(drop),
        Target::Spirv64(_) | Target::AmdgcnSpirv => ImageFormat::SpirV,
        Target::Nvptx(_) => ImageFormat::Ptx,
        Target::Cubin(_) => ImageFormat::Cubin,
        Target::Amdgcn(_) => ImageFormat::AmdCodeObject,
        // Source has no magic, and a target of a later release is unknown.
        _ => return Ok(()),
    };
    if format == Some(expected) { compare(target, expected, image) } else { Err(Mismatch::format(format)) }
}

/// The native image for `arch`: of an archive, which ocloc writes for several devices, the first member that is for it;
/// else `image` itself.
///
/// # Errors
/// If no member, or not the image, is for `arch`, or it cannot be read.
///
/// ```
/// use offload_format::Target;
/// use offload_images::machine;
///
/// let Target::Intel(arch) = "intel:acm-g10".parse()? else { panic!() };
/// let archive = b"!<arch>\n64.12.60.7/     0           0     0     0       4         `\ncode";
/// let error = machine::native_image(&arch, archive).unwrap_err();
/// assert_eq!(error.to_string(), "the archive is for intel:12.60.7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn native_image<'a>(arch: &IntelArch, image: &'a [u8]) -> Result<&'a [u8], Mismatch> {
    match archive::is_archive(image) {
        true => archive::member_for(arch, image),
        false => intel::check(arch, image).map(|()| image),
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

fn compare(target: &Target, format: ImageFormat, image: &[u8]) -> Result<(), Mismatch> {
    match recorded(format, image)? {
        Some(is) if !target.to_string().starts_with(&is) => {
            Err(Mismatch::new(format!("the image is for {is}")))
        }
        _ => Ok(()),
    }
}

/// The target as far as the image itself records it: a cubin does not record all suffixes of its architecture.
fn recorded(format: ImageFormat, image: &[u8]) -> Result<Option<String>, Error> {
    let text = match format {
        // Code for a family is code for its first architecture too.
        ImageFormat::Cubin => format!("cubin:{}", cubin::info(image)?.arch().trim_end_matches('f')),
        ImageFormat::Ptx => format!("nvptx:{}", Ptx::parse(image)?.target()),
        ImageFormat::AmdCodeObject => format!("amdgcn:{}", code_object::info(image)?.target_id),
        ImageFormat::SpirV | ImageFormat::Zebin => return Ok(None),
    };
    // In the order and spelling of this project, if it knows the machine.
    Ok(text.parse::<Target>().ok().map(|target| target.to_string()))
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
