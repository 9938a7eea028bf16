//! CUDA arrays.

use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::sync::{Mutex, PoisonError};

use super::channels::ChannelDescriptor;
use super::current::Current;
use super::elements::{ArrayForm, ArrayHandle, Extent};
use super::failure::{CudaError, Failure, INVALID_HANDLE, INVALID_VALUE, Outcome, returned};

/// The arrays that callers have, by address: a handle alone does not show the form of its array.
static ARRAYS: Mutex<BTreeMap<usize, ArrayForm>> = Mutex::new(BTreeMap::new());

/// # Errors
/// There is no such array.
pub(super) fn form_of(array: ArrayHandle) -> Outcome<ArrayForm> {
    let arrays = ARRAYS.lock().unwrap_or_else(PoisonError::into_inner);
    let form = arrays.get(&array.addr()).copied();
    form.ok_or_else(|| Failure::new(INVALID_HANDLE, format!("{array:?} is no array")))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMallocArray(
    array: *mut ArrayHandle,
    channels: *const ChannelDescriptor,
    width: usize,
    height: usize,
    flags: c_uint,
) -> CudaError {
    // SAFETY: the caller has a place for the handle, and channels.
    returned(unsafe { allocate(array, channels, Extent { width, height, depth: 0 }, flags) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMalloc3DArray(
    array: *mut ArrayHandle,
    channels: *const ChannelDescriptor,
    extent: Extent,
    flags: c_uint,
) -> CudaError {
    // SAFETY: as above.
    returned(unsafe { allocate(array, channels, extent, flags) })
}

unsafe fn allocate(
    array: *mut ArrayHandle,
    channels: *const ChannelDescriptor,
    extent: Extent,
    flags: c_uint,
) -> Outcome {
    // SAFETY: by the contract.
    let Some(channels) = (unsafe { channels.as_ref() }) else {
        return Err(Failure::new(INVALID_VALUE, "an array has channels, null is given"));
    };
    let form = ArrayForm { extent, flags, format: channels.format()? };
    if extent.width == 0 {
        return Err(Failure::new(INVALID_VALUE, format!("an array has elements, not {extent:?}")));
    }
    let allocated = Current::for_thread()?.platform.create_array(&form)?;
    ARRAYS.lock().unwrap_or_else(PoisonError::into_inner).insert(allocated.addr(), form);
    // SAFETY: by the contract.
    unsafe { *array = allocated };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaFreeArray(array: ArrayHandle) -> CudaError {
    // SAFETY: the caller gives its array away.
    returned(unsafe { free(array) })
}

unsafe fn free(array: ArrayHandle) -> Outcome {
    if array.is_null() {
        return Ok(());
    }
    let current = Current::for_thread()?;
    form_of(array)?;
    ARRAYS.lock().unwrap_or_else(PoisonError::into_inner).remove(&array.addr());
    // SAFETY: by the contract.
    unsafe { current.platform.destroy_array(array) }
}
