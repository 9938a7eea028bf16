//! The sanitizer of instrumented kernels: out-of-bounds accesses, data races, uninitialized reads and divergent barriers,
//! with `OFFLOAD_SANITIZE` set.
//!
//! All groups of a checked launch run in one thread, one after another, and each work-item runs from one barrier to the
//! next before its successor starts. The shadow memory (`shadow`) is therefore exact: it finds every pair of accesses that
//! no barrier separates, whatever the order in which they happened here.
//!
//! A faulty access is redirected to scratch memory, so that it does no harm and the kernel goes on.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

mod findings;
mod layout;
mod objects;
mod sanitizer;
mod shadow;
mod site;

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use super::object::Library;
use crate::variable;

use self::layout::{AddressRange, CallSite, Extent, RawExtent};
pub(super) use self::objects::{RED_ZONE, RegisteredBuffer};
pub(super) use self::sanitizer::{LocalArgument, Sanitizer};

/// Whether the environment enables the sanitizer.
pub(super) fn are_enabled() -> bool {
    static ENABLED: OnceLock<bool> = OnceLock::new();
    *ENABLED.get_or_init(|| {
        std::env::var_os(variable::SANITIZE).is_some_and(|value| !value.is_empty() && value != "0")
    })
}

/// `struct offload_checks` of `offload-build/src/compile/device/host_checks.c`.
#[repr(C)]
struct Checks {
    access: unsafe extern "C" fn(*mut c_void, *mut c_void, u64, *const CallSite) -> *mut c_void,
    outside: unsafe extern "C" fn(*mut c_void, u64, *const RawExtent, *const CallSite) -> *mut c_void,
    array: unsafe extern "C" fn(*mut c_void, u64, *const c_char),
    wait: unsafe extern "C" fn(u32, *const CallSite),
    overflow: unsafe extern "C" fn(i64, i64, *const CallSite),
}

static CHECKS: Checks = Checks { access, outside, array, wait, overflow };

/// Attaches the sanitizer to the image in `library`, if it is enabled and the image is instrumented.
pub(super) fn attach(library: &Library) {
    if !are_enabled() {
        return;
    }
    // SAFETY: the symbol is a variable of this type in every image that has it, and no kernel of the image runs yet.
    unsafe {
        if let Ok(variable) = library.get::<*mut *const Checks>("__offload_checks") {
            **variable = &raw const CHECKS;
        }
    }
}

thread_local! {
    static CURRENT: Cell<*const Sanitizer> = const { Cell::new(std::ptr::null()) };
}

/// Keeps a launch the current one of the thread.
pub(super) struct InThread;

/// Makes `sanitizer` the current one of this thread until the result is dropped.
pub(super) fn in_this_thread(sanitizer: &Sanitizer, local: impl Iterator<Item = LocalArgument>) -> InThread {
    sanitizer.begin_in_thread(local);
    CURRENT.set(sanitizer);
    InThread
}

impl Drop for InThread {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null());
    }
}

/// The sanitizer of the launch that runs in this thread.
fn current<'a>() -> Option<&'a Sanitizer> {
    // SAFETY: it is set while the launch's groups run in this thread, and the launch is there for as long.
    unsafe { CURRENT.get().as_ref() }
}

/// Called before each access of shared memory. Returns the address to use instead.
unsafe extern "C" fn access(
    address: *mut c_void,
    base: *mut c_void,
    size: u64,
    by: *const CallSite,
) -> *mut c_void {
    let Some(sanitizer) = current().filter(|_| size > 0) else { return address };
    // SAFETY: the image passes a structure of its own.
    let by = unsafe { by.read() };
    sanitizer.access(AddressRange::new(address, base, size), by).unwrap_or(address)
}

/// Called for an access outside of a variable of a function or a program, or of a row of an array.
unsafe extern "C" fn outside(
    address: *mut c_void,
    size: u64,
    part: *const RawExtent,
    by: *const CallSite,
) -> *mut c_void {
    let Some(sanitizer) = current() else { return address };
    // SAFETY: as above; a name is a constant of the image.
    let (by, part, name) = unsafe { (by.read(), part.read(), site::text((*part).name)) };
    let whole = Extent { size: usize::try_from(part.size).unwrap_or(usize::MAX), name };
    sanitizer.outside(AddressRange::new(address, part.base, size), whole, by).unwrap_or(address)
}

/// Called when a function starts that uses a local array.
unsafe extern "C" fn array(start: *mut c_void, size: u64, name: *const c_char) {
    if let Some(sanitizer) = current() {
        // SAFETY: the name is a constant of the image.
        let name = unsafe { site::text(name) };
        sanitizer.array(start.expose_provenance(), Extent { size: usize::try_from(size).unwrap_or(0), name });
    }
}

/// Called before a barrier with these `flags`.
unsafe extern "C" fn wait(flags: u32, by: *const CallSite) {
    if let Some(sanitizer) = current() {
        // SAFETY: the image passes a structure of its own.
        sanitizer.wait(flags, unsafe { by.read() });
    }
}

/// Called for the computation of an index that overflows its type.
unsafe extern "C" fn overflow(left: i64, right: i64, by: *const CallSite) {
    if let Some(sanitizer) = current() {
        // SAFETY: the image passes a structure of its own.
        sanitizer.overflow([left, right], unsafe { by.read() });
    }
}
