//! Types and numbers of `hip_runtime_api.h`, by its names; those that are used here.
//!
//! <https://github.com/ROCm/HIP/blob/rocm-6.2.x/include/hip/hip_runtime_api.h>, the same in ROCm 7.
#![allow(non_camel_case_types, non_upper_case_globals, reason = "HIP's own names")]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use crate::gpu::{BoxCopy, CopyPlace, RawArray, ResultCode};
pub(crate) use crate::gpu::{
    RawEvent as hipEvent_t, RawFunction as hipFunction_t, RawGraph as hipGraph_t,
    RawGraphExec as hipGraphExec_t, RawGraphNode as hipGraphNode_t, RawModule as hipModule_t,
    RawStream as hipStream_t,
};

pub(crate) type hipError_t = ResultCode;

/// An address of device memory.
pub(crate) type hipDeviceptr_t = *mut c_void;
pub(crate) type hipFunction_attribute = c_uint;

/// The attributes of an address.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct hipPointerAttribute_t {
    pub(crate) kind: c_uint,
    pub(crate) device: c_int,
    pub(crate) device_pointer: *mut c_void,
    pub(crate) host_pointer: *mut c_void,
    pub(crate) is_managed: c_int,
    pub(crate) allocation_flags: c_uint,
}

/// The launch of a node.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct hipKernelNodeParams {
    pub(crate) block: [c_uint; 3],
    pub(crate) extra: *mut *mut c_void,
    pub(crate) func: *mut c_void,
    pub(crate) grid: [c_uint; 3],
    pub(crate) kernel_params: *mut *mut c_void,
    pub(crate) shared_mem_bytes: c_uint,
}

/// A copy of a box.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct HIP_MEMCPY3D {
    src: MemcpySide,
    dst: MemcpySide,
    width_in_bytes: usize,
    height: usize,
    depth: usize,
}

/// The members of `HIP_MEMCPY3D` that begin with `src` or `dst`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct MemcpySide {
    x_in_bytes: usize,
    y: usize,
    z: usize,
    level: usize,
    memory_type: c_uint,
    host: *mut c_void,
    device: hipDeviceptr_t,
    array: RawArray,
    pitch: usize,
    height: usize,
}

impl HIP_MEMCPY3D {
    pub(crate) fn new(copy: &BoxCopy) -> HIP_MEMCPY3D {
        HIP_MEMCPY3D {
            src: MemcpySide::new(copy.from),
            dst: MemcpySide::new(copy.to),
            width_in_bytes: copy.width_in_bytes,
            height: copy.height,
            depth: copy.depth,
        }
    }
}

impl MemcpySide {
    fn new(place: CopyPlace) -> MemcpySide {
        let nothing = MemcpySide {
            x_in_bytes: 0,
            y: 0,
            z: 0,
            level: 0,
            memory_type: hipMemoryTypeHost,
            host: ptr::null_mut(),
            device: ptr::null_mut(),
            array: ptr::null_mut(),
            pitch: 0,
            height: 0,
        };
        match place {
            CopyPlace::Host { start, row, rows } => {
                MemcpySide { host: start, pitch: row, height: rows, ..nothing }
            }
            CopyPlace::Memory { address, row, rows } => MemcpySide {
                memory_type: hipMemoryTypeUnified,
                device: ptr::without_provenance_mut(address as usize),
                pitch: row,
                height: rows,
                ..nothing
            },
            CopyPlace::Array { array, x_in_bytes, y, z } => {
                MemcpySide { memory_type: hipMemoryTypeArray, array, x_in_bytes, y, z, ..nothing }
            }
        }
    }
}

macro_rules! numbers {
    ($type:ident: $($name:ident = $value:literal,)*) => {
        $(pub(crate) const $name: $type = $value;)*
    };
}

numbers! { hipError_t:
    hipErrorNoDevice = 100,
    hipErrorInvalidImage = 200,
    hipErrorNoBinaryForGpu = 209,
    hipErrorIllegalAddress = 700,
    hipErrorLaunchTimeOut = 702,
    hipErrorAssert = 710,
    hipErrorLaunchFailure = 719,
}

// Flags, which the functions take as `unsigned int`, and `hipMemoryType`.
numbers! { c_uint:
    hipEventDefault = 0,
    hipEventDisableTiming = 2,
    hipDeviceAttributeConcurrentManagedAccess = 9,
    hipHostMallocPortable = 1,
    hipMemAttachGlobal = 1,
    hipIpcMemLazyEnablePeerAccess = 1,
    hipStreamCaptureModeRelaxed = 2,
    hipStreamNonBlocking = 1,
    hipMemoryTypeUnregistered = 0,
    hipMemoryTypeHost = 1,
    hipMemoryTypeArray = 10,
    hipMemoryTypeUnified = 11,
}
