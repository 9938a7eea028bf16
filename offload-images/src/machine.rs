//! Comparison of the target in an image with the target in its record.
//!
//! A cubin and an AMD code object name their processor in the flags of their header, a zebin its devices in notes, and
//! PTX has `.target`. Members of ocloc's archives are named after their devices, and its older containers name a
//! generation. SPIR-V, source and code for the host's CPU name no target: only their format is compared.
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

/// Compares the format and the target of `image` with the recorded `target`.
///
/// # Errors
/// If the image is of another format or for another machine, or cannot be read.
pub fn check(target: &Target, image: &[u8]) -> Result<(), Mismatch> {
    let format = ImageFormat::detect(image);
    let expected = match target {
        Target::Host(_) if format.is_none() && is_of_cpu(image) => return Ok(()),
        Target::Host(_) => return Err(Mismatch::format(format)),
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

/// The native image for `arch`: the first matching member of an ocloc archive, or `image` itself.
///
/// # Errors
/// If neither a member nor the image is for `arch`, or it cannot be read.
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
    if archive::is_archive(image) {
        return archive::member_for(arch, image);
    }
    intel::check(arch, image)?;
    Ok(image)
}

/// Compares an image in another tool chain's container with the `target` that the container names: the target alone, if
/// the image has one.
///
/// # Errors
/// If the image is for another machine, or cannot be read.
pub fn check_foreign(target: &Target, image: &[u8]) -> Result<(), Mismatch> {
    ImageFormat::detect(image).map_or(Ok(()), |format| compare(target, format, image))
}

/// Whether an image is a shared object of Linux, a DLL of Windows or a dynamic library of macOS.
fn is_of_cpu(image: &[u8]) -> bool {
    const MACH_O: [u8; 4] = 0xfeed_facf_u32.to_le_bytes();
    image.starts_with(b"\x7fELF") || image.starts_with(b"MZ") || image.starts_with(&MACH_O)
}

fn compare(target: &Target, format: ImageFormat, image: &[u8]) -> Result<(), Mismatch> {
    match recorded(format, image)? {
        Some(is) if !target.to_string().starts_with(&is) => {
            Err(Mismatch::new(format!("the image is for {is}")))
        }
        _ => Ok(()),
    }
}

/// The target in the image: a cubin does not record all suffixes of its architecture.
fn recorded(format: ImageFormat, image: &[u8]) -> Result<Option<String>, Error> {
    let text = match format {
        // Family-specific code also runs on the first architecture of the family.
        ImageFormat::Cubin => format!("cubin:{}", cubin::info(image)?.arch().trim_end_matches('f')),
        ImageFormat::Ptx => format!("nvptx:{}", Ptx::parse(image)?.target()),
        ImageFormat::AmdCodeObject => format!("amdgcn:{}", code_object::info(image)?.target_id),
        ImageFormat::SpirV | ImageFormat::Zebin => return Ok(None),
    };
    // Normalised to this project's spelling, if it knows the target.
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

    fn check_text(target: &str, bytes: &[u8]) -> Result<(), String> {
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
            ("host", b"\x7fELF"),
            ("host", b"MZ"),
            ("host", b"\xcf\xfa\xed\xfe"),
        ] {
            assert_eq!(check_text(target, bytes), Ok(()), "{target}");
        }
    }

    #[test]
    fn an_image_of_another_machine_is_refused() {
        for (target, bytes, expected) in [
            ("intel:acm-g10", ZEBIN, "the image is for Intel's product family 1271"),
            ("cubin:sm_80", CUBIN, "the image is for cubin:sm_90"),
            ("nvptx:sm_90", PTX, "the image is for nvptx:sm_80"),
            ("amdgcn:gfx906", CODE_OBJECT, "the image is for amdgcn:gfx1100"),
            ("spirv64", ZEBIN, "the image is "),
            ("host", SPIRV, "the image is "),
            ("cubin:sm_80", b"\x7fELF".as_slice(), "the image is "),
        ] {
            let problem = check_text(target, bytes).unwrap_err();
            assert!(problem.starts_with(expected), "{target}: {problem}");
        }
    }
}
