//! Streams: they are those of the back end.

use std::ffi::{c_int, c_uint, c_void};

use super::current::Current;
use super::failure::{CudaError, Failure, INVALID_VALUE, NOT_READY, Outcome, answered, returned};
use super::kernels;
use super::platform::{EventHandle, StreamHandle};
use crate::gpu::RawHostFunction;

/// `cudaStreamDefault`.
const DEFAULT: c_uint = 0;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamCreate(stream: *mut StreamHandle) -> CudaError {
    // SAFETY: the caller has a place for the handle.
    returned(unsafe { create(stream, DEFAULT) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamCreateWithFlags(
    stream: *mut StreamHandle,
    flags: c_uint,
) -> CudaError {
    // SAFETY: as above.
    returned(unsafe { create(stream, flags) })
}

/// Of the one priority that there is.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamCreateWithPriority(
    stream: *mut StreamHandle,
    flags: c_uint,
    _priority: c_int,
) -> CudaError {
    // SAFETY: as above.
    returned(unsafe { create(stream, flags) })
}

unsafe fn create(stream: *mut StreamHandle, flags: c_uint) -> Outcome {
    let created = Current::for_thread()?.platform.create_stream(flags)?;
    // SAFETY: by the contract.
    unsafe { *stream = created };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamDestroy(stream: StreamHandle) -> CudaError {
    // SAFETY: the caller gives its stream away.
    returned(unsafe { destroy(stream) })
}

unsafe fn destroy(stream: StreamHandle) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.destroy_stream(stream) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamSynchronize(stream: StreamHandle) -> CudaError {
    // SAFETY: the stream is the caller's.
    returned(unsafe { synchronize(stream) })
}

/// Waits, and prints what kernels have printed.
///
/// # Safety
/// That of [`Current::for_stream`].
pub(super) unsafe fn synchronize(stream: StreamHandle) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.synchronize_stream(stream) }?;
    kernels::context(&current)?.print()
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamQuery(stream: StreamHandle) -> CudaError {
    // SAFETY: the stream is the caller's.
    answered(unsafe { query(stream) }, NOT_READY)
}

unsafe fn query(stream: StreamHandle) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.query_stream(stream) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamGetFlags(
    stream: StreamHandle,
    flags: *mut c_uint,
) -> CudaError {
    // SAFETY: the stream is the caller's, which has a place for the number.
    returned(unsafe { get_flags(stream, flags) })
}

unsafe fn get_flags(stream: StreamHandle, flags: *mut c_uint) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    let found = unsafe { current.platform.stream_flags(stream) }?;
    // SAFETY: by the contract.
    unsafe { *flags = found };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaStreamWaitEvent(
    stream: StreamHandle,
    event: EventHandle,
    _flags: c_uint,
) -> CudaError {
    // SAFETY: stream and event are the caller's.
    returned(unsafe { wait_event(stream, event) })
}

unsafe fn wait_event(stream: StreamHandle, event: EventHandle) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.wait_event(stream, event) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaLaunchHostFunc(
    stream: StreamHandle,
    function: Option<RawHostFunction>,
    data: *mut c_void,
) -> CudaError {
    // SAFETY: the stream is the caller's, who answers for the function.
    returned(unsafe { call(stream, function, data) })
}

unsafe fn call(stream: StreamHandle, function: Option<RawHostFunction>, data: *mut c_void) -> Outcome {
    let function = function.ok_or_else(|| Failure::new(INVALID_VALUE, "null is no host function"))?;
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.call_in_order(stream, function, data) }
}
