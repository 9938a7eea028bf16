//! The CUDA driver: its initialization, and the hints of its errors.

use std::borrow::Cow;
use std::ffi::c_int;

use super::api::{
    CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_NO_DEVICE,
    CuError, CuResult, Functions, LIBRARY, call, functions,
};
use crate::error::{Error, Problem};

/// The device name in errors of the driver.
pub(super) const CUDA: &str = "CUDA";

const LIBRARY_HINT: &str = "if this machine has an NVIDIA GPU, install its driver (Debian: nvidia-driver; in a container, start it with the GPU, as `--gpus all`); under WSL the library is in /usr/lib/wsl/lib and comes with the driver of Windows, on NixOS in /run/opengl-driver/lib with `hardware.graphics.enable`";
const DEVICE_HINT: &str = "`nvidia-smi` shows the devices; CUDA_VISIBLE_DEVICES may hide them";

/// The driver, ready for calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct CudaDriver {
    functions: &'static Functions,
    version: u32,
}

impl CudaDriver {
    /// Opens the library and initialises the driver.
    pub(super) fn open() -> Result<CudaDriver, Error> {
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
        Ok(CudaDriver { functions, version })
    }

    pub(super) fn functions(self) -> &'static Functions {
        self.functions
    }

    /// The version of CUDA that the driver supports: 12080 is 12.8.
    pub(super) fn version(self) -> u32 {
        self.version
    }
}

fn version(functions: &'static Functions) -> CuResult<u32> {
    let mut version: c_int = 0;
    // SAFETY: the function writes one number.
    unsafe { call!(functions, cuDriverGetVersion(&raw mut version)) }?;
    Ok(u32::try_from(version).unwrap_or(0))
}

/// The driver has no device to show.
pub(super) fn no_device() -> Error {
    Error::no_device(CUDA, format!("{LIBRARY} shows no device")).with_hint(DEVICE_HINT)
}

/// The problem of a failed call, with a hint if the context is unusable.
pub(super) fn problem(error: CuError) -> Problem {
    Problem { text: error.to_string(), hint: aftermath(error).map(Cow::Borrowed) }
}

/// Maps an error of a call to a problem with the context `what`.
pub(super) fn failed(what: &'static str) -> impl Fn(CuError) -> Problem {
    move |error| problem(error).during(what)
}

/// The hint for an error that leaves the context unusable.
fn aftermath(error: CuError) -> Option<&'static str> {
    match error.code()? {
        CUDA_ERROR_ILLEGAL_ADDRESS
        | CUDA_ERROR_LAUNCH_TIMEOUT
        | CUDA_ERROR_ASSERT
        | CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUDA_ERROR_MISALIGNED_ADDRESS
        | CUDA_ERROR_INVALID_ADDRESS_SPACE
        | CUDA_ERROR_INVALID_PC
        | CUDA_ERROR_LAUNCH_FAILED => Some(
            "`compute-sanitizer` names the access; CUDA refuses this process's further calls on the device",
        ),
        _ => None,
    }
}
