//! The driver's library: opening it, the functions that cudarc does not have, and the text of errors.

use std::error::Error as _;
use std::ffi::{CStr, c_int, c_uint};
use std::fmt;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUevent, CUfunction, CUmodule, CUresult};
use libloading::Library;

use crate::error::Error;
use crate::text::escape;

/// What errors of the driver as a whole start with.
pub(super) const CUDA: &str = "CUDA";

const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
const LIBRARY_HINT: &str = "install the NVIDIA driver (Debian: nvidia-driver; in a container, start it with the GPU, as `--gpus all`)";
const DEVICE_HINT: &str = "`nvidia-smi` shows the devices; CUDA_VISIBLE_DEVICES may hide them";

/// "The number of bytes of kernel parameters is limited to 32764", and each has at least one:
/// <https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#function-parameters>.
const MOST_PARAMETERS: usize = 32764;

/// Every function that the modules here call. cudarc panics at the first call of one that a library lacks, so they
/// are looked up before.
const FUNCTIONS: [&str; 30] = [
    "cuCtxPopCurrent_v2",
    "cuCtxPushCurrent_v2",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventRecord",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuModuleGetFunction",
    "cuModuleGetGlobal_v2",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
];

/// The driver, ready for calls.
pub(super) struct Driver {
    library: Library,
    version: u32,
}

impl Driver {
    /// Opens the library and initialises the driver.
    pub(super) fn open() -> Result<Arc<Driver>, Error> {
        // SAFETY: this runs the initialisers of the vendor's library, as linking it would.
        let library = unsafe { Library::new(LIBRARY) }.map_err(|error| {
            // What the system says is in the source alone.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            let reason = reason.strip_prefix(LIBRARY).unwrap_or(&reason).trim_start_matches([':', ' ']);
            let problem = format!("cannot open the driver's library {LIBRARY}: {}", escape(reason));
            Error::device(CUDA, problem).with_hint(LIBRARY_HINT)
        })?;
        check_functions(&library)?;
        result::init().map_err(|error| {
            Error::device(CUDA, format!("{LIBRARY} cannot start: {}", describe(error))).with_hint(DEVICE_HINT)
        })?;
        let version = version().map_err(|error| Error::device(CUDA, describe(error)))?;
        Ok(Arc::new(Driver { library, version }))
    }

    /// The version of CUDA that the driver supports: 12080 is 12.8.
    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// Milliseconds between two events.
    ///
    /// # Safety
    /// Both are events of the current context, recorded in one stream that has been waited for.
    pub(super) unsafe fn elapsed(&self, start: CUevent, end: CUevent) -> Option<f32> {
        type Elapsed = unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> c_uint;
        // Not by cudarc: its bindings of CUDA 13 call `cuEventElapsedTime_v2`, which drivers before 12.8 lack.
        let elapsed = self.function::<Elapsed>("cuEventElapsedTime")?;
        let mut milliseconds = 0.0;
        // SAFETY: the type is the function's; the caller answers for the events.
        let code = unsafe { elapsed(&raw mut milliseconds, start, end) };
        (code == 0).then_some(milliseconds)
    }

    /// The sizes of a kernel's parameters; `None` before CUDA 12.4.
    ///
    /// # Safety
    /// `function` is of a loaded module of the current context.
    pub(super) unsafe fn parameter_sizes(&self, function: CUfunction) -> Option<Vec<usize>> {
        type ParamInfo = unsafe extern "C" fn(CUfunction, usize, *mut usize, *mut usize) -> c_uint;
        let param_info = self.function::<ParamInfo>("cuFuncGetParamInfo")?;
        let mut sizes = Vec::new();
        while sizes.len() < MOST_PARAMETERS {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the type is the function's, and it writes two sizes; the caller answers for the kernel.
            match unsafe { param_info(function, sizes.len(), &raw mut offset, &raw mut size) } {
                0 => sizes.push(size),
                // "CUDA_ERROR_INVALID_VALUE if paramIndex is out of range": there are no more.
                1 => return Some(sizes),
                _ => return None,
            }
        }
        None
    }

