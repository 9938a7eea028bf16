//! Names and texts of results.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char};
use std::sync::{Mutex, PoisonError};

use super::current;
use super::failure::{CudaError, SUCCESS, last_reason};

/// The reason, if it is the thread's last failure; else what the back end's library says of the number.
#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaGetErrorString(code: CudaError) -> *const c_char {
    let text = if code == SUCCESS { None } else { last_reason(code) };
    constant(text.or_else(|| library_text(code)).unwrap_or_else(|| plain(code)))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn offload_cudaGetErrorName(code: CudaError) -> *const c_char {
    constant(library_name(code).unwrap_or_else(|| plain(code)))
}

fn library_text(code: CudaError) -> Option<String> {
    current::platform().ok()?.result_text(code)
}

fn library_name(code: CudaError) -> Option<String> {
    current::platform().ok()?.result_name(code)
}

/// Where the library has no text.
fn plain(code: CudaError) -> String {
    if code == SUCCESS { "no error".to_string() } else { format!("CUDA error {code}") }
}

/// A text that stays: callers of CUDA's functions do not release it, and each is made once.
fn constant(text: String) -> *const c_char {
    static TEXTS: Mutex<BTreeSet<&'static CStr>> = Mutex::new(BTreeSet::new());
    let Ok(text) = CString::new(text) else { return c"an error".as_ptr() };
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text.as_c_str()) {
        return known.as_ptr();
    }
    let text: &'static CStr = Box::leak(text.into_boxed_c_str());
    texts.insert(text);
    text.as_ptr()
}
