//! Inline PTX in CUDA C++ and HIP C++ for other targets than NVIDIA's: clang refuses some of it by its constraints, and the
//! assembler the rest without a place in the source.

use offload_ir::{ForeignCode, ForeignConstruct};

use crate::error::{Error, ErrorKind};

const HINT: &str = "PTX is the assembly of NVIDIA's GPUs: guard it with `#ifdef __NVPTX__` and write C++ for other targets, or set `cuda-arch` to a value of `__CUDA_ARCH__` without it; or `only = [\"nvptx\", \"cubin\"]` leaves other targets out, and `kernels.NAME.targets` does for one kernel";

const HINT_OF_HEADERS: &str = "guard it with `#ifdef __NVPTX__`, and write C++ for other targets; or `only = [\"nvptx\", \"cubin\"]` leaves other targets out, and `kernels.NAME.targets` does for one kernel";

/// What helps where no kernel is left.
pub(crate) fn hint(what: &ForeignConstruct) -> &'static str {
    match what {
        ForeignConstruct::Assembly(_) => HINT,
        ForeignConstruct::Lacking(_) => HINT_OF_HEADERS,
    }
}

/// `error` of a front end for AMD or the CPU, with what helps if it is of inline assembly.
pub(crate) fn explained(error: Error) -> Error {
    if error.hint().is_none() && is_of_constraints(&error) {
        return error.with_hint(HINT);
    }
    error
}

/// Whether a compiler has refused inline assembly in a way that nvcc does not.
pub(crate) fn is_of_assembly(error: &Error) -> bool {
    /// As clang says it of `%` before a name.
    const ESCAPE: &str = "error: invalid % escape in inline assembly string";
    let is_of_escape = error.kind() == ErrorKind::Tool && error.message().contains(ESCAPE);
    is_of_escape || is_of_constraints(error)
}

/// Whether a compiler has refused constraints of inline assembly.
fn is_of_constraints(error: &Error) -> bool {
    error.kind() == ErrorKind::Tool && error.message().lines().any(is_constraint)
}

/// Whether clang says that no register of the target is one of PTX.
fn is_constraint(line: &str) -> bool {
    let (_, error) = line.split_once("error: ").unwrap_or_default();
    error.starts_with("invalid ") && error.ends_with(" in asm") && error.contains("put constraint '")
}

/// Why a function with foreign code is refused, with the place; `file` is that of the kernel.
pub(crate) fn reason(file: &str, code: &ForeignCode) -> String {
    let place = match &code.place {
        // From standard input clang finds files as from a directory.
        Some((path, line)) => format!("{}:{line}", path.trim_start_matches("./")),
        None => file.to_string(),
    };
    match &code.what {
        ForeignConstruct::Assembly(template) => {
            let statement =
                template.split(['\n', ';']).map(str::trim).find(|it| !it.trim_matches(['{', '}']).is_empty());
            format!("{place}: inline PTX, which is for NVIDIA alone: `{}`", statement.unwrap_or_default())
        }
        ForeignConstruct::Lacking(what) => format!("{place}: no code for {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As clang 22 says it.
    #[test]
    fn constraints_of_ptx_are_explained() {
        let printed =
            "a.cu:3:9: error: invalid input constraint 'l' in asm\n    3 |   asm(\"\" :: \"l\"(p));";
        let error = explained(Error::new(printed).with_kind(ErrorKind::Tool));
        assert_eq!(error.hint(), Some(HINT));
        let other = explained(Error::new("a.cu:3:9: error: no").with_kind(ErrorKind::Tool));
        assert_eq!(other.hint(), None);
    }
}
