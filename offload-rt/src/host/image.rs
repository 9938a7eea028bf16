//! A `host` image: its interface, and its kernels.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use offload_format::pack::KernelInfo;
use offload_format::section::RUN_PREFIX;

use super::checks;
use super::library::{self, HostLibrary};
use super::object::{Kept, Library, LoadedObject, check_version, loader_error, open};
use crate::error::Problem;

/// Prefix of the symbol with the frame size of a kernel.
const FRAME_PREFIX: &str = "__offload_frame_";

/// The symbol with the size of the dynamic shared memory of CUDA C++, in bytes.
const DYNAMIC_SHARED: &str = "__offload_dynamic_shared_size";

/// Prefix of the symbol with the [`Variable`] of a name.
const VARIABLE_PREFIX: &str = "__offload_variable_";

/// The symbol of the [`Guard`] of an image with assertions.
const GUARD: &str = "__offload_guarded";

/// Calls the function that runs a group and returns its result, or [`ASSERTION_FAILED`] with a C string in `message`.
pub(super) type Guard = unsafe extern "C" fn(
    run: RunGroup,
    group: *const Group,
    args: *const *mut c_void,
    first: *const u64,
    last: *const u64,
    message: *mut c_char,
    size: u64,
) -> u32;

/// Runs a group; returns 0, or [`DIVERGED`] with a line.
pub(super) type RunGroup = unsafe extern "C" fn(
    group: *const Group,
    args: *const *mut c_void,
    first: *const u64,
    last: *const u64,
) -> u32;

/// Runs a box of work-items of one group.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    Direct(RunGroup),
    /// Of an image with assertions.
    Guarded(Guard, RunGroup),
}

/// Set in a result if not all work-items of the group reached a barrier; the other bits are the barrier's line.
pub(super) const DIVERGED: u32 = 1 << 31;

/// The result of a [`Guard`] after a failed assertion, which abandons the group.
pub(super) const ASSERTION_FAILED: u32 = 1 << 30;

/// `struct offload_group`.
#[repr(C)]
pub(super) struct Group {
    pub(super) global_offset: [u64; 3],
    pub(super) global_size: [u64; 3],
    pub(super) local_size: [u64; 3],
    pub(super) num_groups: [u64; 3],
    pub(super) group_id: [u64; 3],
    pub(super) work_dim: u64,
    pub(super) print: unsafe extern "C" fn(*mut c_void, *const c_char, u64),
    pub(super) print_data: *mut c_void,
    /// Memory for values that are live across a barrier.
    pub(super) frame: *mut c_void,
    /// The local size of the launch, where the last groups are smaller.
    pub(super) enqueued_local_size: [u64; 3],
}

/// The receiver of a kernel's printed text.
pub(super) type Printer<'a> = &'a (dyn Fn(&[u8]) + Sync);

/// `print` of a group whose `print_data` points to a [`Printer`].
pub(super) unsafe extern "C" fn print(data: *mut c_void, text: *const c_char, size: u64) {
    // SAFETY: `print_data` points to a `Printer` that outlives the launch.
    let printer = unsafe { &*data.cast::<Printer<'_>>() };
    let size = usize::try_from(size).unwrap_or(0);
    if !text.is_null() && size != 0 {
        // SAFETY: the image passes `size` bytes of its own.
        printer(unsafe { std::slice::from_raw_parts(text.cast(), size) });
    }
}

/// A loaded `host` image. Fields are dropped in this order: code before the file that holds it.
pub(super) struct HostImage {
    runs: Vec<KernelCode>,
    library: Library,
    /// Keeps the functions that its code calls.
    _imported: Vec<Arc<HostLibrary>>,
    _kept: Kept,
}

/// A kernel of an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostCode {
    pub(super) run: Run,
    /// Bytes of the frame for each work-item.
    pub(super) frame: u64,
    /// Bytes of shared memory that a launch may ask for.
    pub(super) dynamic_shared: u64,
}

/// A variable of an image.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Variable {
    pub(super) start: *mut u8,
    pub(super) size: usize,
}

