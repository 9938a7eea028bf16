//! Calls of a library that has few functions.

use std::ffi::{c_char, c_int};
use std::ptr;
use std::slice;

use super::device::DeviceId;
use super::library::{CudaApi, LIBRARY};
use super::types::{CUdevice, CUresult};
use super::{CuError, CuResult};
use crate::gpu::{FunctionTable, INVALID_VALUE, NOT_FOUND, SUCCESS, call};

/// A code of a driver newer than this release.
const NEW: CUresult = 9999;

extern "system" fn error_name(code: CUresult, name: *mut *const c_char) -> CUresult {
    if code != NOT_FOUND {
        return INVALID_VALUE;
    }
    // SAFETY: the caller gives a place for the pointer.
    unsafe { *name = c"CUDA_ERROR_NOT_FOUND".as_ptr() };
    SUCCESS
}

extern "system" fn error_text(_: CUresult, text: *mut *const c_char) -> CUresult {
    // SAFETY: the caller gives a place for the pointer.
    unsafe { *text = c"not\x1bfound".as_ptr() };
    SUCCESS
}

extern "system" fn no_text(_: CUresult, text: *mut *const c_char) -> CUresult {
    // SAFETY: the caller gives a place for the pointer.
    unsafe { *text = ptr::null() };
    SUCCESS
}

extern "system" fn count(count: *mut c_int) -> CUresult {
    // SAFETY: the caller gives a place for the number.
    unsafe { *count = 2 };
    SUCCESS
}

extern "system" fn get(device: *mut CUdevice, ordinal: c_int) -> CUresult {
    // SAFETY: the caller gives a place for the number.
    unsafe { *device = 10 + ordinal };
    SUCCESS
}

extern "system" fn endless_name(name: *mut c_char, capacity: c_int, _: CUdevice) -> CUresult {
    let capacity = usize::try_from(capacity).unwrap();
    // SAFETY: the caller gives a place of this size.
    unsafe { slice::from_raw_parts_mut(name.cast::<u8>(), capacity) }.fill(b'x');
    SUCCESS
}

extern "system" fn attribute(value: *mut c_int, attribute: u32, device: CUdevice) -> CUresult {
    // SAFETY: the caller gives a place for the number.
    unsafe { *value = if attribute == 1 { device } else { -1 } };
    if attribute == 3 { NEW } else { SUCCESS }
}

fn library() -> CudaApi {
    CudaApi {
        library: LIBRARY.to_string(),
        cuDeviceGet: Some(get),
        cuDeviceGetAttribute: Some(attribute),
        cuDeviceGetCount: Some(count),
        cuDeviceGetName: Some(endless_name),
        cuGetErrorName: Some(error_name),
        cuGetErrorString: Some(error_text),
        ..CudaApi::default()
    }
}

fn kept(functions: CudaApi) -> &'static CudaApi {
    Box::leak(Box::new(functions))
}

#[test]
fn a_function_that_the_library_lacks_is_named() {
    let functions = kept(library());
    // SAFETY: there is no such function.
    let wait: CuResult<()> =
        unsafe { call!(functions, cuStreamWaitEvent(ptr::null_mut(), ptr::null_mut(), 0)) };
    let error = wait.unwrap_err();
    assert_eq!(error.code(), None);
    let name = LIBRARY;
    assert_eq!(error.to_string(), format!("the library {name} lacks the function cuStreamWaitEvent"));
    assert_eq!(functions.missing(), Some("cuCtxGetCurrent"));
    let shown = format!("{functions:?}");
    assert!(shown.contains("\"cuStreamWaitEvent\"") && !shown.contains("cuDeviceGetName"), "{shown}");
}

#[test]
fn codes_have_the_driver_s_names_and_texts() {
    fn text(code: CUresult, functions: CudaApi) -> String {
        CuError::check(kept(functions), code).unwrap_err().to_string()
    }
    assert!(CuError::check(kept(library()), SUCCESS).is_ok());
    assert_eq!(text(NOT_FOUND, library()), "CUDA_ERROR_NOT_FOUND (500): not\\u{1b}found");
    // What no release knows, and a driver that does not tell.
    assert_eq!(text(NEW, library()), "CUDA error 9999");
    assert_eq!(text(500, CudaApi { cuGetErrorString: Some(no_text), ..library() }), "CUDA error 500");
    assert_eq!(text(500, CudaApi::default()), "CUDA error 500");
}

#[test]
fn devices_tell_their_names_and_attributes() {
    let devices = DeviceId::all(kept(library())).unwrap();
    assert_eq!(devices.iter().map(|device| device.raw).collect::<Vec<_>>(), [10, 11]);
    // A name that fills the place, without the NUL that belongs at its end.
    assert_eq!(devices[1].name().unwrap(), "x".repeat(256));
    assert_eq!(devices[1].attribute(1).unwrap(), 11);
    assert_eq!(devices[1].attribute(2).unwrap(), 0);
    assert_eq!(devices[1].attribute(3).unwrap_err().code(), Some(NEW));
}
