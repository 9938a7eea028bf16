//! Calls of a library that has few functions.

use std::ffi::{c_char, c_int};
use std::ptr;
use std::slice;

use super::device::DeviceId;
use super::library::HipApi;
use super::properties::Properties;
use super::types::{hipError_t, hipErrorNoDevice};
use super::{HipError, HipResult};
use crate::gpu::{FunctionTable, NOT_FOUND, SUCCESS, call};

unsafe extern "system" fn error_name(code: hipError_t) -> *const c_char {
    if code == NOT_FOUND { c"hipErrorNotFound".as_ptr() } else { ptr::null() }
}

unsafe extern "system" fn error_text(_: hipError_t) -> *const c_char {
    c"not\x1bfound".as_ptr()
}

unsafe extern "system" fn none(_: *mut c_int) -> hipError_t {
    hipErrorNoDevice
}

unsafe extern "system" fn endless_name(properties: *mut Properties, _: c_int) -> hipError_t {
    // SAFETY: the caller gives a place of the structure's size.
    unsafe { slice::from_raw_parts_mut(properties.cast::<u8>(), 1472) }.fill(b'x');
    SUCCESS
}

fn library() -> HipApi {
    HipApi {
        library: "lib.so".to_string(),
        hipGetDeviceCount: Some(none),
        hipGetDevicePropertiesR0600: Some(endless_name),
        hipGetErrorName: Some(error_name),
        hipGetErrorString: Some(error_text),
        ..HipApi::default()
    }
}

fn kept(functions: HipApi) -> &'static HipApi {
    Box::leak(Box::new(functions))
}

#[test]
fn a_function_that_the_library_lacks_is_named() {
    let functions = kept(library());
    // SAFETY: there is no such function.
    let wait: HipResult<()> = unsafe { call!(functions, hipDeviceSynchronize()) };
    let error = wait.unwrap_err();
    assert_eq!(error.code(), None);
    assert_eq!(error.to_string(), "the library lib.so lacks the function hipDeviceSynchronize");
    assert_eq!(functions.missing(), Some("hipDeviceSynchronize"));
    let shown = format!("{functions:?}");
    assert!(shown.contains("\"hipModuleLaunchKernel\"") && !shown.contains("hipGetErrorName"), "{shown}");
}

#[test]
fn codes_have_the_runtime_s_names_and_texts() {
    fn text(code: hipError_t, functions: HipApi) -> String {
        HipError::check(kept(functions), code).unwrap_err().to_string()
    }
    assert!(HipError::check(kept(library()), SUCCESS).is_ok());
    assert_eq!(text(NOT_FOUND, library()), "hipErrorNotFound (500): not\\u{1b}found");
    assert_eq!(text(9999, library()), "HIP error 9999");
    assert_eq!(text(500, HipApi::default()), "HIP error 500");
}

#[test]
fn no_device_is_an_empty_list_and_a_text_without_end_is_cut() {
    let api = kept(library());
    assert!(DeviceId::all(api).unwrap().is_empty());
    let properties = DeviceId { api, ordinal: 0 }.properties().unwrap();
    assert_eq!(properties.name(), "x".repeat(256));
    assert_eq!(properties.target_id(), "x".repeat(256));
    // 0x78787878 is what every number is.
    assert_eq!((properties.warp_size(), properties.shared_memory()), (0x7878_7878, u32::MAX));
}
