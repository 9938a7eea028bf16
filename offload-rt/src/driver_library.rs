//! Messages of the system's loader about the library of a driver.

/// Whether `problem`, as `cannot open the driver's library NAME: REASON; REASON`, says that the system has no library of
/// this name. A library that is there and cannot be opened, or lacks another library, is a broken driver.
///
/// Loaders return nothing but a text.
pub(crate) fn is_not_found(problem: &str) -> bool {
    let Some((_, reasons)) = problem.split_once(": ") else { return false };
    reasons.split("; ").all(is_not_found_by_loader)
}

fn is_not_found_by_loader(reason: &str) -> bool {
    // glibc puts the name of the file that it does not find in front, which callers take away if it is the driver's.
    let glibc = reason.starts_with("cannot open shared object file: No such file or directory");
    // musl adds `(needed by FILE)` if it is another library.
    let musl = reason.starts_with("Error loading shared library ")
        && reason.ends_with(": No such file or directory");
    // ERROR_MOD_NOT_FOUND.
    let windows = reason.contains("(os error 126)");
    let macos = reason.starts_with("dlopen(") && reason.contains("no such file");
    glibc || musl || windows || macos
}

#[cfg(test)]
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
