//! Environment of builds with kernels on this machine: compilers, their installation, and the compile cache.

pub(crate) mod cache;
pub(crate) mod doctor;
#[cfg(feature = "devices")]
pub(crate) mod test_devices;
pub(crate) mod toolchain;
