//! Streams: they are those of the driver.

use std::ffi::{c_uint, c_void};

use super::context::Current;
use super::failure::{CudaError, NOT_READY, Outcome, answered, returned};
use super::kernels;
use crate::cuda::api::CUstream;
use crate::gpu::call;

/// `cudaStreamDefault`, as `CU_STREAM_DEFAULT`.
const DEFAULT: c_uint = 0;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamCreate(stream: *mut CUstream) -> CudaError {
    // SAFETY: the caller has a place for the handle.
    returned(unsafe { create(stream, DEFAULT) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamCreateWithFlags(
    stream: *mut CUstream,
    flags: c_uint,
) -> CudaError {
    // SAFETY: as above.
    returned(unsafe { create(stream, flags) })
}

unsafe fn create(stream: *mut CUstream, flags: c_uint) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuStreamCreate(stream, flags)) }?)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamDestroy(stream: CUstream) -> CudaError {
    // SAFETY: the caller gives its stream away.
    returned(unsafe { destroy(stream) })
}

unsafe fn destroy(stream: CUstream) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuStreamDestroy_v2(stream)) }?)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamSynchronize(stream: CUstream) -> CudaError {
    // SAFETY: the stream is the caller's.
    returned(unsafe { synchronize(stream) })
}

/// Waits, and prints what kernels have printed.
///
/// # Safety
/// `stream` is a stream of CUDA.
pub(super) unsafe fn synchronize(stream: CUstream) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { call!(current.api(), cuStreamSynchronize(stream)) }?;
    kernels::context(&current)?.print()
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamQuery(stream: CUstream) -> CudaError {
    // SAFETY: the stream is the caller's.
    answered(unsafe { query(stream) }, NOT_READY)
}

unsafe fn query(stream: CUstream) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuStreamQuery(stream)) }?)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamWaitEvent(
    stream: CUstream,
    event: *mut c_void,
    flags: c_uint,
) -> CudaError {
    // SAFETY: stream and event are the caller's.
    returned(unsafe { wait_event(stream, event, flags) })
}

unsafe fn wait_event(stream: CUstream, event: *mut c_void, flags: c_uint) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuStreamWaitEvent(stream, event.cast(), flags)) }?)
}
