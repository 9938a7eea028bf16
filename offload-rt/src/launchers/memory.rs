//! Memory of the device, and copies and fills.
//!
//! Pointers of the program and of the device are of one address space, which the back end tells apart
//! (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__UNIFIED.html>): the kind of a copy that a caller names is
//! checked and not needed.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::current::Current;
use super::failure::{CudaError, Failure, INVALID_VALUE, Outcome, returned};
use super::platform::{Copy, Fill, StreamHandle};
use super::{kernels, stream};

/// `cudaMemcpyDefault`, the last of the kinds.
const LAST_KIND: c_int = 4;
const INVALID_MEMCPY_DIRECTION: CudaError = 21;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMalloc(memory: *mut *mut c_void, size: usize) -> CudaError {
    // SAFETY: the caller has a place for the pointer.
    returned(unsafe { allocate(memory, size) })
}

unsafe fn allocate(memory: *mut *mut c_void, size: usize) -> Outcome {
    let current = Current::for_thread()?;
    let allocated = if size == 0 { ptr::null_mut() } else { current.platform.allocate(size)? };
    // SAFETY: by the contract.
    unsafe { *memory = allocated };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMallocAsync(
    memory: *mut *mut c_void,
    size: usize,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller has a place for the pointer, and the stream.
    returned(unsafe { allocate_in_order(memory, size, stream) })
}

unsafe fn allocate_in_order(memory: *mut *mut c_void, size: usize, stream: StreamHandle) -> Outcome {
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    let mut allocated = ptr::null_mut();
    if size > 0 {
        // SAFETY: by the contract.
        allocated = unsafe { current.platform.allocate_in_order(size, stream) }?;
    }
    // SAFETY: by the contract.
    unsafe { *memory = allocated };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaFree(memory: *mut c_void) -> CudaError {
    // SAFETY: the caller gives its memory away.
    returned(unsafe { free(memory) })
}

unsafe fn free(memory: *mut c_void) -> Outcome {
    // Also of null: programs call it so that the context is made.
    let current = Current::for_thread()?;
    if memory.is_null() {
        return Ok(());
    }
    // SAFETY: by the contract.
    unsafe { current.platform.free(memory) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaFreeAsync(
    memory: *mut c_void,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller gives its memory away.
    returned(unsafe { free_in_order(memory, stream) })
}

unsafe fn free_in_order(memory: *mut c_void, stream: StreamHandle) -> Outcome {
    if memory.is_null() {
        return Ok(());
    }
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.free_in_order(memory, stream) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMallocHost(memory: *mut *mut c_void, size: usize) -> CudaError {
    // SAFETY: the caller has a place for the pointer.
    returned(unsafe { allocate_host(memory, size) })
}

unsafe fn allocate_host(memory: *mut *mut c_void, size: usize) -> Outcome {
    let allocated = Current::for_thread()?.platform.allocate_host(size)?;
    // SAFETY: by the contract.
    unsafe { *memory = allocated };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaFreeHost(memory: *mut c_void) -> CudaError {
    // SAFETY: the caller gives its memory away.
    returned(unsafe { free_host(memory) })
}

unsafe fn free_host(memory: *mut c_void) -> Outcome {
    if memory.is_null() {
        return Ok(());
    }
    let current = Current::for_thread()?;
    // SAFETY: by the contract.
    unsafe { current.platform.free_host(memory) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemGetInfo(free: *mut usize, total: *mut usize) -> CudaError {
    // SAFETY: the caller has places for the numbers.
    returned(unsafe { get_info(free, total) })
}

unsafe fn get_info(free: *mut usize, total: *mut usize) -> Outcome {
    let info = Current::for_thread()?.platform.memory_info()?;
    // SAFETY: by the contract.
    unsafe {
        *free = info.free;
        *total = info.total;
    }
    Ok(())
}

/// Waits for the copy, as the default stream does.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: c_int,
) -> CudaError {
    // SAFETY: the caller's ranges have this size.
    returned(unsafe { copy(to, from, size, kind) })
}

/// # Safety
/// Both ranges have `size` bytes.
pub(super) unsafe fn copy(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) -> Outcome {
    check_kind(kind)?;
    let current = Current::for_thread()?;
    if size == 0 {
        return Ok(());
    }
    // SAFETY: by the contract.
    unsafe { current.platform.copy(Copy { to, from, size }) }?;
    kernels::context(&current)?.print()
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: c_int,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller's ranges have this size, until the stream has copied them.
    returned(unsafe { copy_in_order(to, from, size, kind, stream) })
}

/// # Safety
/// Both ranges have `size` bytes, until the stream has copied them.
pub(super) unsafe fn copy_in_order(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: c_int,
    stream: StreamHandle,
) -> Outcome {
    check_kind(kind)?;
    if size == 0 {
        return Ok(());
    }
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.copy_in_order(Copy { to, from, size }, stream) }
}

fn check_kind(kind: c_int) -> Outcome {
    if (0..=LAST_KIND).contains(&kind) {
        return Ok(());
    }
    Err(Failure::new(INVALID_MEMCPY_DIRECTION, format!("{kind} is no kind of a copy")))
}

/// Ordered with the other work of the device, as the default stream is, and waits.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemset(
    memory: *mut c_void,
    value: c_int,
    size: usize,
) -> CudaError {
    // SAFETY: the caller's range has this size.
    returned(unsafe { fill_and_wait(memory, value, size) })
}

unsafe fn fill_and_wait(memory: *mut c_void, value: c_int, size: usize) -> Outcome {
    // SAFETY: by the contract; null is the default stream.
    unsafe {
        fill(memory, value, size, ptr::null_mut())?;
        stream::synchronize(ptr::null_mut())
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemsetAsync(
    memory: *mut c_void,
    value: c_int,
    size: usize,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller's range has this size.
    returned(unsafe { fill(memory, value, size, stream) })
}

unsafe fn fill(memory: *mut c_void, value: c_int, size: usize, stream: StreamHandle) -> Outcome {
    if size == 0 {
        return Ok(());
    }
    if memory.is_null() {
        return Err(Failure::new(INVALID_VALUE, format!("null has no {size} bytes to fill")));
    }
    // The lowest byte, as that of `memset`.
    let [value, ..] = value.to_le_bytes();
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.fill_in_order(Fill { to: memory, value, size }, stream) }
}
