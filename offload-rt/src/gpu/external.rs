//! Descriptors of external memory and semaphores, which CUDA's driver and HIP's runtime have alike
//! (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__EXTRES__INTEROP.html>,
//! <https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_runtime_api/external_interop.html>).
#![cfg_attr(not(unix), allow(dead_code, reason = "only file descriptors are imported"))]

use std::ffi::{c_int, c_uint};

// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_*`, `hipExternalMemoryHandleType*`.
pub(crate) const MEMORY_OPAQUE_FD: c_uint = 1;

// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_*`, `hipExternalSemaphoreHandleType*`.
pub(super) const SEMAPHORE_OPAQUE_FD: c_uint = 1;
pub(super) const SEMAPHORE_TIMELINE_FD: c_uint = 9;

/// `CUDA_EXTERNAL_MEMORY_DEDICATED`, `hipExternalMemoryDedicated`.
pub(super) const DEDICATED: c_uint = 1;

/// A union of 16 bytes, of which the file descriptor is the first.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct HandleUnion {
    descriptor: c_int,
    rest: [c_uint; 3],
    _alignment: [u64; 0],
}

impl HandleUnion {
    fn new(descriptor: c_int) -> HandleUnion {
        HandleUnion { descriptor, rest: [0; 3], _alignment: [] }
    }
}

/// `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`, `hipExternalMemoryHandleDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryHandleDescriptor {
    kind: c_uint,
    handle: HandleUnion,
    size: u64,
    flags: c_uint,
    reserved: [c_uint; 16],
}

impl MemoryHandleDescriptor {
    pub(super) fn new(kind: c_uint, descriptor: c_int, size: u64, flags: c_uint) -> MemoryHandleDescriptor {
        MemoryHandleDescriptor { kind, handle: HandleUnion::new(descriptor), size, flags, reserved: [0; 16] }
    }
}

/// `CUDA_EXTERNAL_MEMORY_BUFFER_DESC`, `hipExternalMemoryBufferDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappedBufferDescriptor {
    offset: u64,
    size: u64,
    flags: c_uint,
    reserved: [c_uint; 16],
}

impl MappedBufferDescriptor {
    pub(super) fn new(offset: u64, size: u64) -> MappedBufferDescriptor {
        MappedBufferDescriptor { offset, size, flags: 0, reserved: [0; 16] }
    }
}

/// `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC`, `hipExternalSemaphoreHandleDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SemaphoreHandleDescriptor {
    kind: c_uint,
    handle: HandleUnion,
    flags: c_uint,
    reserved: [c_uint; 16],
}

impl SemaphoreHandleDescriptor {
    pub(super) fn new(kind: c_uint, descriptor: c_int) -> SemaphoreHandleDescriptor {
        SemaphoreHandleDescriptor { kind, handle: HandleUnion::new(descriptor), flags: 0, reserved: [0; 16] }
    }
}

/// The parameters of a wait or a signal, which have the value at the same place: `CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS`,
/// `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS`, and those of HIP.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SemaphoreParameters {
    value: u64,
    /// Of other kinds of semaphores.
    others: [u64; 8],
    flags: c_uint,
    reserved: [c_uint; 16],
}

impl SemaphoreParameters {
    pub(super) fn new(value: u64) -> SemaphoreParameters {
        SemaphoreParameters { value, others: [0; 8], flags: 0, reserved: [0; 16] }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The sizes and offsets of CUDA's and HIP's structures where pointers have 64 bits.
    #[test]
    fn descriptors_have_the_layout_of_the_libraries() {
        assert_eq!(size_of::<MemoryHandleDescriptor>(), 104);
        assert_eq!(offset_of!(MemoryHandleDescriptor, handle), 8);
        assert_eq!(offset_of!(MemoryHandleDescriptor, size), 24);
        assert_eq!(offset_of!(MemoryHandleDescriptor, flags), 32);
        assert_eq!(size_of::<MappedBufferDescriptor>(), 88);
        assert_eq!(offset_of!(MappedBufferDescriptor, flags), 16);
        assert_eq!(size_of::<SemaphoreHandleDescriptor>(), 96);
        assert_eq!(offset_of!(SemaphoreHandleDescriptor, handle), 8);
        assert_eq!(offset_of!(SemaphoreHandleDescriptor, flags), 24);
        assert_eq!(size_of::<SemaphoreParameters>(), 144);
        assert_eq!(offset_of!(SemaphoreParameters, flags), 72);
    }
}
