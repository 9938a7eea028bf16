//! Device functions that NVIDIA's driver defines.

/// "System Calls" of
/// <https://docs.nvidia.com/cuda/ptx-writers-guide-to-interoperability/index.html#system-calls>: an image may leave
/// them undefined.
const SYSTEM_CALLS: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Whether the driver supplies `symbol`.
pub(crate) fn is_system_call(symbol: &str) -> bool {
    SYSTEM_CALLS.contains(&symbol)
}
