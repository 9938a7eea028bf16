//! Memory pools: handles, properties and attributes, which CUDA's driver and HIP's runtime have alike
//! (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MALLOC__ASYNC.html>,
//! <https://rocm.docs.amd.com/projects/HIP/en/latest/how-to/hip_runtime_api/memory_management/stream_ordered_allocator.html>).

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// The opaque target of a handle.
pub(crate) enum PoolTarget {}
/// `CUmemoryPool`, `hipMemPool_t`.
pub(crate) type RawPool = *mut PoolTarget;

// `CU_MEMPOOL_ATTR_*`, `hipMemPoolAttr*`: numbers of 64 bits.
pub(super) const RELEASE_THRESHOLD: c_uint = 4;
pub(super) const RESERVED_CURRENT: c_uint = 5;
pub(super) const RESERVED_HIGH: c_uint = 6;
pub(super) const USED_CURRENT: c_uint = 7;
pub(super) const USED_HIGH: c_uint = 8;

/// Bytes that a pool keeps when a stream is waited for, unless the program says otherwise.
pub(super) const KEPT: u64 = 256 << 20;

/// A pool of a context.
#[derive(Debug)]
pub(super) struct PoolHandle(pub(super) RawPool);

// SAFETY: the library's functions may be called from any thread.
unsafe impl Send for PoolHandle {}
// SAFETY: as above.
unsafe impl Sync for PoolHandle {}

/// `CUmemPoolProps`, `hipMemPoolProps`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct PoolProperties {
    allocation: c_uint,
    handles: c_uint,
    location: c_uint,
    device: c_int,
    security: *mut c_void,
    max_size: usize,
    reserved: [u8; 56],
}

impl PoolProperties {
    /// Memory of the device with this ordinal, for this process alone.
    pub(super) fn for_device(device: c_int) -> PoolProperties {
        const PINNED: c_uint = 1;
        const NO_HANDLES: c_uint = 0;
        const ON_DEVICE: c_uint = 1;
        PoolProperties {
            allocation: PINNED,
            handles: NO_HANDLES,
            location: ON_DEVICE,
            device,
            security: ptr::null_mut(),
            max_size: 0,
            reserved: [0; 56],
        }
    }
}

/// `CUmemAccessDesc`, `hipMemAccessDesc`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct PoolAccess {
    location: c_uint,
    device: c_int,
    flags: c_uint,
}

impl PoolAccess {
    /// Reading and writing by the device with this ordinal.
    pub(super) fn for_device(device: c_int) -> PoolAccess {
        const ON_DEVICE: c_uint = 1;
        const READ_AND_WRITE: c_uint = 3;
        PoolAccess { location: ON_DEVICE, device, flags: READ_AND_WRITE }
    }
}
