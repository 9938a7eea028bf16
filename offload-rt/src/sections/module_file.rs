//! The files of the modules that Windows has loaded.

use std::ffi::{OsString, c_void};
use std::os::windows::ffi::OsStringExt;
use std::path::PathBuf;

/// The argument is an address in the module, whose number of references stays.
const FROM_ADDRESS: u32 = 4 | 2;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetModuleHandleExW(flags: u32, name: *const c_void, module: *mut *mut c_void) -> i32;
    fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, size: u32) -> u32;
}

/// The directory of the program or DLL that `address` is in.
pub(super) fn directory(address: *const c_void) -> Option<PathBuf> {
    /// What a path can have.
    const MOST: usize = 1 << 15;
    let mut module = std::ptr::null_mut();
    // SAFETY: the result is written where it may be.
    if unsafe { GetModuleHandleExW(FROM_ADDRESS, address, &raw mut module) } == 0 {
        return None;
    }
    let mut name = vec![0u16; MOST];
    // SAFETY: the buffer has this size.
    let size = unsafe { GetModuleFileNameW(module, name.as_mut_ptr(), MOST as u32) };
    name.truncate(size as usize);
    let file = PathBuf::from(OsString::from_wide(&name));
    file.parent().filter(|_| size > 0).map(PathBuf::from)
}
