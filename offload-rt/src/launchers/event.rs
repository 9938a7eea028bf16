//! Events: they are those of the driver.

use std::ffi::c_uint;

use super::context::Current;
use super::failure::{CudaError, NOT_READY, Outcome, answered, returned};
use crate::cuda::api::{CU_EVENT_DEFAULT, CUevent, CUstream};
use crate::gpu::call;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventCreate(event: *mut CUevent) -> CudaError {
    // SAFETY: the caller has a place for the handle.
    returned(unsafe { create(event, CU_EVENT_DEFAULT) })
}

/// The numbers of flags are the driver's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventCreateWithFlags(
    event: *mut CUevent,
    flags: c_uint,
) -> CudaError {
    // SAFETY: as above.
    returned(unsafe { create(event, flags) })
}

unsafe fn create(event: *mut CUevent, flags: c_uint) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuEventCreate(event, flags)) }?)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventRecord(event: CUevent, stream: CUstream) -> CudaError {
    // SAFETY: event and stream are the caller's.
    returned(unsafe { record(event, stream) })
}

unsafe fn record(event: CUevent, stream: CUstream) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuEventRecord(event, stream)) }?)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventQuery(event: CUevent) -> CudaError {
    // SAFETY: the event is the caller's.
    answered(unsafe { query(event) }, NOT_READY)
}

unsafe fn query(event: CUevent) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuEventQuery(event)) }?)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventSynchronize(event: CUevent) -> CudaError {
    // SAFETY: the event is the caller's.
    returned(unsafe { synchronize(event) })
}

unsafe fn synchronize(event: CUevent) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuEventSynchronize(event)) }?)
}

/// Writes milliseconds.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventElapsedTime(
    milliseconds: *mut f32,
    start: CUevent,
    end: CUevent,
) -> CudaError {
    // SAFETY: the events are the caller's, which has a place for the number.
    returned(unsafe { elapsed_time(milliseconds, start, end) })
}

unsafe fn elapsed_time(milliseconds: *mut f32, start: CUevent, end: CUevent) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuEventElapsedTime(milliseconds, start, end)) }?)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventDestroy(event: CUevent) -> CudaError {
    // SAFETY: the caller gives its event away.
    returned(unsafe { destroy(event) })
}

unsafe fn destroy(event: CUevent) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(current.api(), cuEventDestroy_v2(event)) }?)
}
