//! Launching kernels, whatever runs them: devices make streams, streams make buffers, and kernels are put into streams.
//!
//! What differs between devices is behind the traits of `driver`.

mod args;
mod buffer;
mod check;
pub(crate) mod driver;
mod event;
mod kernel;
mod program;
mod queued;
mod stream;

use offload_format::pack::KernelInfo;

pub use self::args::{Arg, NdRange, Plain};
pub use self::buffer::{Buffer, Slice, SliceMut};
#[cfg(any(feature = "host", feature = "opencl"))]
pub(crate) use self::check::refuse_shared_memory;
pub use self::event::Event;
#[cfg(any(feature = "host", feature = "opencl", feature = "cuda"))]
pub(crate) use self::kernel::KernelArgKind;
pub use self::kernel::{Kernel, KernelArg};
pub use self::program::Program;
pub use self::stream::Stream;
use crate::error::Error;
use crate::text::escape;

/// The record of the kernel `name`.
pub(crate) fn find<'k>(kernels: &'k [KernelInfo], name: &str) -> Result<&'k KernelInfo, Error> {
    let found = kernels.iter().find(|kernel| kernel.name == name);
    found.ok_or_else(|| {
        let names: Vec<String> = kernels.iter().map(|kernel| escape(&kernel.name)).collect();
        let names = if names.is_empty() { "no kernels".to_string() } else { names.join(", ") };
        Error::launch(name, "the image has no such kernel").with_hint(format!("it has {names}"))
    })
}
