//! OpenCL's library: opened when the first function is needed, and never closed.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::ffi::c_void;
use std::mem;
use std::sync::OnceLock;

use crate::driver_library::Library;
use crate::variable::OPENCL_DYLIB_PATH;
use opencl_sys::cl_function_types::*;
use opencl_sys::clCreateProgramWithILKHR_t;

use super::error::{ClError, ClResult};

const DEFAULT: &str = if cfg!(windows) {
    "OpenCL.dll"
} else if cfg!(target_os = "macos") {
    "/System/Library/Frameworks/OpenCL.framework/OpenCL"
} else {
    "libOpenCL.so.1"
};

macro_rules! table {
    ($($name:ident: $function:ty,)*) => {
        /// OpenCL's functions; those that the library lacks are `None`.
        #[derive(Default)]
        #[allow(non_snake_case, reason = "OpenCL's own names")]
        #[cfg_attr(not(unix), allow(dead_code, reason = "file descriptors are imported on Unix alone"))]
        pub(super) struct Functions {
            $(pub(super) $name: $function,)*
        }

        impl Functions {
            /// # Safety
            /// `library` implements OpenCL, and stays open as long as the functions are called.
            unsafe fn load(library: &Library) -> Functions {
                // SAFETY: by the contract, a function of this name has the type of the specification. `None` of such a
                // type is a null pointer.
                unsafe {
                    Functions { $($name: mem::transmute::<*const c_void, $function>(address(library, stringify!($name))),)* }
                }
            }
        }
    };
}

// Of OpenCL 1.2 and earlier, but for the last seven.
table! {
    clBuildProgram: clBuildProgram_t,
    clCompileProgram: clCompileProgram_t,
    clCreateBuffer: clCreateBuffer_t,
    clCreateCommandQueue: clCreateCommandQueue_t,
    clCreateContext: clCreateContext_t,
    clCreateImage: clCreateImage_t,
    clCreateKernel: clCreateKernel_t,
    clCreateProgramWithBinary: clCreateProgramWithBinary_t,
    clCreateProgramWithSource: clCreateProgramWithSource_t,
    clCreateSampler: clCreateSampler_t,
    clCreateSubBuffer: clCreateSubBuffer_t,
    clCreateSubDevices: clCreateSubDevices_t,
    clCreateUserEvent: clCreateUserEvent_t,
    clEnqueueBarrierWithWaitList: clEnqueueBarrierWithWaitList_t,
    clEnqueueCopyBuffer: clEnqueueCopyBuffer_t,
    clEnqueueCopyBufferToImage: clEnqueueCopyBufferToImage_t,
    clEnqueueCopyImage: clEnqueueCopyImage_t,
    clEnqueueCopyImageToBuffer: clEnqueueCopyImageToBuffer_t,
    clEnqueueFillBuffer: clEnqueueFillBuffer_t,
    clEnqueueFillImage: clEnqueueFillImage_t,
    clEnqueueMapBuffer: clEnqueueMapBuffer_t,
    clEnqueueMarkerWithWaitList: clEnqueueMarkerWithWaitList_t,
    clEnqueueMigrateMemObjects: clEnqueueMigrateMemObjects_t,
    clEnqueueNDRangeKernel: clEnqueueNDRangeKernel_t,
    clEnqueueReadBuffer: clEnqueueReadBuffer_t,
    clEnqueueReadImage: clEnqueueReadImage_t,
    clEnqueueUnmapMemObject: clEnqueueUnmapMemObject_t,
    clEnqueueWriteBuffer: clEnqueueWriteBuffer_t,
    clEnqueueWriteImage: clEnqueueWriteImage_t,
    clFinish: clFinish_t,
    clFlush: clFlush_t,
    clGetCommandQueueInfo: clGetCommandQueueInfo_t,
    clGetDeviceIDs: clGetDeviceIDs_t,
    clGetDeviceInfo: clGetDeviceInfo_t,
    clGetEventInfo: clGetEventInfo_t,
    clGetEventProfilingInfo: clGetEventProfilingInfo_t,
    clGetExtensionFunctionAddressForPlatform: clGetExtensionFunctionAddressForPlatform_t,
    clGetKernelInfo: clGetKernelInfo_t,
    clGetKernelWorkGroupInfo: clGetKernelWorkGroupInfo_t,
    clGetMemObjectInfo: clGetMemObjectInfo_t,
    clGetPlatformIDs: clGetPlatformIDs_t,
    clGetProgramBuildInfo: clGetProgramBuildInfo_t,
    clGetProgramInfo: clGetProgramInfo_t,
    clGetSupportedImageFormats: clGetSupportedImageFormats_t,
    clLinkProgram: clLinkProgram_t,
    clReleaseCommandQueue: clReleaseCommandQueue_t,
    clReleaseContext: clReleaseContext_t,
    clReleaseEvent: clReleaseEvent_t,
    clReleaseKernel: clReleaseKernel_t,
    clReleaseMemObject: clReleaseMemObject_t,
    clReleaseProgram: clReleaseProgram_t,
    clReleaseSampler: clReleaseSampler_t,
    clRetainCommandQueue: clRetainCommandQueue_t,
    clRetainContext: clRetainContext_t,
    clRetainMemObject: clRetainMemObject_t,
    clSetEventCallback: clSetEventCallback_t,
    clSetKernelArg: clSetKernelArg_t,
    clSetUserEventStatus: clSetUserEventStatus_t,
    clWaitForEvents: clWaitForEvents_t,
    clCreateBufferWithProperties: clCreateBufferWithProperties_t,
    clCreateCommandQueueWithProperties: clCreateCommandQueueWithProperties_t,
    clCreateProgramWithIL: clCreateProgramWithIL_t,
    clCreateProgramWithILKHR: clCreateProgramWithILKHR_t,
    clSetProgramSpecializationConstant: clSetProgramSpecializationConstant_t,
    clSVMAlloc: clSVMAlloc_t,
    clSVMFree: clSVMFree_t,
}

/// Calls a function of a table; an error if the library lacks it. What the function returns is not looked at.
macro_rules! call {
    ($functions:expr, $name:ident($($argument:expr),* $(,)?)) => {
        match $functions.$name {
            Some(function) => Ok(function($($argument),*)),
            None => Err($crate::opencl::api::error::ClError::Lacks(stringify!($name))),
        }
    };
}

pub(super) use call;

/// The functions of this machine's library.
pub(super) fn functions() -> ClResult<&'static Functions> {
    static OPENED: OnceLock<Option<Functions>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| open(&std::env::var(OPENCL_DYLIB_PATH).unwrap_or_default()));
    opened.as_ref().ok_or(ClError::NoLibrary)
}

/// Where the function is; null if the library lacks it.
fn address(library: &Library, name: &str) -> *const c_void {
    // SAFETY: nothing is read there.
    let found = unsafe { library.get::<*const c_void>(name) };
    found.map_or(std::ptr::null(), |symbol| *symbol)
}

/// The first library that can be opened: one of `named`, or that of the system.
fn open(named: &str) -> Option<Functions> {
    let mut names = named.split(';').filter(|name| !name.is_empty()).chain([DEFAULT]);
    names.find_map(|name| {
        // SAFETY: a library of this name, or one that the user names, is OpenCL's; it is not closed.
        unsafe {
            let library = Library::new(name).ok()?;
            let functions = Functions::load(&library);
            mem::forget(library);
            Some(functions)
        }
    })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn the_first_library_that_opens_is_taken() {
        let functions = open("no-such-library.so;;libc.so.6").unwrap();
        assert!(functions.clGetPlatformIDs.is_none());
    }
}
