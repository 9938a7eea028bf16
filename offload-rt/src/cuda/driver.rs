//! The CUDA driver: its initialization and version.

use std::ffi::c_int;
use std::sync::OnceLock;

use super::api::{CUDA_ERROR_NO_DEVICE, CuResult, CudaApi, LIBRARY, functions};
use crate::error::Error;
use crate::gpu::call;

/// The device name in errors of the driver.
pub(crate) const CUDA: &str = "CUDA";

const LIBRARY_HINT: &str = "if this machine has an NVIDIA GPU, install its driver (Debian: nvidia-driver; in a container, start it with the GPU, as `--gpus all`); under WSL the library is in /usr/lib/wsl/lib and comes with the driver of Windows, on NixOS in /run/opengl-driver/lib with `hardware.graphics.enable`";
const DEVICE_HINT: &str = "`nvidia-smi` shows the devices; CUDA_VISIBLE_DEVICES may hide them";

/// The driver, ready for calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CudaDriver {
    functions: &'static CudaApi,
    version: u32,
}

impl CudaDriver {
    /// Opens the library and initialises the driver, unless that was done: each call of a host function asks.
    pub(crate) fn open() -> Result<CudaDriver, Error> {
        static OPENED: OnceLock<CudaDriver> = OnceLock::new();
        if let Some(opened) = OPENED.get() {
            return Ok(*opened);
        }
        let functions =
            functions().map_err(|problem| Error::driver_library(CUDA, problem).with_hint(LIBRARY_HINT))?;
        // SAFETY: the only flags that there are.
        unsafe { call!(functions, cuInit(0)) }.map_err(|error| {
            let problem = format!("{LIBRARY} cannot start: {error}");
            let error = match error.code() {
                Some(CUDA_ERROR_NO_DEVICE) => Error::no_device(CUDA, problem),
                _ => Error::device(CUDA, problem),
            };
            error.with_hint(DEVICE_HINT)
        })?;
        let version = version(functions).map_err(|error| Error::device(CUDA, error.to_string()))?;
        Ok(*OPENED.get_or_init(|| CudaDriver { functions, version }))
    }

    pub(crate) fn functions(self) -> &'static CudaApi {
        self.functions
    }

    /// The version of CUDA that the driver supports: 12080 is 12.8.
    pub(crate) fn version(self) -> u32 {
        self.version
    }
}

fn version(functions: &'static CudaApi) -> CuResult<u32> {
    let mut version: c_int = 0;
    // SAFETY: the function writes one number.
    unsafe { call!(functions, cuDriverGetVersion(&raw mut version)) }?;
    Ok(u32::try_from(version).unwrap_or(0))
}

/// The driver has no device to show.
pub(super) fn no_device() -> Error {
    Error::no_device(CUDA, format!("{LIBRARY} shows no device")).with_hint(DEVICE_HINT)
}
