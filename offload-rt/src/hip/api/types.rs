//! Types and numbers of `hip_runtime_api.h`, by its names; those that are used here.
//!
//! <https://github.com/ROCm/HIP/blob/rocm-6.2.x/include/hip/hip_runtime_api.h>, the same in ROCm 7.
#![allow(non_camel_case_types, non_upper_case_globals, reason = "HIP's own names")]

use std::ffi::{c_int, c_uint, c_void};

/// The result of every function. It is a C `enum`; here it is a number, because a newer runtime may return a code that this
/// release does not know.
pub(in crate::hip) type hipError_t = c_uint;
/// An address of device memory.
pub(in crate::hip) type hipDeviceptr_t = *mut c_void;
pub(in crate::hip) type hipFunction_attribute = c_uint;

macro_rules! handles {
    ($($handle:ident: $target:ident,)*) => {$(
        /// The opaque target of a handle.
        pub(in crate::hip) enum $target {}
        pub(in crate::hip) type $handle = *mut $target;
    )*};
}

handles! {
    hipEvent_t: ihipEvent_t,
    hipFunction_t: ihipModuleSymbol_t,
    hipModule_t: ihipModule_t,
    hipStream_t: ihipStream_t,
}

/// The attributes of an address.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::hip) struct hipPointerAttribute_t {
    pub(in crate::hip) kind: c_uint,
    pub(in crate::hip) device: c_int,
    pub(in crate::hip) device_pointer: *mut c_void,
    pub(in crate::hip) host_pointer: *mut c_void,
    pub(in crate::hip) is_managed: c_int,
    pub(in crate::hip) allocation_flags: c_uint,
}

macro_rules! numbers {
    ($type:ident: $($name:ident = $value:literal,)*) => {
        $(pub(in crate::hip) const $name: $type = $value;)*
    };
}

numbers! { hipError_t:
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorNoDevice = 100,
    hipErrorInvalidImage = 200,
    hipErrorNoBinaryForGpu = 209,
    hipErrorNotFound = 500,
    hipErrorNotReady = 600,
    hipErrorIllegalAddress = 700,
    hipErrorLaunchTimeOut = 702,
    hipErrorAssert = 710,
    hipErrorLaunchFailure = 719,
}

numbers! { hipFunction_attribute:
    HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
}

// Flags, which the functions take as `unsigned int`, and a `hipMemoryType`.
numbers! { c_uint:
    hipEventDefault = 0,
    hipStreamNonBlocking = 1,
    hipHostMallocPortable = 1,
    hipMemoryTypeUnregistered = 0,
}
