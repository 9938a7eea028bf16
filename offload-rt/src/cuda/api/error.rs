//! The driver's result codes: names, texts and hints.

use std::ptr;

use super::library::CudaApi;
use super::types::{
    CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_MISALIGNED_ADDRESS, CUresult,
};
use crate::gpu::{ResultTexts, call, library_text};

impl ResultTexts for CudaApi {
    const INTERFACE: &'static str = "CUDA";

    fn library(&self) -> &str {
        &self.library
    }

    fn name(&'static self, code: CUresult) -> Option<String> {
        let mut name = ptr::null();
        // SAFETY: the function writes one pointer to a constant; it needs no context, not even `cuInit`.
        unsafe {
            call!(self, cuGetErrorName(code, &raw mut name)).ok()?;
            library_text(name)
        }
    }

    fn text(&'static self, code: CUresult) -> Option<String> {
        let mut text = ptr::null();
        // SAFETY: as for the name.
        unsafe {
            call!(self, cuGetErrorString(code, &raw mut text)).ok()?;
            library_text(text)
        }
    }

    fn sticky_error_hint(code: CUresult) -> Option<&'static str> {
        match code {
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
}