impl Variable {
    /// Writes all its bytes.
    pub(super) fn write(self, bytes: &[u8]) -> Result<(), String> {
        if bytes.len() != self.size {
            return Err(format!("it is {} bytes, {} are given", self.size, bytes.len()));
        }
        // SAFETY: the image has so many bytes there, which are writable, and no other code of this crate refers to them.
        unsafe { self.start.copy_from(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// Copies all its bytes to `bytes`.
    pub(super) fn read(self, bytes: &mut [u8]) -> Result<(), String> {
        if bytes.len() != self.size {
            return Err(format!("it is {} bytes, {} are asked for", self.size, bytes.len()));
        }
        // SAFETY: the image has so many bytes there, and no other code of this crate refers to them.
        unsafe { self.start.copy_to(bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }
}

/// A kernel's name and code.
struct KernelCode {
    kernel: String,
    code: HostCode,
}

impl HostImage {
    /// Loads the shared object `bytes`, binds it to the libraries that it imports, and looks up `kernels`.
    pub(super) fn load(
        bytes: &[u8],
        kernels: &[KernelInfo],
        imported: Vec<Arc<HostLibrary>>,
    ) -> Result<HostImage, Problem> {
        let LoadedObject { library, kept } = open(bytes)?;
        check_version(&library)?;
        library::bind(&library, &imported)?;
        let mut runs = Vec::with_capacity(kernels.len());
        for kernel in kernels {
            let code = code(&library, &kernel.name)?;
            runs.push(KernelCode { kernel: kernel.name.clone(), code });
        }
        checks::attach(&library);
        Ok(HostImage { runs, library, _imported: imported, _kept: kept })
    }

    /// The variable `name`, if the image has it.
    pub(super) fn variable(&self, name: &str) -> Option<Variable> {
        // SAFETY: a symbol with the prefix is a constant of this type.
        let symbol =
            unsafe { self.library.get::<*const Variable>(&format!("{VARIABLE_PREFIX}{name}")) }.ok()?;
        // SAFETY: as above; the library is loaded.
        unsafe { symbol.as_ref() }.copied()
    }

    /// The code of `kernel`.
    pub(super) fn code(&self, kernel: &str) -> Option<HostCode> {
        self.runs.iter().find(|entry| entry.kernel == kernel).map(|entry| entry.code)
    }
}

impl std::fmt::Debug for HostImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kernels: Vec<&str> = self.runs.iter().map(|entry| entry.kernel.as_str()).collect();
        f.debug_struct("HostImage").field("kernels", &kernels).finish_non_exhaustive()
    }
}

fn code(library: &Library, kernel: &str) -> Result<HostCode, String> {
    let symbol = format!("{RUN_PREFIX}{kernel}");
    // SAFETY: a symbol with the prefix has this type in every image of this version.
    let run = unsafe { library.get(&symbol) };
    let run: RunGroup =
        *run.map_err(|error| format!("it does not export {symbol}: {}", loader_error(&error)))?;
    // SAFETY: the symbol has this type in every image that has it.
    let guard = unsafe { library.get::<Guard>(GUARD) }.ok().map(|guard| *guard);
    let name = format!("{FRAME_PREFIX}{kernel}");
    // SAFETY: the symbol is a `const uint64_t`; it is read while the library is loaded.
    let frame = unsafe { number(library, &name) }.ok_or_else(|| format!("it has no symbol {name}"))?;
    // SAFETY: as above.
    let dynamic_shared = unsafe { number(library, DYNAMIC_SHARED) }.unwrap_or(0);
    let run = match guard {
        Some(guard) => Run::Guarded(guard, run),
        None => Run::Direct(run),
    };
    Ok(HostCode { run, frame, dynamic_shared })
}

/// The number that is called `name`.
///
/// # Safety
/// If `library` has the symbol, it is a `const uint64_t`.
unsafe fn number(library: &Library, name: &str) -> Option<u64> {
    // SAFETY: as the caller answers for.
    let symbol = unsafe { library.get::<*const u64>(name) }.ok()?;
    // SAFETY: as above; the library is loaded.
    unsafe { symbol.as_ref() }.copied()
}
