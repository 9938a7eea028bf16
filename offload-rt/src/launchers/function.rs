//! Attributes of kernels, and how many blocks of one a multiprocessor holds.

use std::ffi::{c_int, c_uint, c_void};

use super::current::Current;
use super::failure::{CudaError, Outcome, returned};
use super::kernels;
use super::platform::Block;
use crate::launch::Kernel;

/// `cudaFuncAttributes` up to the fields that CUDA 11 has; later releases add to its end.
#[derive(Debug)]
#[repr(C)]
pub(super) struct FuncAttributes {
    shared_size: usize,
    const_size: usize,
    local_size: usize,
    max_threads: c_int,
    registers: c_int,
    ptx_version: c_int,
    binary_version: c_int,
    cache_mode: c_int,
    max_dynamic_shared_size: c_int,
    preferred_carveout: c_int,
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaFuncSetAttribute(
    stub: *const c_void,
    attribute: c_uint,
    value: c_int,
) -> CudaError {
    returned(set_attribute(stub, attribute, value))
}

/// Of the kernel in the thread's context.
fn set_attribute(stub: *const c_void, attribute: c_uint, value: c_int) -> Outcome {
    let current = Current::for_thread()?;
    let kernel = kernels::kernel(&current, stub)?;
    current.platform.set_function_attribute(&kernel, attribute, value)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaFuncGetAttributes(
    attributes: *mut FuncAttributes,
    stub: *const c_void,
) -> CudaError {
    // SAFETY: the caller has a place for the structure.
    returned(unsafe { get_attributes(attributes, stub) })
}

unsafe fn get_attributes(attributes: *mut FuncAttributes, stub: *const c_void) -> Outcome {
    let current = Current::for_thread()?;
    let kernel = &*kernels::kernel(&current, stub)?;
    let read = FuncAttributes {
        shared_size: size(attribute(&current, kernel, 1)?),
        const_size: size(attribute(&current, kernel, 2)?),
        local_size: size(attribute(&current, kernel, 3)?),
        max_threads: attribute(&current, kernel, 0)?,
        registers: attribute(&current, kernel, 4)?,
        ptx_version: attribute(&current, kernel, 5)?,
        binary_version: attribute(&current, kernel, 6)?,
        cache_mode: attribute(&current, kernel, 7)?,
        max_dynamic_shared_size: attribute(&current, kernel, 8)?,
        preferred_carveout: attribute(&current, kernel, 9)?,
    };
    // SAFETY: by the contract.
    unsafe { attributes.write(read) };
    Ok(())
}

/// By the numbers of `CUfunction_attribute`
/// (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html>).
fn attribute(current: &Current, kernel: &Kernel, number: c_uint) -> Outcome<c_int> {
    current.platform.function_attribute(kernel, number)
}

fn size(value: c_int) -> usize {
    usize::try_from(value).unwrap_or(0)
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaFuncSetCacheConfig(stub: *const c_void, cache: c_uint) -> CudaError {
    returned(set_cache(stub, cache))
}

fn set_cache(stub: *const c_void, cache: c_uint) -> Outcome {
    let current = Current::for_thread()?;
    let kernel = kernels::kernel(&current, stub)?;
    current.platform.set_cache(&kernel, cache)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    stub: *const c_void,
    block: c_int,
    shared: usize,
) -> CudaError {
    // SAFETY: the caller has a place for the number.
    returned(unsafe { occupancy(blocks, stub, Block { threads: block, shared }, 0) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: *mut c_int,
    stub: *const c_void,
    block: c_int,
    shared: usize,
    flags: c_uint,
) -> CudaError {
    // SAFETY: as above.
    returned(unsafe { occupancy(blocks, stub, Block { threads: block, shared }, flags) })
}

unsafe fn occupancy(blocks: *mut c_int, stub: *const c_void, block: Block, flags: c_uint) -> Outcome {
    let current = Current::for_thread()?;
    let kernel = kernels::kernel(&current, stub)?;
    let found = current.platform.occupancy(&kernel, block, flags)?;
    // SAFETY: by the contract.
    unsafe { *blocks = found };
    Ok(())
}
