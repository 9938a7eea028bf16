//! Devices and their attributes.

use std::ffi::{c_char, c_int, c_uint};

use super::current::{self, Current};
use super::failure::{CudaError, Failure, INVALID_VALUE, Outcome, returned};
use super::kernels;
use super::platform::RUNTIME_VERSION;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGetDeviceCount(count: *mut c_int) -> CudaError {
    // SAFETY: the caller has a place for the number.
    returned(unsafe { get_device_count(count) })
}

unsafe fn get_device_count(count: *mut c_int) -> Outcome {
    let found = current::platform()?.device_count()?;
    // SAFETY: by the contract.
    unsafe { *count = found };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGetDevice(number: *mut c_int) -> CudaError {
    // SAFETY: the caller has a place for the number.
    returned(unsafe { get_device(number) })
}

unsafe fn get_device(number: *mut c_int) -> Outcome {
    let found = Current::for_thread()?.platform.device_number()?;
    // SAFETY: by the contract.
    unsafe { *number = found };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaSetDevice(number: c_int) -> CudaError {
    returned(set_device(number))
}

fn set_device(number: c_int) -> Outcome {
    current::platform()?.set_device(number)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_uint,
    number: c_int,
) -> CudaError {
    // SAFETY: the caller has a place for the value.
    returned(unsafe { get_attribute(value, attribute, number) })
}

unsafe fn get_attribute(value: *mut c_int, attribute: c_uint, number: c_int) -> Outcome {
    let found = current::platform()?.device_attribute(attribute, number)?;
    // SAFETY: by the contract.
    unsafe { *value = found };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaDeviceSynchronize() -> CudaError {
    returned(synchronize())
}

fn synchronize() -> Outcome {
    let current = Current::for_thread()?;
    current.platform.synchronize()?;
    kernels::context(&current)?.print()
}

/// Waits for all work: what a context has is the program's own, and stays.
#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaDeviceReset() -> CudaError {
    returned(synchronize())
}

/// Streams have one priority here.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDeviceGetStreamPriorityRange(
    least: *mut c_int,
    greatest: *mut c_int,
) -> CudaError {
    for priority in [least, greatest] {
        // SAFETY: the caller has a place for the number, or passes null.
        if let Some(priority) = unsafe { priority.as_mut() } {
            *priority = 0;
        }
    }
    returned(Ok(()))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDriverGetVersion(version: *mut c_int) -> CudaError {
    // SAFETY: the caller has a place for the number.
    returned(unsafe { get_version(version) })
}

unsafe fn get_version(version: *mut c_int) -> Outcome {
    let found = current::platform()?.version()?;
    // SAFETY: by the contract.
    unsafe { *version = found };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaRuntimeGetVersion(version: *mut c_int) -> CudaError {
    // SAFETY: the caller has a place for the number.
    unsafe { *version = RUNTIME_VERSION };
    returned(Ok(()))
}

/// Writes the name of a device to `size` bytes, with a NUL, and the bytes of its memory, for `cudaGetDeviceProperties` of
/// the headers of `offload-build`. The structure of CUDA's own differs between releases.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload___cudaDescribeDevice(
    name: *mut c_char,
    size: usize,
    memory: *mut usize,
    number: c_int,
) -> CudaError {
    // SAFETY: the caller has places for the values.
    returned(unsafe { describe(name, size, memory, number) })
}

unsafe fn describe(name: *mut c_char, size: usize, memory: *mut usize, number: c_int) -> Outcome {
    let platform = current::platform()?;
    let found = platform.device_name(number)?;
    // SAFETY: by the contract.
    unsafe {
        write_text(&found, name, size);
        *memory = platform.device_memory(number)?;
    }
    Ok(())
}

/// Writes `text` with a NUL, cut to its place.
///
/// # Safety
/// The place has `size` bytes.
unsafe fn write_text(text: &str, place: *mut c_char, size: usize) {
    let Some(room) = size.checked_sub(1) else { return };
    let length = text.len().min(room);
    // SAFETY: by the contract.
    unsafe {
        place.copy_from_nonoverlapping(text.as_ptr().cast(), length);
        *place.add(length) = 0;
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDeviceGetPCIBusId(
    text: *mut c_char,
    size: c_int,
    number: c_int,
) -> CudaError {
    // SAFETY: the caller has a place of this size.
    returned(unsafe { get_pci_address(text, size, number) })
}

unsafe fn get_pci_address(text: *mut c_char, size: c_int, number: c_int) -> Outcome {
    let found = current::platform()?.pci_address(number)?;
    let size = usize::try_from(size).unwrap_or(0);
    if found.len() >= size {
        return Err(Failure::new(INVALID_VALUE, format!("`{found}` does not fit into {size} bytes")));
    }
    // SAFETY: by the contract.
    unsafe { write_text(&found, text, size) };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDeviceCanAccessPeer(
    can_access: *mut c_int,
    number: c_int,
    peer: c_int,
) -> CudaError {
    // SAFETY: the caller has a place for the answer.
    returned(unsafe { can_access_peer(can_access, number, peer) })
}

unsafe fn can_access_peer(can_access: *mut c_int, number: c_int, peer: c_int) -> Outcome {
    let found = current::platform()?.can_access_peer(number, peer)?;
    // SAFETY: by the contract.
    unsafe { *can_access = c_int::from(found) };
    Ok(())
}

/// Ignores the flags, of which there are none.
#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaDeviceEnablePeerAccess(peer: c_int, _flags: c_uint) -> CudaError {
    returned(Current::for_thread().and_then(|current| current.platform.enable_peer_access(peer)))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaDeviceDisablePeerAccess(peer: c_int) -> CudaError {
    returned(Current::for_thread().and_then(|current| current.platform.disable_peer_access(peer)))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaDeviceSetLimit(limit: c_uint, value: usize) -> CudaError {
    returned(Current::for_thread().and_then(|current| current.platform.set_limit(limit, value)))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDeviceGetLimit(value: *mut usize, limit: c_uint) -> CudaError {
    let found = Current::for_thread().and_then(|current| current.platform.limit(limit));
    // SAFETY: the caller has a place for the number.
    returned(found.map(|found| unsafe { *value = found }))
}
