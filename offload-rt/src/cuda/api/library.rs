//! The driver's library: opened when the first function is needed, and never closed.

use std::error::Error as _;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};
use std::fmt;
use std::mem;
use std::path::Path;
use std::sync::OnceLock;

use libloading::Library;

use super::types::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute,
    CUjit_option, CUjitInputType, CUlinkState, CUmodule, CUpointer_attribute, CUresult, CUstream,
};
use crate::text::escape;

/// The name by which the system finds it.
pub(in crate::cuda) const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// The type of a function. `CUDAAPI` is `__stdcall` on Windows and nothing elsewhere, as "system" is.
macro_rules! function {
    ($($argument:ty),*) => { Option<unsafe extern "system" fn($($argument),*) -> CUresult> };
}

macro_rules! table {
    (required { $($required:ident($($input:ty),*),)* } optional { $($optional:ident($($argument:ty),*),)* }) => {
        /// The driver's functions; those that the library lacks are `None`.
        #[derive(Default)]
        #[allow(non_snake_case, reason = "CUDA's own names")]
        pub(in crate::cuda) struct Functions {
            $(pub(in crate::cuda) $required: function!($($input),*),)*
            $(pub(in crate::cuda) $optional: function!($($argument),*),)*
        }

        impl Functions {
            /// # Safety
            /// `library` implements CUDA's driver interface, and stays open as long as the functions are called.
            unsafe fn load(library: &Library) -> Functions {
                // SAFETY: by the contract, a function of this name has the type of the documentation. `None` of such a
                // type is a null pointer.
                unsafe {
                    Functions {
                        $($required: mem::transmute::<*const c_void, function!($($input),*)>(address(library, stringify!($required))),)*
                        $($optional: mem::transmute::<*const c_void, function!($($argument),*)>(address(library, stringify!($optional))),)*
                    }
                }
            }

            /// A function that is missing and that no launch can do without.
            pub(super) fn missing(&self) -> Option<&'static str> {
                $(if self.$required.is_none() {
                    return Some(stringify!($required));
                })*
                None
            }

            /// All functions that are missing.
            fn all_missing(&self) -> Vec<&'static str> {
                let optional = [$((self.$optional.is_some(), stringify!($optional)),)*];
                let functions = [$((self.$required.is_some(), stringify!($required)),)*].into_iter().chain(optional);
                functions.filter(|(present, _)| !present).map(|(_, name)| name).collect()
            }
        }
    };
}

// A suffix as `_v2` is part of the library's name for a function; `cuda.h` hides it behind a macro. The newest form is not
// always the one to take: drivers before 12.8 lack `cuEventElapsedTime_v2`.
table! {
    required {
        cuCtxGetCurrent(*mut CUcontext),
        cuCtxPopCurrent_v2(*mut CUcontext),
        cuCtxPushCurrent_v2(CUcontext),
        cuCtxSynchronize(),
        cuDeviceGet(*mut CUdevice, c_int),
        cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice),
        cuDeviceGetCount(*mut c_int),
        cuDeviceGetName(*mut c_char, c_int, CUdevice),
        cuDevicePrimaryCtxRelease_v2(CUdevice),
        cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice),
        cuDriverGetVersion(*mut c_int),
        cuEventCreate(*mut CUevent, c_uint),
        cuEventDestroy_v2(CUevent),
        cuEventElapsedTime(*mut f32, CUevent, CUevent),
        cuEventRecord(CUevent, CUstream),
        cuFuncGetAttribute(*mut c_int, CUfunction_attribute, CUfunction),
        cuFuncSetAttribute(CUfunction, CUfunction_attribute, c_int),
        cuGetErrorName(CUresult, *mut *const c_char),
        cuGetErrorString(CUresult, *mut *const c_char),
        cuInit(c_uint),
        // Function; blocks of the grid; threads of a block; bytes of shared memory; stream; parameters; extra options.
        cuLaunchKernel(
            CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void,
            *mut *mut c_void
        ),
        cuMemAlloc_v2(*mut CUdeviceptr, usize),
        cuMemFree_v2(CUdeviceptr),
        cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream),
        cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream),
        cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char),
        cuModuleGetGlobal_v2(*mut CUdeviceptr, *mut usize, CUmodule, *const c_char),
        cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut CUjit_option, *mut *mut c_void),
        cuModuleUnload(CUmodule),
        cuStreamCreate(*mut CUstream, c_uint),
        cuStreamDestroy_v2(CUstream),
        cuStreamSynchronize(CUstream),
    }
    optional {
        // Since CUDA 12.4.
        cuFuncGetName(*mut *const c_char, CUfunction),
        cuFuncGetParamInfo(CUfunction, usize, *mut usize, *mut usize),
        cuModuleEnumerateFunctions(*mut CUfunction, c_uint, CUmodule),
        cuModuleGetFunctionCount(*mut c_uint, CUmodule),
        // For device libraries that are linked at load.
        cuLinkAddData_v2(
            CUlinkState, CUjitInputType, *mut c_void, usize, *const c_char, c_uint, *mut CUjit_option,
            *mut *mut c_void
        ),
        cuLinkComplete(CUlinkState, *mut *mut c_void, *mut usize),
        cuLinkCreate_v2(c_uint, *mut CUjit_option, *mut *mut c_void, *mut CUlinkState),
        cuLinkDestroy(CUlinkState),
        // For work that outlives a call; no launch needs them.
        cuCtxGetDevice(*mut CUdevice),
        cuEventQuery(CUevent),
        cuEventSynchronize(CUevent),
        cuMemFreeHost(*mut c_void),
        cuMemGetInfo_v2(*mut usize, *mut usize),
        cuMemHostAlloc(*mut *mut c_void, usize, c_uint),
        cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream),
        cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, usize, CUstream),
        cuMemsetD16Async(CUdeviceptr, c_ushort, usize, CUstream),
        cuMemsetD32Async(CUdeviceptr, c_uint, usize, CUstream),
        cuMemsetD8Async(CUdeviceptr, c_uchar, usize, CUstream),
        cuPointerGetAttribute(*mut c_void, CUpointer_attribute, CUdeviceptr),
        cuStreamGetCtx(CUstream, *mut CUcontext),
        cuStreamQuery(CUstream),
        cuStreamWaitEvent(CUstream, CUevent, c_uint),
    }
}

