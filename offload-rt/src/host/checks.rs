//! Checks of kernels: with `OFFLOAD_SANITIZE` set, images that were built to tell what they do are watched, and a launch
//! fails whose kernel does what it must not.
//!
//! All groups of such a launch run in one thread, one after another, and each work-item from one barrier to the next before
//! the one behind it. So a list of who touched what, and when, is exact: `shadow` says which two accesses no barrier
//! separates, whatever the order in which they happened here.
//!
//! A wrong access goes to memory of its own, so that it harms nobody and the kernel goes on.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

mod found;
mod objects;
mod shadow;
mod site;
mod told;
mod watch;

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use libloading::os::unix::Library;
use offload_format::variable;

pub(super) use self::objects::{RED_ZONE, Registered};
use self::told::{By, Bytes, Part, Whole};
pub(super) use self::watch::{LocalArgument, Watch};

/// Whether the environment asks for it.
pub(super) fn are_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| {
        std::env::var_os(variable::SANITIZE).is_some_and(|value| !value.is_empty() && value != "0")
    })
}

/// `struct offload_checks` of `offload-build/src/compile/host_checks.c`, with what it takes.
#[repr(C)]
struct Checks {
    access: unsafe extern "C" fn(*mut c_void, *mut c_void, u64, *const By) -> *mut c_void,
    outside: unsafe extern "C" fn(*mut c_void, u64, *const Part, *const By) -> *mut c_void,
    array: unsafe extern "C" fn(*mut c_void, u64, *const c_char),
    wait: unsafe extern "C" fn(u32, *const By),
    overflow: unsafe extern "C" fn(i64, i64, *const By),
}

static CHECKS: Checks = Checks { access, outside, array, wait, overflow };

/// Has the image in `library` tell what its kernels do, if it can, and if somebody wants to know.
pub(super) fn watch(library: &Library) {
    if !are_wanted() {
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
    static CURRENT: Cell<*const Watch> = const { Cell::new(std::ptr::null()) };
}

/// While this is there, what kernels of the thread tell is the launch's.
pub(super) struct InThread;

/// What kernels of this thread tell is of the launch until the result is dropped.
pub(super) fn in_this_thread(watch: &Watch, local: impl Iterator<Item = LocalArgument>) -> InThread {
    watch.begin_in_thread(local);
    CURRENT.set(watch);
    InThread
}

impl Drop for InThread {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null());
    }
}

/// The launch that runs in this thread.
fn current<'a>() -> Option<&'a Watch> {
    // SAFETY: it is set while the launch's groups run in this thread, and the launch is there for as long.
    unsafe { CURRENT.get().as_ref() }
}

/// Called before each access of memory that work-items share. Returns where it is to go.
unsafe extern "C" fn access(
    address: *mut c_void,
    base: *mut c_void,
    size: u64,
    by: *const By,
) -> *mut c_void {
    let Some(watch) = current().filter(|_| size > 0) else { return address };
    // SAFETY: the image passes a structure of its own.
    let by = unsafe { by.read() };
    watch.access(Bytes::new(address, base, size), by).unwrap_or(address)
}

/// Called for an access outside of a variable of a function or a program, or of a row of an array.
unsafe extern "C" fn outside(
    address: *mut c_void,
    size: u64,
    part: *const Part,
    by: *const By,
) -> *mut c_void {
    let Some(watch) = current() else { return address };
    // SAFETY: as above; a name is a constant of the image.
    let (by, part, name) = unsafe { (by.read(), part.read(), site::text((*part).name)) };
    let whole = Whole { size: usize::try_from(part.size).unwrap_or(usize::MAX), name };
    watch.outside(Bytes::new(address, part.base, size), whole, by).unwrap_or(address)
}

/// Called when a function starts that uses a local array.
unsafe extern "C" fn array(start: *mut c_void, size: u64, name: *const c_char) {
    if let Some(watch) = current() {
        // SAFETY: the name is a constant of the image.
        let name = unsafe { site::text(name) };
        watch.array(start.expose_provenance(), Whole { size: usize::try_from(size).unwrap_or(0), name });
    }
}

/// Called before a work-item waits for the others of its group, and for the memory that `flags` say.
unsafe extern "C" fn wait(flags: u32, by: *const By) {
    if let Some(watch) = current() {
        // SAFETY: the image passes a structure of its own.
        watch.wait(flags, unsafe { by.read() });
    }
}

/// Called where an index does not fit its type.
unsafe extern "C" fn overflow(left: i64, right: i64, by: *const By) {
    if let Some(watch) = current() {
        // SAFETY: the image passes a structure of its own.
        watch.overflow([left, right], unsafe { by.read() });
    }
}
