//! The loading of code objects.

use std::ptr;

use offload_format::{Target, bytes};

use super::api::{HipApi, HipError, hipErrorInvalidImage, hipErrorNoBinaryForGpu};
use crate::entry::{Entry, LoadedImage};
use crate::error::Problem;
use crate::gpu::{Entered, RawModule, call};
use crate::text::escape;

const ELF: &[u8] = b"\x7fELF";
/// `EM_AMDGPU` (<https://llvm.org/docs/AMDGPUUsage.html#header>).
const EM_AMDGPU: u16 = 224;

/// Loads `image` on the current device.
pub(super) fn load(entered: &Entered<'_, HipApi>, image: &LoadedImage) -> Result<RawModule, Problem> {
    check(image)?;
    let code = image.bytes().as_ptr().cast();
    let mut module = ptr::null_mut();
    // SAFETY: the image is a code object, and nothing in it reaches outside of it; the function writes one handle.
    unsafe { call!(entered.api(), hipModuleLoadData(&raw mut module, code)) }.map_err(refused)?;
    Ok(module)
}

/// HIP links none at load: builds make no such images.
pub(super) fn refuse_libraries(image: &LoadedImage, libraries: &[Entry]) -> Result<(), Problem> {
    match libraries.first() {
        None => Ok(()),
        Some(library) => {
            let text = format!("cannot load {}: it imports `{}`", image.entry(), escape(library.module()));
            Err(Problem::with_hint(
                text,
                "images for AMD GPUs have their libraries from the build: leave out `link`",
            ))
        }
    }
}

/// Refuses all but a well-formed code object: the runtime gets no size, and would parse unchecked containers.
fn check(image: &LoadedImage) -> Result<(), Problem> {
    let entry = image.entry();
    if !matches!(entry.target(), Ok(Target::Amdgcn(_))) {
        let kind = entry.image_kind();
        return Err(
            format!("it is of kind {kind} for {}, which HIP does not take", entry.target_text()).into()
        );
    }
    let machine = bytes::u16_at(image.bytes(), 18, "ELF header").unwrap_or(0);
    if !image.bytes().starts_with(ELF) || machine != EM_AMDGPU {
        return Err("it is not an AMD code object".to_string().into());
    }
    image.check_structure().map_err(Problem::from)
}

fn refused(error: HipError) -> Problem {
    match error.code() {
        Some(hipErrorNoBinaryForGpu | hipErrorInvalidImage) => {
            let hint = "compare the target with `rocminfo`'s name of the device; generic targets need ROCm 6.3 or later";
            Problem::with_hint(error.to_string(), hint)
        }
        _ => error.into(),
    }
}
