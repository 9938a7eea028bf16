//! The environment variables that a program reads. The book has the table of all variables of the project.

/// The directory of the compile cache, from which programs of development builds read their packs.
pub(crate) const CACHE_DIR: &str = "OFFLOAD_CACHE_DIR";
/// The user's directory, with the default compile cache.
pub(crate) const HOME: &str = "HOME";
/// The number of threads that decode one image.
pub(crate) const DECODE_THREADS: &str = "OFFLOAD_DECODE_THREADS";
/// A directory that is searched for sidecars before the program's own.
pub(crate) const PACK_DIR: &str = "OFFLOAD_PACK_DIR";
/// The directory with changed kernels.
#[cfg(debug_assertions)]
pub(crate) const RELOAD_DIR: &str = "OFFLOAD_RELOAD_DIR";
/// Whether invalid accesses and barriers in kernels for the host fail the launch.
#[cfg(all(feature = "host", any(unix, windows)))]
pub(crate) const SANITIZE: &str = "OFFLOAD_SANITIZE";
/// Whether GPUs use the memory of each other.
#[cfg(any(feature = "cuda", feature = "hip"))]
pub(crate) const PEER_ACCESS: &str = "OFFLOAD_PEER_ACCESS";
/// The devices of kernel tests and benchmarks.
#[cfg(feature = "test")]
pub(crate) const TEST_DEVICE: &str = "OFFLOAD_TEST_DEVICE";
/// The file for the results of kernel tests and benchmarks.
#[cfg(feature = "test")]
pub(crate) const TEST_RESULTS: &str = "OFFLOAD_TEST_RESULTS";
/// OpenCL libraries besides the system's.
#[cfg(feature = "opencl")]
pub(crate) const OPENCL_DYLIB_PATH: &str = "OPENCL_DYLIB_PATH";
/// The folder that registers OpenCL drivers, or a file in it.
#[cfg(feature = "opencl")]
pub(crate) const OCL_ICD_VENDORS: &str = "OCL_ICD_VENDORS";