/// The functions of this machine's driver, or why there are none. A failure is not kept: the next call looks again.
pub(in crate::cuda) fn functions() -> Result<&'static Functions, String> {
    static OPENED: OnceLock<Functions> = OnceLock::new();
    match OPENED.get() {
        Some(functions) => Ok(functions),
        None => open_any(LIBRARY, &ELSEWHERE).map(|functions| OPENED.get_or_init(|| functions)),
    }
}

/// Where the library is on systems whose loader does not look there by itself: WSL
/// (<https://docs.nvidia.com/cuda/wsl-user-guide/>), and NixOS (<https://nixos.wiki/wiki/Nvidia>).
const ELSEWHERE: [&str; 2] = if cfg!(target_os = "linux") {
    ["/usr/lib/wsl/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"]
} else {
    [LIBRARY; 2]
};

/// The library `name`, or the first of `files` that exists; the reason is that of `name`, or of the file that is there.
fn open_any(name: &str, files: &[&str]) -> Result<Functions, String> {
    let problem = match open(name) {
        Ok(functions) => return Ok(functions),
        Err(problem) => problem,
    };
    match files.iter().find(|file| Path::new(file).is_absolute() && Path::new(file).exists()) {
        Some(file) => open(file),
        None => Err(problem),
    }
}

fn open(name: &str) -> Result<Functions, String> {
    // SAFETY: this runs the initialisers of the vendor's library, as linking it would.
    let library = unsafe { Library::new(name) }.map_err(|error| {
        // What the system says is in the source alone.
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let reason = reason.strip_prefix(name).unwrap_or(&reason).trim_start_matches([':', ' ']);
        format!("cannot open the driver's library {name}: {}", escape(reason))
    })?;
    // SAFETY: a library of this name is CUDA's; if it has all functions, it is not closed.
    let functions = unsafe { Functions::load(&library) };
    match functions.missing() {
        Some(function) => Err(lacks(name, function)),
        None => {
            mem::forget(library);
            Ok(functions)
        }
    }
}

/// The message for a function that `library` lacks.
pub(super) fn lacks(library: &str, function: &str) -> String {
    format!("the library {library} lacks the function {function}")
}

/// Where the function is; null if the library lacks it.
fn address(library: &Library, name: &str) -> *const c_void {
    // SAFETY: nothing is read there.
    let found = unsafe { library.get::<*const c_void>(name) };
    found.map_or(std::ptr::null(), |symbol| *symbol)
}

impl fmt::Debug for Functions {
    /// Lists only the functions that the library lacks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Functions").field("lacks", &self.all_missing()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named_with_the_reason() {
        let error = open("no-such-library.so").unwrap_err();
        let (problem, reason) = error.split_once(": ").expect(&error);
        assert_eq!(problem, "cannot open the driver's library no-such-library.so");
        assert!(!reason.is_empty() && !reason.contains("no-such-library.so: "), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_elsewhere_is_opened_where_the_system_finds_none() {
        let directory = std::env::temp_dir().join(format!("offload-rt-libcuda-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join("libcuda.so.1");
        std::fs::write(&file, "not a library").unwrap();
        let path = file.to_str().unwrap();
        let error = open_any("no-such-library.so", &["/nonexistent/libcuda.so.1", path]).unwrap_err();
        std::fs::remove_dir_all(&directory).unwrap();
        assert!(error.contains(path), "{error}");
        let error = open_any("no-such-library.so", &["/nonexistent/libcuda.so.1"]).unwrap_err();
        assert!(error.contains("no-such-library.so"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_of_something_else_lacks_the_first_function() {
        let error = open("libc.so.6").unwrap_err();
        assert_eq!(error, "the library libc.so.6 lacks the function cuCtxGetCurrent");
    }
}
