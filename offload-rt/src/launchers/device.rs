//! Devices and their attributes.

use std::ffi::c_int;

use super::context::{self, Current};
use super::failure::{CudaError, Outcome, returned};
use super::kernels;
use crate::cuda::api::{CUdevice_attribute, DeviceId};
use crate::cuda::driver::CudaDriver;
use crate::gpu::call;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGetDeviceCount(count: *mut c_int) -> CudaError {
    // SAFETY: the caller has a place for the number.
    returned(unsafe { get_device_count(count) })
}

unsafe fn get_device_count(count: *mut c_int) -> Outcome {
    let devices = DeviceId::all(CudaDriver::open()?.functions())?;
    // SAFETY: by the contract.
    unsafe { *count = c_int::try_from(devices.len()).unwrap_or(c_int::MAX) };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaGetDevice(number: *mut c_int) -> CudaError {
    // SAFETY: the caller has a place for the number.
    returned(unsafe { get_device(number) })
}

unsafe fn get_device(number: *mut c_int) -> Outcome {
    let current = Current::for_thread()?;
    let device = current.device()?.raw;
    let devices = DeviceId::all(current.api())?;
    let position = devices.iter().position(|found| found.raw == device).unwrap_or(0);
    // SAFETY: by the contract.
    unsafe { *number = c_int::try_from(position).unwrap_or(0) };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaSetDevice(number: c_int) -> CudaError {
    returned(context::set_device(number))
}

/// The numbers of attributes are the driver's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDeviceGetAttribute(
    value: *mut c_int,
    attribute: CUdevice_attribute,
    number: c_int,
) -> CudaError {
    // SAFETY: the caller has a place for the value.
    returned(unsafe { get_attribute(value, attribute, number) })
}

unsafe fn get_attribute(value: *mut c_int, attribute: CUdevice_attribute, number: c_int) -> Outcome {
    let api = CudaDriver::open()?.functions();
    let device = context::device(api, number)?;
    // SAFETY: by the contract.
    Ok(unsafe { call!(api, cuDeviceGetAttribute(value, attribute, device.raw)) }?)
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaDeviceSynchronize() -> CudaError {
    returned(synchronize())
}

fn synchronize() -> Outcome {
    let current = Current::for_thread()?;
    // SAFETY: a context is current.
    unsafe { call!(current.api(), cuCtxSynchronize()) }?;
    kernels::context(&current)?.print()
}
