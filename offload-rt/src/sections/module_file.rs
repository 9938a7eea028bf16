//! The files of the modules that Windows or macOS has loaded.

use std::ffi::c_void;
use std::path::PathBuf;

/// The directory of the program or dynamic library that `address` is in.
#[cfg(target_vendor = "apple")]
pub(super) fn directory(address: *const c_void) -> Option<PathBuf> {
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt;

    // SAFETY: it is a structure of pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the result is written where it may be.
    if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: it is a C string, which stays as long as the module, whose code asks.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let file = PathBuf::from(OsStr::from_bytes(name.to_bytes()));
    file.parent().map(PathBuf::from)
}

/// The argument is an address in the module, whose number of references stays.
#[cfg(windows)]
const FROM_ADDRESS: u32 = 4 | 2;

#[cfg(windows)]
#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetModuleHandleExW(flags: u32, name: *const c_void, module: *mut *mut c_void) -> i32;
    fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, size: u32) -> u32;
}

/// The directory of the program or DLL that `address` is in.
#[cfg(windows)]
pub(super) fn directory(address: *const c_void) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::windows::ffi::OsStringExt;

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
