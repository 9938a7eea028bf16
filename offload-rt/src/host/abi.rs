//! The types of the interface between this crate and a `host` image.

use std::ffi::{c_char, c_void};

/// The version that this release calls.
pub(super) const VERSION: u32 = 1;
/// The symbol that holds an image's version.
pub(super) const VERSION_SYMBOL: &str = "__offload_host_abi";

/// Runs a box of work-items of one group.
pub(super) type Run =
    unsafe extern "C" fn(group: *const Group, args: *const *mut c_void, first: *const u64, last: *const u64);

/// `struct offload_group`.
#[repr(C)]
pub(super) struct Group {
    pub(super) global_offset: [u64; 3],
    pub(super) global_size: [u64; 3],
    pub(super) local_size: [u64; 3],
    pub(super) num_groups: [u64; 3],
    pub(super) group_id: [u64; 3],
    pub(super) work_dim: u64,
    pub(super) barrier: unsafe extern "C" fn(*mut c_void),
    pub(super) barrier_data: *mut c_void,
    pub(super) print: unsafe extern "C" fn(*mut c_void, *const c_char, u64),
    pub(super) print_data: *mut c_void,
}

/// What receives a kernel's printed text.
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

/// `barrier` of a group whose kernel is recorded to have none.
pub(super) unsafe extern "C" fn no_barrier(_data: *mut c_void) {}
