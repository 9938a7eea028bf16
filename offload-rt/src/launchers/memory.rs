//! Memory of the device, and copies and fills.
//!
//! Pointers of the program and of the device are of one address space, which the back end tells apart
//! (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__UNIFIED.html>): the kind of a copy that a caller names is
//! checked and not needed.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use super::current::Current;
use super::failure::{CudaError, Failure, INVALID_VALUE, Outcome, returned};
use super::platform::{Copy, Fill, PointerAttributes, RowsCopy, StreamHandle};
use super::{kernels, stream};

/// `cudaMemcpyDefault`, the last of the kinds.
const LAST_KIND: c_int = 4;
/// The alignment of rows in bytes: that of textures on every device.
const PITCH: usize = 512;
const INVALID_PITCH: CudaError = 12;
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

/// Ignores the flags: they are hints, or what unified addresses have anyway.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaHostAlloc(
    memory: *mut *mut c_void,
    size: usize,
    _flags: c_uint,
) -> CudaError {
    // SAFETY: the caller has a place for the pointer.
    returned(unsafe { allocate_host(memory, size) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaHostRegister(
    memory: *mut c_void,
    size: usize,
    flags: c_uint,
) -> CudaError {
    let current = Current::for_thread();
    // SAFETY: the memory is the caller's, who keeps it until it is unregistered.
    returned(current.and_then(|current| unsafe { current.platform.lock_host(memory, size, flags) }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaHostUnregister(memory: *mut c_void) -> CudaError {
    // SAFETY: as above.
    returned(Current::for_thread().and_then(|current| unsafe { current.platform.unlock_host(memory) }))
}

/// Writes the same address: program and devices share addresses of such memory.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaHostGetDevicePointer(
    device: *mut *mut c_void,
    host: *mut c_void,
    _flags: c_uint,
) -> CudaError {
    // SAFETY: the caller has a place for the pointer.
    unsafe { *device = host };
    returned(Ok(()))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMallocManaged(
    memory: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> CudaError {
    // SAFETY: the caller has a place for the pointer.
    returned(unsafe { allocate_managed(memory, size, flags) })
}

unsafe fn allocate_managed(memory: *mut *mut c_void, size: usize, flags: c_uint) -> Outcome {
    let allocated = Current::for_thread()?.platform.allocate_managed(size, flags)?;
    // SAFETY: by the contract.
    unsafe { *memory = allocated };
    Ok(())
}

/// Allocates rows that each start at a multiple of [`PITCH`].
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMallocPitch(
    memory: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> CudaError {
    // SAFETY: the caller has places for the pointer and the number.
    returned(unsafe { allocate_rows(memory, pitch, width, height) })
}

unsafe fn allocate_rows(memory: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) -> Outcome {
    let too_many = || Failure::new(INVALID_VALUE, format!("{height} rows of {width} bytes are too many"));
    let row = width.checked_next_multiple_of(PITCH).ok_or_else(too_many)?;
    let size = row.checked_mul(height).ok_or_else(too_many)?;
    // SAFETY: by the contract.
    unsafe {
        *pitch = row;
        allocate(memory, size)
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaPointerGetAttributes(
    attributes: *mut PointerAttributes,
    memory: *mut c_void,
) -> CudaError {
    let found = Current::for_thread().and_then(|current| current.platform.pointer_attributes(memory));
    // SAFETY: the caller has a place for the structure.
    returned(found.map(|found| unsafe { *attributes = found }))
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

/// The back end derives both devices from the addresses.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyPeer(
    to: *mut c_void,
    _to_device: c_int,
    from: *const c_void,
    _from_device: c_int,
    size: usize,
) -> CudaError {
    // SAFETY: the caller's ranges have this size.
    returned(unsafe { copy(to, from, size, LAST_KIND) })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpyPeerAsync(
    to: *mut c_void,
    _to_device: c_int,
    from: *const c_void,
    _from_device: c_int,
    size: usize,
    stream: StreamHandle,
) -> CudaError {
    // SAFETY: the caller's ranges have this size, until the stream has copied them.
    returned(unsafe { copy_in_order(to, from, size, LAST_KIND, stream) })
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

/// Waits for the copy, as the default stream does.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy2D(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> CudaError {
    let copy = RowsCopy { to, to_pitch, from, from_pitch, width, height };
    // SAFETY: the caller's ranges have these rows.
    returned(unsafe { copy_rows(copy, kind) })
}

unsafe fn copy_rows(copy: RowsCopy, kind: c_int) -> Outcome {
    // SAFETY: by the contract; null is the default stream.
    unsafe {
        copy_rows_in_order(copy, kind, ptr::null_mut())?;
        stream::synchronize(ptr::null_mut())
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: StreamHandle,
) -> CudaError {
    let copy = RowsCopy { to, to_pitch, from, from_pitch, width, height };
    // SAFETY: the caller's ranges have these rows, until the stream has copied them.
    returned(unsafe { copy_rows_in_order(copy, kind, stream) })
}

unsafe fn copy_rows_in_order(copy: RowsCopy, kind: c_int, stream: StreamHandle) -> Outcome {
    check_kind(kind)?;
    if copy.width > copy.to_pitch || copy.width > copy.from_pitch {
        return Err(Failure::new(INVALID_PITCH, format!("the rows overlap: {copy:?}")));
    }
    if copy.width == 0 || copy.height == 0 {
        return Ok(());
    }
    // SAFETY: by the contract.
    let current = unsafe { Current::for_stream(stream) }?;
    // SAFETY: by the contract.
    unsafe { current.platform.copy_rows_in_order(copy, stream) }
}

pub(super) fn check_kind(kind: c_int) -> Outcome {
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
