//! Calls of a library's functions, and their errors.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_uint};
use std::fmt;

use super::library::missing_function;
use crate::error::Problem;
use crate::text::escape;

/// The result of every function. It is a C `enum`; here it is a number, because a newer library may return a code that this
/// release does not know.
pub(crate) type ResultCode = c_uint;

// HIP has the numbers of CUDA here: `CUDA_ERROR_NOT_FOUND` is `hipErrorNotFound`.
pub(crate) const SUCCESS: ResultCode = 0;
pub(crate) const INVALID_VALUE: ResultCode = 1;
pub(crate) const NOT_FOUND: ResultCode = 500;
pub(crate) const NOT_READY: ResultCode = 600;
/// `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`, `hipErrorCooperativeLaunchTooLarge`.
pub(super) const TOO_LARGE: ResultCode = 720;

/// A library's texts for its result codes.
pub(crate) trait ResultTexts: Sized + 'static {
    /// `CUDA` or `HIP`.
    const INTERFACE: &'static str;

    /// The name of the library.
    fn library(&self) -> &str;

    /// The library's name of a code.
    fn name(&'static self, code: ResultCode) -> Option<String>;

    /// The library's text for a code.
    fn text(&'static self, code: ResultCode) -> Option<String>;

    /// The hint for an error that leaves the context unusable.
    fn sticky_error_hint(code: ResultCode) -> Option<&'static str>;
}

/// Why a call failed.
pub(crate) enum ApiError<A: 'static> {
    /// The code that the function returned, and the functions that tell its name.
    Code(ResultCode, &'static A),
    /// The library lacks the function.
    Lacks(&'static str, &'static A),
}

pub(crate) type ApiResult<T, A> = Result<T, ApiError<A>>;

/// Calls a function of a table; an error if it fails, or if the library lacks it.
macro_rules! call {
    ($api:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let api = $api;
        match api.$name {
            Some(function) => $crate::gpu::ApiError::check(api, function($($argument),*)),
            None => Err($crate::gpu::ApiError::Lacks(stringify!($name), api)),
        }
    }};
}

pub(crate) use call;

impl<A: ResultTexts> ApiError<A> {
    /// Compares the result of a function with success.
    pub(crate) fn check(api: &'static A, code: ResultCode) -> ApiResult<(), A> {
        if code == SUCCESS { Ok(()) } else { Err(ApiError::Code(code, api)) }
    }

    /// The code that the function returned; `None` if it was not called.
    pub(crate) fn code(self) -> Option<ResultCode> {
        match self {
            ApiError::Code(code, _) => Some(code),
            ApiError::Lacks(..) => None,
        }
    }

    /// The problem with the context `what`.
    pub(crate) fn during(self, what: &str) -> Problem {
        Problem::from(self).during(what)
    }
}

/// Maps an error of a call to a problem with the context `what`.
pub(super) fn failed<A: ResultTexts>(what: &'static str) -> impl Fn(ApiError<A>) -> Problem {
    move |error| error.during(what)
}

impl<A: ResultTexts> From<ApiError<A>> for Problem {
    /// Has a hint if the context is unusable after the error.
    fn from(error: ApiError<A>) -> Problem {
        let hint = error.code().and_then(A::sticky_error_hint);
        Problem { text: error.to_string(), hint: hint.map(Cow::Borrowed) }
    }
}

impl<A> Clone for ApiError<A> {
    fn clone(&self) -> ApiError<A> {
        *self
    }
}

impl<A> Copy for ApiError<A> {}

impl<A: ResultTexts> fmt::Display for ApiError<A> {
    /// The name of a code, its number and the library's text, as in
    /// `CUDA_ERROR_NOT_FOUND (500): named symbol not found`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ApiError::Code(code, api) => match (api.name(code), api.text(code)) {
                (Some(name), Some(text)) => write!(f, "{name} ({code}): {text}"),
                // The library does not know the code.
                _ => write!(f, "{} error {code}", A::INTERFACE),
            },
            ApiError::Lacks(function, api) => f.write_str(&missing_function(api.library(), function)),
        }
    }
}

impl<A: ResultTexts> fmt::Debug for ApiError<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiError({self})")
    }
}

/// A text of the library, safe to show.
///
/// # Safety
/// `text` is null, or a C string of the library's, which are constant.
pub(crate) unsafe fn library_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by the contract.
    Some(escape(&unsafe { CStr::from_ptr(text) }.to_string_lossy()))
}
