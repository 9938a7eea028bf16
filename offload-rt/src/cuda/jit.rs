//! The driver's compiler and linker: their messages, and images that are linked with the device libraries they import.
//!
//! <https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MODULE.html>

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use super::api::{
    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INPUT_PTX,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUjit_option, CUlinkState, CUmodule, CuError, CuResult, CudaApi,
};
use crate::entry::LoadedImage;
use crate::error::Problem;
use crate::gpu::{Entered, call};
use crate::text::escape_lines;

/// Bytes for the messages of one call, or of one link.
const LOG_SIZE: usize = 16 << 10;

/// An image as PTX, with its name for messages.
#[derive(Debug)]
pub(super) struct Ptx {
    name: CString,
    /// The driver takes a C string.
    text: Vec<u8>,
}

impl Ptx {
    pub(super) fn new(image: &LoadedImage) -> Ptx {
        let name = CString::new(image.entry().to_string()).unwrap_or_default();
        Ptx { name, text: [image.bytes(), b"\0"].concat() }
    }
}

/// Has the driver load native code.
pub(super) fn load_cubin(entered: &Entered<'_, CudaApi>, cubin: &[u8]) -> Result<CUmodule, Problem> {
    // SAFETY: the image is whole: its hash and its structure were checked.
    unsafe { load_at(entered, cubin.as_ptr().cast()) }
}

/// Has the driver compile `image` and load the result.
pub(super) fn load(entered: &Entered<'_, CudaApi>, image: &Ptx) -> Result<CUmodule, Problem> {
    // SAFETY: the text ends in a NUL.
    unsafe { load_at(entered, image.text.as_ptr().cast()) }
}

/// Has the driver compile `images`, link them, and load the result.
///
/// The driver gives out no compiled part that could be kept: it compiles a library again in each link.
pub(super) fn load_linked(entered: &Entered<'_, CudaApi>, images: &[Ptx]) -> Result<CUmodule, Problem> {
    let link = Link::new(entered.api()).map_err(|error| Problem::from(error.to_string()))?;
    for image in images {
        link.add(image).map_err(|error| link.log.refused(error))?;
    }
    let code = link.complete().map_err(|error| link.log.refused(error))?;
    // SAFETY: the link has made the code, and keeps it until it is dropped.
    unsafe { load_at(entered, code) }
}

/// # Safety
/// An image starts at `image`; PTX ends in a NUL.
unsafe fn load_at(entered: &Entered<'_, CudaApi>, image: *const c_void) -> Result<CUmodule, Problem> {
    let mut log = Log::new();
    let mut module = ptr::null_mut();
    let options = log.options.as_mut_ptr();
    let values = log.values.as_mut_ptr();
    // SAFETY: by the contract; there are two options with two values, and the log has the given size.
    let loaded =
        unsafe { call!(entered.api(), cuModuleLoadDataEx(&raw mut module, image, 2, options, values)) };
    loaded.map(|()| module).map_err(|error| log.refused(error))
}

/// A link that is under way, in the context that is current.
struct Link {
    raw: CUlinkState,
    api: &'static CudaApi,
    /// The driver writes to it until the link is destroyed.
    log: Log,
}

impl Link {
    fn new(api: &'static CudaApi) -> CuResult<Link> {
        let mut log = Log::new();
        let mut raw = ptr::null_mut();
        let options = log.options.as_mut_ptr();
        let values = log.values.as_mut_ptr();
        // SAFETY: there are two options with two values, which live as long as the link, as does the log of this size.
        unsafe { call!(api, cuLinkCreate_v2(2, options, values, &raw mut raw)) }?;
        Ok(Link { raw, api, log })
    }

    fn add(&self, Ptx { name, text }: &Ptx) -> CuResult<()> {
        let size = text.len();
        let name: *const c_char = name.as_ptr();
        // The driver's function takes no pointer to constant data, and changes none.
        let text = text.as_ptr().cast_mut().cast();
        let no_options = ptr::null_mut();
        let no_values = ptr::null_mut();
        // SAFETY: the text has this size; the driver keeps no reference to it.
        unsafe {
            call!(
                self.api,
                cuLinkAddData_v2(self.raw, CU_JIT_INPUT_PTX, text, size, name, 0, no_options, no_values)
            )
        }
    }

    /// The linked code, which lives as long as this.
    fn complete(&self) -> CuResult<*const c_void> {
        let mut code = ptr::null_mut();
        let mut size = 0;
        // SAFETY: the function writes a pointer and a size.
        unsafe { call!(self.api, cuLinkComplete(self.raw, &raw mut code, &raw mut size)) }?;
        Ok(code)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // SAFETY: it was made once.
        let _ = unsafe { call!(self.api, cuLinkDestroy(self.raw)) };
    }
}

/// Where the driver writes what is wrong with an image.
struct Log {
    text: Vec<u8>,
    options: Vec<CUjit_option>,
    /// On the heap, as the text: addresses stay the same when this moves.
    values: Vec<*mut c_void>,
}

impl Log {
    fn new() -> Log {
        let mut text = vec![0u8; LOG_SIZE];
        // CUDA takes numbers in the place of pointers.
        let size: *mut c_void = ptr::without_provenance_mut(LOG_SIZE.saturating_sub(1));
        let values = vec![text.as_mut_ptr().cast(), size];
        Log { text, options: vec![CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], values }
    }

    /// `error`, with the messages and a hint where there is one.
    fn refused(&self, error: CuError) -> Problem {
        let log = self.text.split(|byte| *byte == 0).next().unwrap_or_default();
        let log = escape_lines(&String::from_utf8_lossy(log));
        let text = format!("{error}\n{log}").trim_end().to_string();
        match error.code() {
            Some(CUDA_ERROR_UNSUPPORTED_PTX_VERSION) => Problem::with_hint(
                text,
                "update the NVIDIA driver, or build for a lower PTX version or as cubin",
            ),
            _ => text.into(),
        }
    }
}
