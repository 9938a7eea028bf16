//! Pools of a device's memory
//! (<https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY__POOLS.html>).

use std::ffi::{c_int, c_uint, c_void};

use super::current::{self, Current};
use super::failure::{CudaError, Outcome, returned};
use super::platform::{PoolHandle, StreamHandle};

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

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemPoolGetAttribute(
    pool: PoolHandle,
    attribute: c_uint,
    value: *mut c_void,
) -> CudaError {
    let platform = current::platform();
    // SAFETY: the pool is the caller's, which has a place for the value.
    returned(platform.and_then(|platform| unsafe { platform.pool_attribute(pool, attribute, value) }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemPoolTrimTo(pool: PoolHandle, kept: usize) -> CudaError {
    // SAFETY: the pool is the caller's.
    returned(current::platform().and_then(|platform| unsafe { platform.trim_pool(pool, kept) }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemPoolSetAccess(
    pool: PoolHandle,
    accesses: *const c_void,
    count: usize,
) -> CudaError {
    let platform = current::platform();
    // SAFETY: the pool is the caller's, and so many descriptions can be read.
    returned(platform.and_then(|platform| unsafe { platform.set_pool_access(pool, accesses, count) }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemPoolCreate(
    pool: *mut PoolHandle,
    properties: *const c_void,
) -> CudaError {
    // SAFETY: the caller's structure can be read.
    let created = current::platform().and_then(|platform| unsafe { platform.create_pool(properties) });
    // SAFETY: the caller has a place for the handle.
    returned(created.map(|created| unsafe { *pool = created }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemPoolDestroy(pool: PoolHandle) -> CudaError {
    // SAFETY: the caller gives its pool away.
    returned(current::platform().and_then(|platform| unsafe { platform.destroy_pool(pool) }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMallocFromPoolAsync(
    memory: *mut *mut c_void,
    size: usize,
    pool: PoolHandle,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller has a place for the pointer, the pool and the stream.
    returned(unsafe { allocate(memory, size, pool, stream) })
}

unsafe fn allocate(memory: *mut *mut c_void, size: usize, pool: PoolHandle, stream: StreamHandle) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    let allocated = unsafe { current.platform.allocate_from_pool(size, pool, stream) }?;
    // SAFETY: by the contract.
    unsafe { *memory = allocated };
    Ok(())
}