    /// The names of a module's kernels; `None` before CUDA 12.4.
    ///
    /// # Safety
    /// `module` is loaded in the current context.
    pub(super) unsafe fn kernel_names(&self, module: CUmodule) -> Option<Vec<String>> {
        type Count = unsafe extern "C" fn(*mut c_uint, CUmodule) -> c_uint;
        type Enumerate = unsafe extern "C" fn(*mut CUfunction, c_uint, CUmodule) -> c_uint;
        type Name = unsafe extern "C" fn(*mut *const std::ffi::c_char, CUfunction) -> c_uint;
        let count_of = self.function::<Count>("cuModuleGetFunctionCount")?;
        let enumerate = self.function::<Enumerate>("cuModuleEnumerateFunctions")?;
        let name_of = self.function::<Name>("cuFuncGetName")?;
        let mut count = 0;
        // SAFETY: the types are the functions'; the array has `count` places; names are NUL-terminated texts that
        // live as long as the module, and are copied.
        unsafe {
            (count_of(&raw mut count, module) == 0).then_some(())?;
            let mut functions = vec![std::ptr::null_mut(); count as usize];
            (enumerate(functions.as_mut_ptr(), count, module) == 0).then_some(())?;
            let names = functions.into_iter().map(|function| {
                let mut name = std::ptr::null();
                (name_of(&raw mut name, function) == 0 && !name.is_null()).then_some(())?;
                Some(CStr::from_ptr(name).to_str().ok()?.to_string())
            });
            let mut names: Vec<String> = names.collect::<Option<_>>()?;
            names.sort();
            Some(names)
        }
    }

    fn function<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: the callers above name the types of CUDA's reference for the functions.
        unsafe { self.library.get::<F>(name).ok().map(|symbol| *symbol) }
    }
}

fn check_functions(library: &Library) -> Result<(), Error> {
    for name in FUNCTIONS {
        // SAFETY: the address is not used.
        if unsafe { library.get::<unsafe extern "C" fn()>(name) }.is_err() {
            let problem = format!("the library {LIBRARY} lacks the function {name}");
            return Err(Error::device(CUDA, problem).with_hint(LIBRARY_HINT));
        }
    }
    Ok(())
}

fn version() -> Result<u32, DriverError> {
    let mut version: c_int = 0;
    // SAFETY: the function writes one number.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok(u32::try_from(version).unwrap_or(0))
}

/// The driver has no device to show.
pub(super) fn no_device() -> Error {
    Error::device(CUDA, format!("{LIBRARY} shows no device")).with_hint(DEVICE_HINT)
}

/// The name of an error, its number and what CUDA says about it.
pub(super) fn describe(error: DriverError) -> String {
    let code = error.0 as u32;
    let text = |text: Result<&CStr, DriverError>| text.map(|text| escape(&text.to_string_lossy()));
    match (text(error.error_name()), text(error.error_string())) {
        (Ok(name), Ok(text)) => format!("{name} ({code}): {text}"),
        _ => format!("CUDA error {code}"),
    }
}

/// What a launch that failed with `error` leaves behind, as a hint for people; nothing if nothing is broken.
pub(super) fn aftermath(error: DriverError) -> Option<&'static str> {
    use CUresult as E;
    match error.0 {
        E::CUDA_ERROR_ILLEGAL_ADDRESS
        | E::CUDA_ERROR_LAUNCH_TIMEOUT
        | E::CUDA_ERROR_ASSERT
        | E::CUDA_ERROR_HARDWARE_STACK_ERROR
        | E::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | E::CUDA_ERROR_MISALIGNED_ADDRESS
        | E::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | E::CUDA_ERROR_INVALID_PC
        | E::CUDA_ERROR_LAUNCH_FAILED => Some(
            "`compute-sanitizer` names the access; CUDA refuses this process's further calls on the device",
        ),
        _ => None,
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("version", &self.version).finish_non_exhaustive()
    }
}
