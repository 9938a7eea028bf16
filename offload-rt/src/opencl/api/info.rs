//! Asking drivers: OpenCL's functions that tell a value of any size.

use std::ffi::c_void;
use std::ptr;

use opencl_sys::{CL_SUCCESS, cl_int};

use super::error::{ClError, ClResult};

/// Where an answer goes: how many bytes there are for it, the value, and the size that the value has.
pub(super) struct Answer {
    pub(super) capacity: usize,
    pub(super) value: *mut c_void,
    pub(super) size: *mut usize,
}

/// The answer to `ask`: its size is queried first, then the bytes.
pub(super) fn bytes(ask: &dyn Fn(Answer) -> ClResult<cl_int>) -> ClResult<Vec<u8>> {
    let mut size = 0;
    check(ask(Answer { capacity: 0, value: ptr::null_mut(), size: &raw mut size })?)?;
    let mut bytes = vec![0; size];
    if size > 0 {
        check(ask(Answer { capacity: size, value: bytes.as_mut_ptr().cast(), size: ptr::null_mut() })?)?;
    }
    Ok(bytes)
}

/// Numbers as large as addresses.
pub(in crate::opencl) fn sizes(bytes: &[u8]) -> Vec<usize> {
    let (chunks, _) = bytes.as_chunks();
    chunks.iter().map(|chunk| usize::from_ne_bytes(*chunk)).collect()
}

/// Compares what a function returned with success.
pub(super) fn check(status: cl_int) -> ClResult<()> {
    if status == CL_SUCCESS { Ok(()) } else { Err(ClError::Code(status)) }
}
