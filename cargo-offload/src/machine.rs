//! What this machine has for builds with kernels: compilers, how they get there, and the compile cache.

pub(crate) mod cache;
pub(crate) mod doctor;
#[cfg(feature = "devices")]
pub(crate) mod test_devices;
pub(crate) mod toolchain;
