//! The HIP runtime: its initialization and version.

use std::ffi::c_int;

use super::api::{HipApi, HipError, functions, hipErrorNoDevice};
use crate::error::Error;
use crate::gpu::call;

/// The device name in errors of the runtime.
pub(crate) const HIP: &str = "HIP";

const LIBRARY_HINT: &str = "if this machine has an AMD GPU, install HIP's runtime of ROCm 6 or later (AMD's package hip-runtime-amd), and the kernel module amdgpu";
const DEVICE_HINT: &str = "`rocminfo` shows the devices; the user has to be in the groups `render` and `video`, and HIP_VISIBLE_DEVICES may hide them";

/// The runtime, ready for calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HipRuntime {
    functions: &'static HipApi,
    version: Option<u32>,
}

impl HipRuntime {
    /// Opens the library and initialises the runtime.
    pub(crate) fn open() -> Result<HipRuntime, Error> {
        let functions =
            functions().map_err(|problem| Error::driver_library(HIP, problem).with_hint(LIBRARY_HINT))?;
        // SAFETY: the only flags that there are.
        match unsafe { call!(functions, hipInit(0)) } {
            Err(HipError::Code(hipErrorNoDevice, _)) => return Err(no_device()),
            started => started.map_err(|error| {
                Error::device(HIP, format!("the runtime cannot start: {error}")).with_hint(DEVICE_HINT)
            })?,
        }
        Ok(HipRuntime { functions, version: version(functions) })
    }

    pub(crate) fn functions(self) -> &'static HipApi {
        self.functions
    }

    /// The version of HIP that the runtime has: 60342134 is 6.3.42134.
    pub(super) fn version(self) -> Option<u32> {
        self.version
    }
}

fn version(functions: &'static HipApi) -> Option<u32> {
    let mut version: c_int = 0;
    // SAFETY: the function writes one number.
    unsafe { call!(functions, hipRuntimeGetVersion(&raw mut version)) }.ok()?;
    u32::try_from(version).ok()
}

/// The runtime has no device to show.
pub(super) fn no_device() -> Error {
    Error::no_device(HIP, "the runtime shows no device").with_hint(DEVICE_HINT)
}
