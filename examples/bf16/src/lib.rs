//! Numbers in bfloat16 for kernels. All of it is device code: `include/bf16.h` declares it, and kernels of crates that
//! depend on this one call it.
//!
//! ```toml
//! [modules.bf16]                     # in offload.toml
//! defines = { BF16_FALLBACK = 1 }    # no instruction of a device's own, for comparisons
//! ```
