//! The dynamic libraries of drivers, and what the system's loader says of them.

#[cfg(all(any(unix, windows), any(feature = "cuda", feature = "hip")))]
pub(crate) use libloading::Error as LoaderError;
#[cfg(any(unix, windows))]
pub(crate) use libloading::Library;

#[cfg(not(any(unix, windows)))]
pub(crate) use self::none::Library;
#[cfg(all(not(any(unix, windows)), any(feature = "cuda", feature = "hip")))]
pub(crate) use self::none::LoaderError;

/// A system without dynamic libraries, as WebAssembly: none can be opened.
#[cfg(not(any(unix, windows)))]
#[allow(unsafe_code, reason = "the functions are unsafe elsewhere")]
mod none {
    use std::fmt;
    use std::marker::PhantomData;
    use std::ops::Deref;

    /// There is no value of this type.
    pub(crate) enum Library {}

    /// The only error.
    #[derive(Debug)]
    pub(crate) struct LoaderError;

    /// A function of a library.
    pub(crate) struct Symbol<'l, T>(&'l Library, PhantomData<T>);

    impl Library {
        pub(crate) unsafe fn new(_: &str) -> Result<Library, LoaderError> {
            Err(LoaderError)
        }

        pub(crate) unsafe fn get<T>(&self, _: &str) -> Result<Symbol<'_, T>, LoaderError> {
            Ok(Symbol(self, PhantomData))
        }
    }

    impl<T> Deref for Symbol<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            match *self.0 {}
        }
    }

    impl fmt::Display for LoaderError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(super::NO_LIBRARIES)
        }
    }

    impl std::error::Error for LoaderError {}
}

/// What [`LoaderError`] says on a system without dynamic libraries.
#[cfg(any(feature = "cuda", feature = "hip", not(any(unix, windows))))]
const NO_LIBRARIES: &str = "this system has no dynamic libraries";

/// Whether `problem`, as `cannot open the driver's library NAME: REASON; REASON`, says that the system has no library of
/// this name. A library that is there and cannot be opened, or lacks another library, is a broken driver.
///
/// Loaders return nothing but a text.
#[cfg(any(feature = "cuda", feature = "hip"))]
pub(crate) fn is_not_found(problem: &str) -> bool {
    let Some((_, reasons)) = problem.split_once(": ") else { return false };
    reasons.split("; ").all(is_not_found_by_loader)
}

#[cfg(any(feature = "cuda", feature = "hip"))]
fn is_not_found_by_loader(reason: &str) -> bool {
    // glibc puts the name of the file that it does not find in front, which callers take away if it is the driver's.
    let glibc = reason.starts_with("cannot open shared object file: No such file or directory");
    // musl adds `(needed by FILE)` if it is another library.
    let musl = reason.starts_with("Error loading shared library ")
        && reason.ends_with(": No such file or directory");
    // ERROR_MOD_NOT_FOUND.
    let windows = reason.contains("(os error 126)");
    let macos = reason.starts_with("dlopen(") && reason.contains("no such file");
    glibc || musl || windows || macos || reason == NO_LIBRARIES
}

#[cfg(all(test, any(feature = "cuda", feature = "hip")))]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_told_from_one_that_is_broken() {
        let cases = [
            ("cannot open shared object file: No such file or directory", true),
            ("Error loading shared library libcuda.so.1: No such file or directory", true),
            ("The specified module could not be found. (os error 126)", true),
            ("dlopen(libcuda.so.1, 0x0005): tried: 'libcuda.so.1' (no such file)", true),
            ("libdep.so.1: cannot open shared object file: No such file or directory", false),
            (
                "Error loading shared library libdep.so: No such file or directory (needed by libcuda.so.1)",
                false,
            ),
            ("file too short", false),
            ("cannot open shared object file: No such file or directory; file too short", false),
        ];
        for (reason, is_missing) in cases {
            let problem = format!("cannot open the driver's library libcuda.so.1: {reason}");
            assert_eq!(is_not_found(&problem), is_missing, "{reason}");
        }
        assert!(!is_not_found("the library libcuda.so.1 lacks the function cuInit"));
    }
}
