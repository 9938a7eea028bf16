//! Devices and their attributes.

use std::ffi::{c_int, c_uint};

use super::current::{self, Current};
use super::failure::{CudaError, Outcome, returned};
use super::kernels;

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
