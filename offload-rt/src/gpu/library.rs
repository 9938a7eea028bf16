//! Tables of the functions of a library that is opened at run time, and never closed.

use std::error::Error as _;
use std::ffi::c_void;
use std::mem;

use crate::driver_library::{Library, LoaderError};
use crate::text::escape;

/// The functions of a library; those that it lacks are `None`.
pub(crate) trait FunctionTable: Sized {
    /// Looks up all functions.
    ///
    /// # Safety
    /// `library`, which is called `name`, implements the interface of the table, and stays open as long as the functions
    /// are called.
    unsafe fn load(name: &str, library: &Library) -> Self;

    /// The first missing function that no launch can do without.
    fn missing(&self) -> Option<&'static str>;
}

/// The type of a function. CUDA's convention is `__stdcall` on Windows and HIP's is C's, which are one where pointers have
/// 64 bits.
macro_rules! function_type {
    ($code:ty; ($($input:ty),*)) => { Option<unsafe extern "system" fn($($input),*) -> $code> };
    ($code:ty; ($($input:ty),*) $output:ty) => { Option<unsafe extern "system" fn($($input),*) -> $output> };
}

/// Declares a [`FunctionTable`]. Functions return the type of result codes, if no other one is given.
macro_rules! function_table {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $table:ident -> $code:ty;
        required { $($required:ident($($input:ty),*) $(-> $output:ty)?,)* }
        optional { $($optional:ident($($argument:ty),*) $(-> $result:ty)?,)* }
    ) => {
        $(#[$attribute])*
        #[derive(Default)]
        #[allow(non_snake_case, reason = "the library's own names")]
        $visibility struct $table {
            /// The name or the file by which the library was opened.
            $visibility library: String,
            $($visibility $required: $crate::gpu::function_type!($code; ($($input),*) $($output)?),)*
            $($visibility $optional: $crate::gpu::function_type!($code; ($($argument),*) $($result)?),)*
        }

        impl $crate::gpu::FunctionTable for $table {
            unsafe fn load(name: &str, library: &$crate::driver_library::Library) -> $table {
                use $crate::gpu::function_address;
                type Address = *const std::ffi::c_void;
                // SAFETY: by the contract, a function of this name has the type of the documentation. `None` of such a
                // type is a null pointer.
                unsafe {
                    $table {
                        library: name.to_string(),
                        $($required: std::mem::transmute::<Address, $crate::gpu::function_type!($code; ($($input),*) $($output)?)>(
                            function_address(library, stringify!($required)),
                        ),)*
                        $($optional: std::mem::transmute::<Address, $crate::gpu::function_type!($code; ($($argument),*) $($result)?)>(
                            function_address(library, stringify!($optional)),
                        ),)*
                    }
                }
            }

            fn missing(&self) -> Option<&'static str> {
                $(if self.$required.is_none() {
                    return Some(stringify!($required));
                })*
                None
            }
        }

        impl std::fmt::Debug for $table {
            /// Lists only the functions that the library lacks.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut lacks: Vec<&str> = Vec::new();
                $(if self.$required.is_none() {
                    lacks.push(stringify!($required));
                })*
                $(if self.$optional.is_none() {
                    lacks.push(stringify!($optional));
                })*
                f.debug_struct(stringify!($table)).field("library", &self.library).field("lacks", &lacks).finish()
            }
        }
    };
}

pub(crate) use {function_table, function_type};

/// The functions of the first of `names` that the system opens; `role` is the library's name in messages.
///
/// # Safety
/// A library of one of these names, if there is one, implements the interface of `T`.
pub(crate) unsafe fn open_first<T: FunctionTable>(role: &str, names: &[&str]) -> Result<T, String> {
    let mut reasons: Vec<String> = Vec::new();
    for name in names {
        // SAFETY: this runs the initialisers of the vendor's library, as linking it would.
        match unsafe { Library::new(*name) } {
            // SAFETY: by the contract.
            Ok(library) => return unsafe { load_complete(name, library) },
            Err(error) => {
                let reason = reason(name, &error);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
    }
    Err(format!("cannot open the {role}'s library {}: {}", names.join(" or "), reasons.join("; ")))
}

/// The functions of `library`, which is not closed if it has all that launches need.
///
/// # Safety
/// The library implements the interface of `T`.
unsafe fn load_complete<T: FunctionTable>(name: &str, library: Library) -> Result<T, String> {
    // SAFETY: by the contract; functions of a library that is closed are dropped below.
    let functions = unsafe { T::load(name, &library) };
    match functions.missing() {
        Some(function) => Err(missing_function(name, function)),
        None => {
            mem::forget(library);
            Ok(functions)
        }
    }
}

/// The system's message, which only the source of the error has.
fn reason(name: &str, error: &LoaderError) -> String {
    let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    escape(reason.strip_prefix(name).unwrap_or(&reason).trim_start_matches([':', ' ']))
}

/// The message for a function that `library` lacks.
pub(super) fn missing_function(library: &str, function: &str) -> String {
    format!("the library {library} lacks the function {function}")
}

/// The address of a function; null if the library lacks it.
pub(crate) fn function_address(library: &Library, name: &str) -> *const c_void {
    // SAFETY: nothing is read there.
    let found = unsafe { library.get::<*const c_void>(name) };
    found.map_or(std::ptr::null(), |symbol| *symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    function_table! {
        struct Table -> u32;
        required {
            no_such_function(),
        }
        optional {
        }
    }

    fn open(names: &[&str]) -> String {
        // SAFETY: no function is called.
        unsafe { open_first::<Table>("driver", names) }.unwrap_err()
    }

    #[test]
    fn libraries_that_are_not_there_are_named_with_the_reason_once() {
        let error = open(&["no-such-library.so.7", "no-such-library.so"]);
        let (problem, reason) = error.split_once(": ").expect(&error);
        assert_eq!(problem, "cannot open the driver's library no-such-library.so.7 or no-such-library.so");
        assert!(
            !reason.is_empty() && !reason.contains("no-such-library") && !reason.contains(';'),
            "{error}"
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_of_something_else_lacks_the_first_function() {
        let error = open(&["no-such-library.so", "libc.so.6"]);
        assert_eq!(error, "the library libc.so.6 lacks the function no_such_function");
    }
}
