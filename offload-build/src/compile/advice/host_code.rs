//! Hints for host code in kernel files, such as kernel launches.

use crate::error::{Error, ErrorKind};

/// What clang and hipcc call for `kernel<<<grid, block>>>(...)`; no file of HIP C++ has it. Those of CUDA C++ have.
const LAUNCHES: [&str; 2] = ["__hipPushCallConfiguration", "hipConfigureCall"];

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
    let launches_kernels = printed.lines().any(|line| {
        let (_, error) = line.split_once("error: ").unwrap_or_default();
        error.contains("undeclared identifier") && LAUNCHES.iter().any(|name| error.contains(name))
    });
    launches_kernels.then_some(
        "kernels are launched from Rust, with `Kernel::launch`: keep functions with `<<<...>>>` in another file, or between `#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)` and `#endif`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As clang 22 says it.
    #[test]
    fn launches_are_told_from_other_errors() {
        let hip = "a.hip:5:23: error: use of undeclared identifier __hipPushCallConfiguration\n    5 | k<<<1, 2>>>(x);";
        assert!(hint(hip).unwrap().contains("`Kernel::launch`"));
        let host = "a.cu:2:79: error: no matching function for call to 'scale'\nvec.h:5:5: note: candidate function not viable: call to __host__ function from __global__ function";
        assert!(hint(host).unwrap().contains("`__device__`"));
        assert_eq!(hint("a.cu:1:2: error: use of undeclared identifier 'x'"), None);
        assert_eq!(hint("a.hip:1:2: warning: __hipPushCallConfiguration"), None);
    }
}
