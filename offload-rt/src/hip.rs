//! AMD devices through HIP's runtime: code objects become modules. The library is opened at run time.
//!
//! The library is `libamdhip64.so.7`, `libamdhip64.so.6` or `libamdhip64.so` (`amdhip64_7.dll`, `amdhip64_6.dll`), as ROCm
//! 6 and 7 have it; nothing else of ROCm is needed. Which devices it shows is up to its environment variables
//! `HIP_VISIBLE_DEVICES` and `ROCR_VISIBLE_DEVICES`.
//!
//! - A kernel takes its parameters in order: [`KernelArg::value`] by value, buffers as addresses of device memory, and
//!   [`KernelArg::local`] as a 64-bit offset in bytes into the dynamic shared memory, a multiple of 16. Code objects that
//!   other tools made take an address for it; HIP's launch has no place for the sizes of several such, so that they can
//!   have one.
//! - A work-group is a thread block. Grids have no global offset: a range with one is refused.
//! - All streams and programs of a device share its primary context, as other users of HIP in the process do. The device
//!   that a thread had set is its own again after each call.
//! - A memory fault of a kernel ends the process on most systems: ROCm reports it on standard error.
//!
//! Programs that have streams or memory already hand them over with [`raw`].
//!
//! [`KernelArg::value`]: crate::KernelArg::value
//! [`KernelArg::local`]: crate::KernelArg::local

pub(crate) mod api;
mod context;
mod device;
mod limits;
mod module;
pub(crate) mod operations;
mod params;
mod properties;
pub mod raw;
pub(crate) mod runtime;

use crate::device::Device;
use crate::error::Error;

/// The devices that HIP's runtime shows, in its order.
///
/// # Errors
/// The runtime's library cannot be opened or lacks a function, or it has no device; the message says what was looked for.
pub fn devices() -> Result<Vec<Device>, Error> {
    device::all(runtime::HipRuntime::open()?)
}
