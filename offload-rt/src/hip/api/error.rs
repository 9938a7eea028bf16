//! Calling the runtime's functions, and what they fail with.

use std::ffi::{CStr, c_char};
use std::fmt;

use super::library::{Functions, Text, lacks};
use super::types::{hipError_t, hipSuccess};
use crate::text::escape;

/// Why a call failed.
#[derive(Clone, Copy)]
pub(in crate::hip) enum HipError {
    /// The code that the function returned, and the functions that tell its name.
    Code(hipError_t, &'static Functions),
    /// The library lacks the function.
    Lacks(&'static str, &'static Functions),
}

pub(in crate::hip) type HipResult<T> = Result<T, HipError>;

/// Calls a function of a table; an error if it fails, or if the library lacks it.
macro_rules! call {
    ($functions:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let functions: &'static $crate::hip::api::Functions = $functions;
        match functions.$name {
            Some(function) => $crate::hip::api::HipError::check(functions, function($($argument),*)),
            None => Err($crate::hip::api::HipError::Lacks(stringify!($name), functions)),
        }
    }};
}

pub(in crate::hip) use call;

impl HipError {
    /// Compares what a function returned with success.
    pub(in crate::hip) fn check(functions: &'static Functions, code: hipError_t) -> HipResult<()> {
        if code == hipSuccess { Ok(()) } else { Err(HipError::Code(code, functions)) }
    }

    /// The code that the function returned; `None` if it was not called.
    pub(in crate::hip) fn code(self) -> Option<hipError_t> {
        match self {
            HipError::Code(code, _) => Some(code),
            HipError::Lacks(..) => None,
        }
    }
}

impl fmt::Display for HipError {
    /// The name of a code, its number and what the runtime says about it, as in
    /// `hipErrorNotFound (500): named symbol not found`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HipError::Code(code, functions) => {
                match (text(functions.hipGetErrorName, *code), text(functions.hipGetErrorString, *code)) {
                    (Some(name), Some(text)) => write!(f, "{name} ({code}): {text}"),
                    _ => write!(f, "HIP error {code}"),
                }
            }
            HipError::Lacks(function, functions) => f.write_str(&lacks(functions.library, function)),
        }
    }
}

impl fmt::Debug for HipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HipError({self})")
    }
}

fn text(function: Text, code: hipError_t) -> Option<String> {
    // SAFETY: the function takes any number, and needs no device.
    let text: *const c_char = unsafe { function?(code) };
    if text.is_null() {
        return None;
    }
    // SAFETY: it is a C string of the runtime's, which are constant.
    Some(escape(&unsafe { CStr::from_ptr(text) }.to_string_lossy()))
}
