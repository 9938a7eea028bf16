//! Types and numbers of `cuda.h`, by its names; those that are used here.
//!
//! <https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html>
#![allow(non_camel_case_types, reason = "CUDA's own names")]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use crate::gpu::{BoxCopy, CopyPlace, RawArray, ResultCode, handles};
pub(crate) use crate::gpu::{
    RawEvent as CUevent, RawFunction as CUfunction, RawGraph as CUgraph, RawGraphExec as CUgraphExec,
    RawGraphNode as CUgraphNode, RawModule as CUmodule, RawStream as CUstream,
};

pub(crate) type CUresult = ResultCode;

/// A device's ordinal, in effect.
pub(crate) type CUdevice = c_int;
/// An address of device memory: `unsigned long long` where pointers have 64 bits.
pub(crate) type CUdeviceptr = u64;

pub(crate) type CUdevice_attribute = c_uint;
pub(crate) type CUfunction_attribute = c_uint;
pub(crate) type CUjitInputType = c_uint;
pub(crate) type CUjit_option = c_uint;
pub(crate) type CUpointer_attribute = c_uint;

handles! {
    CUcontext: CUctx_st,
    CUlinkState: CUlinkState_st,
}

/// 16 bytes (<https://docs.nvidia.com/cuda/cuda-driver-api/structCUuuid__st.html>).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CUuuid {
    pub(crate) bytes: [u8; 16],
}

/// `CUoccupancyB2DSize`: bytes of dynamic shared memory for a block of so many threads.
pub(crate) type CUoccupancyB2DSize = Option<unsafe extern "system" fn(c_int) -> usize>;

/// A copy of rows (<https://docs.nvidia.com/cuda/cuda-driver-api/structCUDA__MEMCPY2D__v2.html>).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUDA_MEMCPY2D {
    pub(crate) src_x_in_bytes: usize,
    pub(crate) src_y: usize,
    pub(crate) src_memory_type: c_uint,
    pub(crate) src_host: *const c_void,
    pub(crate) src_device: CUdeviceptr,
    pub(crate) src_array: *mut c_void,
    pub(crate) src_pitch: usize,
    pub(crate) dst_x_in_bytes: usize,
    pub(crate) dst_y: usize,
    pub(crate) dst_memory_type: c_uint,
    pub(crate) dst_host: *mut c_void,
    pub(crate) dst_device: CUdeviceptr,
    pub(crate) dst_array: *mut c_void,
    pub(crate) dst_pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// A copy of a box (<https://docs.nvidia.com/cuda/cuda-driver-api/structCUDA__MEMCPY3D__v2.html>).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUDA_MEMCPY3D {
    src: MemcpySide,
    dst: MemcpySide,
    width_in_bytes: usize,
    height: usize,
    depth: usize,
}

/// The members of `CUDA_MEMCPY3D` that begin with `src` or `dst`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct MemcpySide {
    x_in_bytes: usize,
    y: usize,
    z: usize,
    level: usize,
    memory_type: c_uint,
    host: *mut c_void,
    device: CUdeviceptr,
    array: RawArray,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

impl CUDA_MEMCPY3D {
    pub(crate) fn new(copy: &BoxCopy) -> CUDA_MEMCPY3D {
        CUDA_MEMCPY3D {
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
            memory_type: CU_MEMORYTYPE_HOST,
            host: ptr::null_mut(),
            device: 0,
            array: ptr::null_mut(),
            reserved: ptr::null_mut(),
            pitch: 0,
            height: 0,
        };
        match place {
            CopyPlace::Host { start, row, rows } => {
                MemcpySide { host: start, pitch: row, height: rows, ..nothing }
            }
            CopyPlace::Memory { address, row, rows } => MemcpySide {
                memory_type: CU_MEMORYTYPE_UNIFIED,
                device: address,
                pitch: row,
                height: rows,
                ..nothing
            },
            CopyPlace::Array { array, x_in_bytes, y, z } => {
                MemcpySide { memory_type: CU_MEMORYTYPE_ARRAY, array, x_in_bytes, y, z, ..nothing }
            }
        }
    }
}

/// The launch of a node
/// (<https://docs.nvidia.com/cuda/cuda-driver-api/structCUDA__KERNEL__NODE__PARAMS__v1.html>).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUDA_KERNEL_NODE_PARAMS {
    pub(crate) func: CUfunction,
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_mem_bytes: c_uint,
    pub(crate) kernel_params: *mut *mut c_void,
    pub(crate) extra: *mut *mut c_void,
}

/// The attributes of a launch are numbers here, which lie at the start of the union
/// (<https://docs.nvidia.com/cuda/cuda-driver-api/structCUlaunchAttribute.html>).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUlaunchAttribute {
    id: c_uint,
    padding: [u8; 4],
    value: CUlaunchAttributeValue,
}

/// 64 bytes, aligned as pointers are.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
struct CUlaunchAttributeValue([c_uint; 16]);

impl CUlaunchAttribute {
    pub(crate) fn new(id: c_uint, [x, y, z]: [c_uint; 3]) -> CUlaunchAttribute {
        let value = CUlaunchAttributeValue([x, y, z, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        CUlaunchAttribute { id, padding: [0; 4], value }
    }
}

/// <https://docs.nvidia.com/cuda/cuda-driver-api/structCUlaunchConfig.html>
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUlaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_mem_bytes: c_uint,
    pub(crate) stream: CUstream,
    pub(crate) attributes: *mut CUlaunchAttribute,
    pub(crate) count: c_uint,
}

macro_rules! numbers {
    ($type:ident: $($name:ident = $value:literal,)*) => {
        $(pub(crate) const $name: $type = $value;)*
    };
}

numbers! { CUresult:
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
    CUDA_ERROR_INVALID_PC = 718,
    CUDA_ERROR_LAUNCH_FAILED = 719,
}

numbers! { CUdevice_attribute:
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
}

numbers! { CUfunction_attribute:
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
}

numbers! { CUjitInputType:
    CU_JIT_INPUT_PTX = 1,
}

numbers! { CUjit_option:
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
}

// `CUmemorytype`.
numbers! { c_uint:
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_ARRAY = 3,
    CU_MEMORYTYPE_UNIFIED = 4,
}

// `CUlaunchAttributeID`.
numbers! { c_uint:
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
}

// `CUevent_flags` and `CUstream_flags`, which functions take as `unsigned int`.
numbers! { c_uint:
    CU_EVENT_DEFAULT = 0,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1,
    CU_MEM_ATTACH_GLOBAL = 1,
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    CU_STREAM_NON_BLOCKING = 1,
}

numbers! { CUpointer_attribute:
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
}

#[cfg(all(feature = "launchers", target_os = "linux"))]
numbers! { CUpointer_attribute:
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
}

/// What an update of a graph came to: a `CUgraphExecUpdateResult`, and the nodes that do not fit.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CUgraphExecUpdateResultInfo {
    pub(crate) result: c_uint,
    pub(crate) error_node: CUgraphNode,
    pub(crate) error_from_node: CUgraphNode,
}
