//! The HIP runtime: its initialization, and the hints of its errors.

use std::borrow::Cow;
use std::ffi::c_int;

use super::api::{
    Functions, HipError, call, functions, hipErrorAssert, hipErrorIllegalAddress, hipErrorLaunchFailure,
    hipErrorLaunchTimeOut, hipErrorNoDevice,
};
use crate::error::{Error, Problem};

/// The device name in errors of the runtime.
pub(super) const HIP: &str = "HIP";

const LIBRARY_HINT: &str = "if this machine has an AMD GPU, install HIP's runtime of ROCm 6 or later (AMD's package hip-runtime-amd), and the kernel module amdgpu";
const DEVICE_HINT: &str = "`rocminfo` shows the devices; the user has to be in the groups `render` and `video`, and HIP_VISIBLE_DEVICES may hide them";

/// The runtime, ready for calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct HipRuntime {
    functions: &'static Functions,
    version: Option<u32>,
}

impl HipRuntime {
    /// Opens the library and initialises the runtime.
    pub(super) fn open() -> Result<HipRuntime, Error> {
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

    pub(super) fn functions(self) -> &'static Functions {
        self.functions
    }

    /// The version of HIP that the runtime has: 60342134 is 6.3.42134.
    pub(super) fn version(self) -> Option<u32> {
        self.version
    }
}

fn version(functions: &'static Functions) -> Option<u32> {
    let mut version: c_int = 0;
    // SAFETY: the function writes one number.
    unsafe { call!(functions, hipRuntimeGetVersion(&raw mut version)) }.ok()?;
    u32::try_from(version).ok()
}

/// The runtime has no device to show.
pub(super) fn no_device() -> Error {
    Error::no_device(HIP, "the runtime shows no device").with_hint(DEVICE_HINT)
}

/// The problem of a failed call, with a hint if the context is unusable.
pub(super) fn problem(error: HipError) -> Problem {
    Problem { text: error.to_string(), hint: aftermath(error).map(Cow::Borrowed) }
}

/// Maps an error of a call to a problem with the context `what`.
pub(super) fn failed(what: &'static str) -> impl Fn(HipError) -> Problem {
    move |error| problem(error).during(what)
}

/// The hint for an error that leaves the context unusable.
fn aftermath(error: HipError) -> Option<&'static str> {
    match error.code()? {
        hipErrorIllegalAddress | hipErrorLaunchTimeOut | hipErrorAssert | hipErrorLaunchFailure => Some(
            "`rocgdb` stops where the kernel failed; HIP refuses this process's further work on the device",
        ),
        _ => None,
    }
}
