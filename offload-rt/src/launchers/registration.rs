//! The kernels and variables of the program's host functions, which constructors of their objects register by the
//! addresses that stand for them on the host.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::slice;
use std::sync::{OnceLock, PoisonError, RwLock};

use offload_format::launchers::{HEADER_SIZE, Token};

use super::failure::{Failure, INVALID_DEVICE_FUNCTION, INVALID_SYMBOL, Outcome};
use crate::registry::Registry;

/// The host part of a file. The number of them is that of files, and each is kept until the process ends.
#[derive(Debug)]
pub(super) struct Binary {
    package: String,
    version: String,
    pub(super) module: String,
    registry: OnceLock<Registry>,
}

impl Binary {
    /// Package, version and module.
    pub(super) fn full_name(&self) -> String {
        [self.package.as_str(), &self.version, &self.module].join("\n")
    }

    /// The images of its package.
    pub(super) fn registry(&self) -> &Registry {
        self.registry.get_or_init(|| Registry::for_package(&self.package, &self.version))
    }
}

/// A kernel or a variable.
#[derive(Clone, Debug)]
pub(super) struct Registered {
    pub(super) binary: &'static Binary,
    /// In the images.
    pub(super) name: &'static str,
}

#[derive(Debug)]
struct Symbols {
    kernels: BTreeMap<usize, Registered>,
    variables: BTreeMap<usize, Registered>,
}

/// Constructors have nothing but addresses to give: the table is the process's own.
static SYMBOLS: RwLock<Symbols> =
    RwLock::new(Symbols { kernels: BTreeMap::new(), variables: BTreeMap::new() });

/// The kernel whose function on the host is at `stub`.
pub(super) fn kernel(stub: *const c_void) -> Outcome<Registered> {
    let symbols = SYMBOLS.read().unwrap_or_else(PoisonError::into_inner);
    symbols.kernels.get(&stub.addr()).cloned().ok_or_else(|| {
        let problem = format!("the address {stub:?} is of no kernel of this program's host functions");
        Failure::new(INVALID_DEVICE_FUNCTION, problem)
    })
}

/// The variable whose shadow on the host is at `shadow`.
pub(super) fn variable(shadow: *const c_void) -> Outcome<Registered> {
    let symbols = SYMBOLS.read().unwrap_or_else(PoisonError::into_inner);
    symbols.variables.get(&shadow.addr()).cloned().ok_or_else(|| {
        let problem = format!("the address {shadow:?} is of no variable of this program's kernels");
        Failure::new(INVALID_SYMBOL, problem)
    })
}

/// What clang passes on: magic, version, binary, and a field that is unused.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Wrapper {
    magic: c_int,
    version: c_int,
    binary: *const u8,
    unused: *const c_void,
}

/// Returns the handle of the following calls; null for what is none of `offload-build`'s, which they ignore.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload___cudaRegisterFatBinary(wrapper: *const Wrapper) -> *mut *mut c_void {
    // SAFETY: clang passes a constant of this type, whose binary is a constant as well. Its header tells its size.
    let token = unsafe {
        let binary = (*wrapper).binary;
        let header = slice::from_raw_parts(binary, HEADER_SIZE);
        match Token::text_size(header).ok().and_then(|size| usize::try_from(size).ok()) {
            Some(size) => slice::from_raw_parts(binary, HEADER_SIZE.saturating_add(size)),
            None => return ptr::null_mut(),
        }
    };
    let Ok(Token { package, version, module }) = Token::parse(token) else { return ptr::null_mut() };
    let binary = Binary {
        package: package.to_string(),
        version: version.to_string(),
        module: module.to_string(),
        registry: OnceLock::new(),
    };
    Box::into_raw(Box::new(binary)).cast()
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload___cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// Of a library that is unloaded, or at the end of the process: what stands at these addresses afterwards is another's.
#[unsafe(no_mangle)]
pub(super) extern "C" fn offload___cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    let mut symbols = SYMBOLS.write().unwrap_or_else(PoisonError::into_inner);
    let Symbols { kernels, variables } = &mut *symbols;
    for registered in [kernels, variables] {
        registered.retain(|_, symbol| !ptr::addr_eq(symbol.binary, handle));
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload___cudaRegisterFunction(
    handle: *mut *mut c_void,
    stub: *const c_void,
    _host_name: *const c_char,
    name: *const c_char,
    _thread_limit: c_int,
    _thread_id: *mut c_uint,
    _block_id: *mut c_uint,
    _block: *mut c_void,
    _grid: *mut c_void,
    _warp_size: *mut c_int,
) -> c_int {
    // SAFETY: clang passes a handle of this module and a constant.
    if let Some(registered) = unsafe { registered(handle, name) } {
        let mut symbols = SYMBOLS.write().unwrap_or_else(PoisonError::into_inner);
        symbols.kernels.insert(stub.addr(), registered);
    }
    0
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload___cudaRegisterVar(
    handle: *mut *mut c_void,
    shadow: *const c_void,
    _host_name: *const c_char,
    name: *const c_char,
    _is_external: c_int,
    _size: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    // SAFETY: as above.
    if let Some(registered) = unsafe { registered(handle, name) } {
        let mut symbols = SYMBOLS.write().unwrap_or_else(PoisonError::into_inner);
        symbols.variables.insert(shadow.addr(), registered);
    }
}

/// # Safety
/// `handle` is one of [`offload___cudaRegisterFatBinary`], and `name` a constant text of C.
unsafe fn registered(handle: *mut *mut c_void, name: *const c_char) -> Option<Registered> {
    if handle.is_null() {
        return None;
    }
    // SAFETY: by the contract; binaries are never released.
    let binary: &'static Binary = unsafe { &*handle.cast() };
    // SAFETY: by the contract.
    let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
    Some(Registered { binary, name })
}
