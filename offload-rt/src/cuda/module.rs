//! An image that the driver has loaded: finding its kernels and its variables.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUfunction, CUjit_option, CUmodule, CUresult};
use offload_format::ImageKind;

use super::context::{Context, Entered};
use super::driver::describe;
use super::stream::Stream;
use crate::entry::LoadedImage;
use crate::error::Problem;
use crate::text::escape_lines;

/// Bytes for the messages of the driver's PTX compiler.
const LOG_SIZE: usize = 16 << 10;

/// A loaded module.
#[derive(Debug)]
pub(super) struct CudaModule {
    raw: CUmodule,
    context: Arc<Context>,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for CudaModule {}
// SAFETY: as above; nothing changes after loading.
unsafe impl Sync for CudaModule {}

impl CudaModule {
    /// Has the driver load `image`. The error holds the messages of its compiler and a hint where there is one.
    pub(super) fn load(context: &Arc<Context>, image: &LoadedImage) -> Result<CudaModule, Problem> {
        let entered = context.enter().map_err(|error| Problem::from(describe(error)))?;
        let raw = match image.entry().image_kind() {
            // The driver takes PTX as a C string.
            ImageKind::Ptx => load(&entered, &[image.bytes(), b"\0"].concat())?,
            ImageKind::Cubin => load(&entered, image.bytes())?,
            kind => return Err(format!("it is of kind {kind}, which CUDA does not take").into()),
        };
        Ok(CudaModule { raw, context: context.clone() })
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The kernel `name`.
    pub(super) fn function(&self, name: &str, _: &Entered<'_>) -> Result<CUfunction, DriverError> {
        let name = CString::new(name).map_err(|_| DriverError(CUresult::CUDA_ERROR_NOT_FOUND))?;
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.raw, name) }
    }

    /// The names of all kernels, if the driver tells them.
    pub(super) fn kernel_names(&self, entered: &Entered<'_>) -> Option<Vec<String>> {
        // SAFETY: the module is loaded in the context that is current.
        unsafe { entered.driver().kernel_names(self.raw) }
    }

    /// Writes `bytes` to the variable `name`.
    pub(super) fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let entered = self.context.enter().map_err(describe)?;
        let c_name = CString::new(name).map_err(|_| "the name has a NUL".to_string())?;
        // SAFETY: the module is loaded.
        let found = unsafe { result::module::get_global(self.raw, c_name) };
        let (address, size) = match found {
            Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)) => {
                return Err("the image has no such variable".to_string());
            }
            found => found.map_err(describe)?,
        };
        if size != bytes.len() {
            return Err(format!("it is {size} bytes, {} are given", bytes.len()));
        }
        let stream = Stream::new(&entered).map_err(describe)?;
        // SAFETY: the variable has this size, and `bytes` lives until the stream has been waited for.
        unsafe { result::memcpy_htod_async(address, bytes, stream.raw()) }.map_err(describe)?;
        stream.wait().map_err(describe)
    }
}

impl Drop for CudaModule {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: it was loaded once, in this context.
            let _ = unsafe { result::module::unload(self.raw) };
        }
    }
}

fn load(_: &Entered<'_>, image: &[u8]) -> Result<CUmodule, Problem> {
    let mut log = vec![0u8; LOG_SIZE];
    let mut options =
        [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // CUDA takes numbers in the place of pointers.
    let size: *mut c_void = std::ptr::without_provenance_mut(LOG_SIZE.saturating_sub(1));
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), size];
    let mut module = std::ptr::null_mut();
    // SAFETY: the image is whole, since its hash was checked, and PTX ends in a NUL; there are two options with two
    // values; the log has the size that is said.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            image.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    loaded.result().map(|()| module).map_err(|error| refused(error, &log))
}

fn refused(error: DriverError, log: &[u8]) -> Problem {
    let log = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let log = escape_lines(&String::from_utf8_lossy(log));
    let text = format!("{}\n{log}", describe(error)).trim_end().to_string();
    match error.0 {
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            Problem::with_hint(text, "update the NVIDIA driver, or build for a lower PTX version or as cubin")
        }
        _ => text.into(),
    }
}
