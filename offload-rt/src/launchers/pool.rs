//! Pools of a device's memory
//! (<https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY__POOLS.html>).

use std::ffi::{c_int, c_uint, c_void};

use super::current;
use super::failure::{CudaError, Outcome, returned};
use super::platform::PoolHandle;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDeviceGetDefaultMemPool(
    pool: *mut PoolHandle,
    number: c_int,
) -> CudaError {
    let found = current::platform().and_then(|platform| platform.default_pool(number));
    // SAFETY: the caller has a place for the handle.
    returned(found.map(|found| unsafe { *pool = found }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDeviceGetMemPool(
    pool: *mut PoolHandle,
    number: c_int,
) -> CudaError {
    let found = current::platform().and_then(|platform| platform.pool(number));
    // SAFETY: as above.
    returned(found.map(|found| unsafe { *pool = found }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemPoolSetAttribute(
    pool: PoolHandle,
    attribute: c_uint,
    value: *mut c_void,
) -> CudaError {
    // SAFETY: pool and value are the caller's.
    returned(unsafe { set_attribute(pool, attribute, value) })
}

unsafe fn set_attribute(pool: PoolHandle, attribute: c_uint, value: *mut c_void) -> Outcome {
    // SAFETY: by the contract.
    unsafe { current::platform()?.set_pool_attribute(pool, attribute, value) }
}
