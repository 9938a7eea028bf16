//! NVIDIA devices through CUDA's driver: images (cubin, PTX) become modules. The library is opened at run time.
//!
//! The library is `libcuda.so.1` (`nvcuda.dll`), which comes with the driver; no part of the CUDA toolkit is needed.
//! The visible devices depend on the driver's environment variable `CUDA_VISIBLE_DEVICES`.
//!
//! - A kernel takes its parameters in order: [`KernelArg::value`] by value, buffers as addresses of device memory, and
//!   [`KernelArg::local`] as a 64-bit offset in bytes into the dynamic shared memory, a multiple of 16.
//! - A work-group is a thread block. Grids have no global offset: a range with one is refused.
//! - All streams and programs of a device share its primary context, as the CUDA runtime of other libraries in the
//!   process does. The context that a thread had is its own again after each call.
//!
//! Programs that have a context, streams or memory already hand them over with [`raw`]; the feature `cudarc-0_19` adds
//! conversions for the crate `cudarc`.
//!
//! [`KernelArg::value`]: crate::KernelArg::value
//! [`KernelArg::local`]: crate::KernelArg::local

pub(crate) mod api;
pub(crate) mod context;
#[cfg(feature = "cudarc-0_19")]
pub mod cudarc_0_19;
pub(crate) mod device;
pub(crate) mod driver;
mod jit;
mod launch_mode;
mod limits;
mod module;
mod operations;
mod params;
mod properties;
pub mod raw;

use crate::device::Device;
use crate::error::Error;

/// The devices that CUDA's driver shows, in its order.
///
/// # Errors
/// The driver's library cannot be opened, or it has no device; the message says what was looked for.
pub fn devices() -> Result<Vec<Device>, Error> {
    device::all(driver::CudaDriver::open()?)
}
