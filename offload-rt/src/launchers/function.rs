//! Attributes of kernels, and how many blocks of one a multiprocessor holds.

use std::ffi::{c_int, c_uint, c_void};

use super::context::Current;
use super::failure::{CudaError, Outcome, returned};
use super::kernels;
use crate::cuda::api::{CUfunction, CUfunction_attribute};
use crate::gpu::call;

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

/// The numbers of attributes are the driver's.
#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaFuncSetAttribute(
    stub: *const c_void,
    attribute: CUfunction_attribute,
    value: c_int,
) -> CudaError {
    returned(set_attribute(stub, attribute, value))
}

/// Of the kernel in the thread's context.
fn set_attribute(stub: *const c_void, attribute: CUfunction_attribute, value: c_int) -> Outcome {
    let current = Current::for_thread()?;
    let function = kernels::kernel(&current, stub)?.raw()?;
    // SAFETY: the kernel's module is loaded in the current context.
    Ok(unsafe { call!(current.api(), cuFuncSetAttribute(function, attribute, value)) }?)
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
    let function = kernels::kernel(&current, stub)?.raw()?;
    let read = FuncAttributes {
        shared_size: size(attribute(&current, function, 1)?),
        const_size: size(attribute(&current, function, 2)?),
        local_size: size(attribute(&current, function, 3)?),
        max_threads: attribute(&current, function, 0)?,
        registers: attribute(&current, function, 4)?,
        ptx_version: attribute(&current, function, 5)?,
        binary_version: attribute(&current, function, 6)?,
        cache_mode: attribute(&current, function, 7)?,
        max_dynamic_shared_size: attribute(&current, function, 8)?,
        preferred_carveout: attribute(&current, function, 9)?,
    };
    // SAFETY: by the contract.
    unsafe { attributes.write(read) };
    Ok(())
}

/// By the numbers of `CUfunction_attribute`
/// (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html>).
fn attribute(current: &Current, function: CUfunction, number: CUfunction_attribute) -> Outcome<c_int> {
    let mut value = 0;
    // SAFETY: the kernel's module is loaded in the current context; the function writes one number.
    unsafe { call!(current.api(), cuFuncGetAttribute(&raw mut value, number, function)) }?;
    Ok(value)
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
    let function = kernels::kernel(&current, stub)?.raw()?;
    // SAFETY: the kernel's module is loaded in the current context.
    Ok(unsafe { call!(current.api(), cuFuncSetCacheConfig(function, cache)) }?)
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

/// What a launch gives a block.
#[derive(Clone, Copy, Debug)]
struct Block {
    threads: c_int,
    /// Bytes of dynamic shared memory.
    shared: usize,
}

unsafe fn occupancy(blocks: *mut c_int, stub: *const c_void, block: Block, flags: c_uint) -> Outcome {
    let current = Current::for_thread()?;
    let function = kernels::kernel(&current, stub)?.raw()?;
    let Block { threads, shared } = block;
    // SAFETY: by the contract; the kernel's module is loaded in the current context.
    Ok(unsafe {
        call!(
            current.api(),
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, flags)
        )
    }?)
}
