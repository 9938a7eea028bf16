//! Calling the driver's functions, and what they fail with.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::ptr;

use super::library::{Functions, LIBRARY, lacks};
use super::types::{CUDA_SUCCESS, CUresult};
use crate::text::escape;

/// Why a call failed.
#[derive(Clone, Copy)]
pub(in crate::cuda) enum CuError {
    /// The code that the function returned, and the functions that tell its name.
    Code(CUresult, &'static Functions),
    /// The library lacks the function.
    Lacks(&'static str),
}

pub(in crate::cuda) type CuResult<T> = Result<T, CuError>;

/// Calls a function of a table; an error if it fails, or if the library lacks it.
macro_rules! call {
    ($functions:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let functions: &'static $crate::cuda::api::Functions = $functions;
        match functions.$name {
            Some(function) => $crate::cuda::api::CuError::check(functions, function($($argument),*)),
            None => Err($crate::cuda::api::CuError::Lacks(stringify!($name))),
        }
    }};
}

pub(in crate::cuda) use call;

impl CuError {
    /// Compares what a function returned with success.
    pub(in crate::cuda) fn check(functions: &'static Functions, code: CUresult) -> CuResult<()> {
        if code == CUDA_SUCCESS { Ok(()) } else { Err(CuError::Code(code, functions)) }
    }

    /// The code that the function returned; `None` if it was not called.
    pub(in crate::cuda) fn code(self) -> Option<CUresult> {
        match self {
            CuError::Code(code, _) => Some(code),
            CuError::Lacks(_) => None,
        }
    }
}

impl fmt::Display for CuError {
    /// The name of a code, its number and what the driver says about it, as in
    /// `CUDA_ERROR_NOT_FOUND (500): named symbol not found`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CuError::Code(code, functions) => match (name(functions, *code), text(functions, *code)) {
                (Some(name), Some(text)) => write!(f, "{name} ({code}): {text}"),
                // The driver does not know it: "CUDA_ERROR_INVALID_VALUE will be returned".
                _ => write!(f, "CUDA error {code}"),
            },
            CuError::Lacks(function) => f.write_str(&lacks(LIBRARY, function)),
        }
    }
}

impl fmt::Debug for CuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CuError({self})")
    }
}

fn name(functions: &'static Functions, code: CUresult) -> Option<String> {
    let mut name = ptr::null();
    // SAFETY: the function writes one pointer; it needs no context, not even `cuInit`.
    unsafe { call!(functions, cuGetErrorName(code, &raw mut name)) }.ok()?;
    // SAFETY: the driver has written it.
    unsafe { shown(name) }
}

fn text(functions: &'static Functions, code: CUresult) -> Option<String> {
    let mut text = ptr::null();
    // SAFETY: as for the name.
    unsafe { call!(functions, cuGetErrorString(code, &raw mut text)) }.ok()?;
    // SAFETY: as for the name.
    unsafe { shown(text) }
}

/// # Safety
/// `text` is null, or a C string of the driver's, which are constant.
unsafe fn shown(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by the contract.
    Some(escape(&unsafe { CStr::from_ptr(text) }.to_string_lossy()))
}
