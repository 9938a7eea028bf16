//! Hints for functions of host code that device code calls.

use crate::error::{Error, ErrorKind};

/// What clang notes of a function without `__device__` that is called, and of one that calls.
const HOST_CALLS: [&str; 2] = [
    "viable: call to __host__ function from __",
    "viable: call to __device__ function from __host__ function",
];

/// `error`, with what helps if it is of code for the CPU.
pub(crate) fn explained(error: Error) -> Error {
    match hint(error.message()).filter(|_| error.kind() == ErrorKind::Tool && error.hint().is_none()) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

fn hint(printed: &str) -> Option<&'static str> {
    if HOST_CALLS.iter().any(|call| printed.contains(call)) {
        return Some(
            "functions of device code have `__device__` in CUDA C++ and HIP C++, also where a header declares them; `#pragma clang force_cuda_host_device begin` before the `#include`, and the same with `end` behind it, say so of a header that cannot be changed",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As clang 22 says it.
    #[test]
    fn calls_of_host_functions_are_told_from_other_errors() {
        let host = "a.cu:2:79: error: no matching function for call to 'scale'\nvec.h:5:5: note: candidate function not viable: call to __host__ function from __global__ function";
        assert!(hint(host).unwrap().contains("`__device__`"));
        assert_eq!(hint("a.cu:1:2: error: use of undeclared identifier 'x'"), None);
    }
}
