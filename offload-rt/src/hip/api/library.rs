//! The runtime's library: opened when the first function is needed, and never closed.

use std::error::Error as _;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};
use std::fmt;
use std::mem;
use std::sync::OnceLock;

use libloading::Library;

use super::properties::Properties;
use super::types::{
    hipDeviceptr_t, hipError_t, hipEvent_t, hipFunction_attribute, hipFunction_t, hipModule_t,
    hipPointerAttribute_t, hipStream_t,
};
use crate::text::escape;

/// The names by which the system finds it: of ROCm 7 and 6, then without a version. The structures that are used here came
/// with ROCm 6.
pub(in crate::hip) const LIBRARIES: &[&str] = if cfg!(windows) {
    &["amdhip64_7.dll", "amdhip64_6.dll"]
} else {
    &["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"]
};

/// A function that tells the name or the meaning of a code.
pub(super) type Text = Option<unsafe extern "C" fn(hipError_t) -> *const c_char>;

macro_rules! function {
    ($($argument:ty),*) => { Option<unsafe extern "C" fn($($argument),*) -> hipError_t> };
}

macro_rules! table {
    (required { $($required:ident($($input:ty),*),)* } optional { $($optional:ident($($argument:ty),*),)* } texts { $($text:ident,)* }) => {
        /// The runtime's functions; those that the library lacks are `None`.
        #[derive(Default)]
        #[allow(non_snake_case, reason = "HIP's own names")]
        pub(in crate::hip) struct Functions {
            /// The name of the library.
            pub(super) library: &'static str,
            $(pub(in crate::hip) $required: function!($($input),*),)*
            $(pub(in crate::hip) $optional: function!($($argument),*),)*
            $(pub(super) $text: Text,)*
        }

        impl Functions {
            /// # Safety
            /// `library`, which is called `name`, implements HIP's runtime interface, and stays open as long as the
            /// functions are called.
            unsafe fn load(name: &'static str, library: &Library) -> Functions {
                // SAFETY: by the contract, a function of this name has the type of the documentation. `None` of such a
                // type is a null pointer.
                unsafe {
                    Functions {
                        library: name,
                        $($required: mem::transmute::<*const c_void, function!($($input),*)>(address(library, stringify!($required))),)*
                        $($optional: mem::transmute::<*const c_void, function!($($argument),*)>(address(library, stringify!($optional))),)*
                        $($text: mem::transmute::<*const c_void, Text>(address(library, stringify!($text))),)*
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
                let functions = [
                    $((self.$required.is_some(), stringify!($required)),)*
                    $((self.$optional.is_some(), stringify!($optional)),)*
                    $((self.$text.is_some(), stringify!($text)),)*
                ];
                functions.into_iter().filter(|(present, _)| !present).map(|(_, name)| name).collect()
            }
        }
    };
}

// `R0600` is part of the library's name for a function whose structure changed with ROCm 6; `hip_runtime_api.h` hides it
// behind a macro.
table! {
    required {
        hipDeviceSynchronize(),
        hipEventCreateWithFlags(*mut hipEvent_t, c_uint),
        hipEventDestroy(hipEvent_t),
        hipEventElapsedTime(*mut f32, hipEvent_t, hipEvent_t),
        hipEventQuery(hipEvent_t),
        hipEventRecord(hipEvent_t, hipStream_t),
        hipEventSynchronize(hipEvent_t),
        hipFree(*mut c_void),
        hipFuncGetAttribute(*mut c_int, hipFunction_attribute, hipFunction_t),
        hipGetDevice(*mut c_int),
        hipGetDeviceCount(*mut c_int),
        hipGetDevicePropertiesR0600(*mut Properties, c_int),
        hipInit(c_uint),
        hipMalloc(*mut *mut c_void, usize),
        hipMemcpyDtoDAsync(hipDeviceptr_t, hipDeviceptr_t, usize, hipStream_t),
        hipMemcpyDtoHAsync(*mut c_void, hipDeviceptr_t, usize, hipStream_t),
        // The source is not written to, though its type has no `const`.
        hipMemcpyHtoDAsync(hipDeviceptr_t, *mut c_void, usize, hipStream_t),
        hipMemsetD16Async(hipDeviceptr_t, c_ushort, usize, hipStream_t),
        hipMemsetD32Async(hipDeviceptr_t, c_int, usize, hipStream_t),
        hipMemsetD8Async(hipDeviceptr_t, c_uchar, usize, hipStream_t),
        hipModuleGetFunction(*mut hipFunction_t, hipModule_t, *const c_char),
        hipModuleGetGlobal(*mut hipDeviceptr_t, *mut usize, hipModule_t, *const c_char),
        // Function; blocks of the grid; threads of a block; bytes of shared memory; stream; parameters; extra options.
        hipModuleLaunchKernel(
            hipFunction_t, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, hipStream_t, *mut *mut c_void,
            *mut *mut c_void
        ),
        hipModuleLoadData(*mut hipModule_t, *const c_void),
        hipModuleUnload(hipModule_t),
        hipSetDevice(c_int),
        hipStreamCreateWithFlags(*mut hipStream_t, c_uint),
        hipStreamDestroy(hipStream_t),
        hipStreamSynchronize(hipStream_t),
        hipStreamWaitEvent(hipStream_t, hipEvent_t, c_uint),
    }
    optional {
        hipHostFree(*mut c_void),
        hipHostMalloc(*mut *mut c_void, usize, c_uint),
        // Target and its device; source and its device; size; stream.
        hipMemcpyPeerAsync(hipDeviceptr_t, c_int, hipDeviceptr_t, c_int, usize, hipStream_t),
        hipPointerGetAttributes(*mut hipPointerAttribute_t, *const c_void),
        hipRuntimeGetVersion(*mut c_int),
        hipStreamGetDevice(hipStream_t, *mut c_int),
    }
    texts {
        hipGetErrorName,
        hipGetErrorString,
    }
}

/// The functions of this machine's runtime, or why there are none. A failure is not kept: the next call looks again.
pub(in crate::hip) fn functions() -> Result<&'static Functions, String> {
    static OPENED: OnceLock<Functions> = OnceLock::new();
    match OPENED.get() {
        Some(functions) => Ok(functions),
        None => open(LIBRARIES).map(|functions| OPENED.get_or_init(|| functions)),
    }
}

/// The first of `names` that the system has.
fn open(names: &'static [&'static str]) -> Result<Functions, String> {
    let mut reasons: Vec<String> = Vec::new();
    for name in names {
        // SAFETY: this runs the initialisers of the vendor's library, as linking it would.
        match unsafe { Library::new(*name) } {
            Ok(library) => return complete(name, library),
            Err(error) => {
                let reason = reason(name, &error);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
    }
    Err(format!("cannot open the runtime's library {}: {}", names.join(" or "), reasons.join("; ")))
}

/// The functions of `library`, which is not closed if it has all that launches need.
fn complete(name: &'static str, library: Library) -> Result<Functions, String> {
    // SAFETY: a library of this name is HIP's.
    let functions = unsafe { Functions::load(name, &library) };
    match functions.missing() {
        Some(function) => Err(lacks(name, function)),
        None => {
            mem::forget(library);
            Ok(functions)
        }
    }
}

/// The system's message, which only the source of the error has.
fn reason(name: &str, error: &libloading::Error) -> String {
    let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    escape(reason.strip_prefix(name).unwrap_or(&reason).trim_start_matches([':', ' ']))
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
        let lacks = self.all_missing();
        f.debug_struct("Functions").field("library", &self.library).field("lacks", &lacks).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_are_not_there_are_named_with_the_reason_once() {
        let error = open(&["no-such-library.so.7", "no-such-library.so"]).unwrap_err();
        let (problem, reason) = error.split_once(": ").expect(&error);
        assert_eq!(problem, "cannot open the runtime's library no-such-library.so.7 or no-such-library.so");
        assert!(
            !reason.is_empty() && !reason.contains("no-such-library") && !reason.contains(';'),
            "{error}"
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_of_something_else_lacks_the_first_function() {
        let error = open(&["no-such-library.so", "libc.so.6"]).unwrap_err();
        assert_eq!(error, "the library libc.so.6 lacks the function hipDeviceSynchronize");
    }
}
