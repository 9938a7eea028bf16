//! The runtime's result codes: names, texts and hints.

use super::library::HipApi;
use super::types::{
    hipError_t, hipErrorAssert, hipErrorIllegalAddress, hipErrorLaunchFailure, hipErrorLaunchTimeOut,
};
use crate::gpu::{ResultTexts, library_text};

impl ResultTexts for HipApi {
    const INTERFACE: &'static str = "HIP";

    fn library(&self) -> &str {
        &self.library
    }

    fn name(&'static self, code: hipError_t) -> Option<String> {
        // SAFETY: the function takes any number, and needs no device; its texts are constant.
        unsafe { library_text(self.hipGetErrorName?(code)) }
    }

    fn text(&'static self, code: hipError_t) -> Option<String> {
        // SAFETY: as for the name.
        unsafe { library_text(self.hipGetErrorString?(code)) }
    }

    fn sticky_error_hint(code: hipError_t) -> Option<&'static str> {
        match code {
            hipErrorIllegalAddress | hipErrorLaunchTimeOut | hipErrorAssert | hipErrorLaunchFailure => Some(
                "`rocgdb` stops where the kernel failed; HIP refuses this process's further work on the device",
            ),
            _ => None,
        }
    }
}
