//! The DLL that a pool of threads is in: the threads never end, and so their code has to stay.
//!
//! `FreeLibrary` unmaps a DLL whatever threads run in it. Where `dlclose` does, the C library keeps a shared object whose
//! threads have thread-local values with destructors, as those of Rust's standard library have.

/// Keeps the module with this code until the process ends.
#[cfg(windows)]
pub(super) fn keep() {
    use std::ffi::c_void;

    /// `GET_MODULE_HANDLE_EX_FLAG_PIN`, and that the argument is an address in the module
    /// (<https://learn.microsoft.com/en-us/windows/win32/api/libloaderapi/nf-libloaderapi-getmodulehandleexw>).
    const PIN: u32 = 1 | 4;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, name: *const c_void, module: *mut *mut c_void) -> i32;
    }
    let address: fn() = keep;
    let mut module = std::ptr::null_mut();
    // It does not fail for an address in a module. If it did, a DLL could be unloaded as before.
    // SAFETY: the result is written where it may be.
    unsafe { GetModuleHandleExW(PIN, address as *const c_void, &raw mut module) };
}

#[cfg(not(windows))]
pub(super) fn keep() {}
