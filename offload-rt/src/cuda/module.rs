//! The loading of PTX and native code, and the kernels of what is loaded.

use std::ffi::CStr;
use std::ptr;

use offload_format::ImageKind;

use super::api::{CUfunction, CUmodule, CudaApi};
use super::jit::{self, Ptx};
use crate::entry::LoadedImage;
use crate::error::Problem;
use crate::gpu::{Entered, call};

/// Loads `image`, linked with `libraries`, into the current context.
pub(super) fn load(
    entered: &Entered<'_, CudaApi>,
    image: &LoadedImage,
    libraries: &[LoadedImage],
) -> Result<CUmodule, Problem> {
    image.check_structure()?;
    match (image.entry().image_kind(), libraries) {
        (ImageKind::Ptx, []) => jit::load(entered, &Ptx::new(image)),
        (ImageKind::Ptx, _) => jit::load_linked(entered, &linked(image, libraries)?),
        (ImageKind::Cubin, []) => jit::load_cubin(entered, image.bytes()),
        (kind, []) => Err(format!("it is of kind {kind}, which CUDA does not take").into()),
        (kind, _) => Err(format!("it is of kind {kind}, which CUDA does not link").into()),
    }
}

/// `image` and `libraries` for the driver's linker.
fn linked(image: &LoadedImage, libraries: &[LoadedImage]) -> Result<Vec<Ptx>, Problem> {
    let mut images = vec![Ptx::new(image)];
    for library in libraries {
        library.check_structure()?;
        images.push(Ptx::new(library));
    }
    Ok(images)
}

/// The names of a module's kernels; `None` before CUDA 12.4.
///
/// # Safety
/// `module` is loaded in the current context.
pub(super) unsafe fn kernel_names(api: &'static CudaApi, module: CUmodule) -> Option<Vec<String>> {
    let mut count = 0;
    // SAFETY: the function writes one number.
    unsafe { call!(api, cuModuleGetFunctionCount(&raw mut count, module)) }.ok()?;
    let mut kernels = vec![ptr::null_mut(); count as usize];
    // SAFETY: there is space for so many handles.
    unsafe { call!(api, cuModuleEnumerateFunctions(kernels.as_mut_ptr(), count, module)) }.ok()?;
    // SAFETY: the kernels are of the module.
    let names = kernels.into_iter().map(|kernel| unsafe { kernel_name(api, kernel) });
    let mut names: Vec<String> = names.collect::<Option<_>>()?;
    names.sort();
    Some(names)
}

/// # Safety
/// `kernel` is of a module that is loaded in the current context.
unsafe fn kernel_name(api: &'static CudaApi, kernel: CUfunction) -> Option<String> {
    let mut name = ptr::null();
    // SAFETY: the function writes one pointer.
    unsafe { call!(api, cuFuncGetName(&raw mut name, kernel)) }.ok()?;
    if name.is_null() {
        return None;
    }
    // SAFETY: names are C strings that live as long as the module, and are copied.
    Some(unsafe { CStr::from_ptr(name) }.to_str().ok()?.to_string())
}
