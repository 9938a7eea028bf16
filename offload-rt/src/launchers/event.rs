//! Events: they are those of the back end.

use std::ffi::c_uint;

use super::current::Current;
use super::failure::{CudaError, NOT_READY, Outcome, answered, returned};
use super::platform::{EventHandle, StreamHandle};

/// `cudaEventDefault`.
const DEFAULT: c_uint = 0;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventCreate(event: *mut EventHandle) -> CudaError {
    // SAFETY: the caller has a place for the handle.
    returned(unsafe { create(event, DEFAULT) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventCreateWithFlags(
    event: *mut EventHandle,
    flags: c_uint,
) -> CudaError {
    // SAFETY: as above.
    returned(unsafe { create(event, flags) })
}

unsafe fn create(event: *mut EventHandle, flags: c_uint) -> Outcome {
    let created = Current::for_thread()?.platform.create_event(flags)?;
    // SAFETY: by the contract.
    unsafe { *event = created };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventRecord(
    event: EventHandle,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: event and stream are the caller's.
    returned(unsafe { record(event, stream) })
}

unsafe fn record(event: EventHandle, stream: StreamHandle) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.record_event(event, stream) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventQuery(event: EventHandle) -> CudaError {
    // SAFETY: the event is the caller's.
    answered(unsafe { query(event) }, NOT_READY)
}

unsafe fn query(event: EventHandle) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    unsafe { current.platform.query_event(event) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventSynchronize(event: EventHandle) -> CudaError {
    // SAFETY: the event is the caller's.
    returned(unsafe { synchronize(event) })
}

unsafe fn synchronize(event: EventHandle) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    unsafe { current.platform.synchronize_event(event) }
}

/// Writes milliseconds.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventElapsedTime(
    milliseconds: *mut f32,
    start: EventHandle,
    end: EventHandle,
) -> CudaError {
    // SAFETY: the events are the caller's, which has a place for the number.
    returned(unsafe { elapsed_time(milliseconds, start, end) })
}

unsafe fn elapsed_time(milliseconds: *mut f32, start: EventHandle, end: EventHandle) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    let elapsed = unsafe { current.platform.elapsed_time(start, end) }?;
    // SAFETY: by the contract.
    unsafe { *milliseconds = elapsed };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaEventDestroy(event: EventHandle) -> CudaError {
    // SAFETY: the caller gives its event away.
    returned(unsafe { destroy(event) })
}

unsafe fn destroy(event: EventHandle) -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    unsafe { current.platform.destroy_event(event) }
}
