//! Launching kernels, whatever runs them.

mod args;
#[cfg(any(feature = "host", feature = "opencl", feature = "cuda"))]
mod check;

use std::any::Any;
use std::fmt;
use std::time::Duration;

use offload_format::pack::KernelInfo;

pub use self::args::{Arg, NdRange, Plain};
#[cfg(any(feature = "host", feature = "opencl", feature = "cuda"))]
pub(crate) use self::check::check;
#[cfg(feature = "cuda")]
pub(crate) use self::check::check_range;
#[cfg(any(feature = "host", feature = "opencl"))]
pub(crate) use self::check::refuse_shared_memory;
use crate::entry::LoadedImage;
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

/// What opens images on a device. The adapters `host`, `opencl` and `cuda` have one each.
pub(crate) trait Driver: Any + fmt::Debug + Send + Sync {
    /// Hands `image` to the driver.
    fn open(&self, image: &LoadedImage) -> Result<Box<dyn Program>, Error>;
}

/// An image that a driver has accepted; made by [`Device::open`](crate::Device::open).
pub trait Program: fmt::Debug + Send + Sync {
    /// The kernels, as far as the image's pack knows them.
    fn kernels(&self) -> &[KernelInfo];

    /// The record of `kernel`, with what its driver tells.
    ///
    /// Where [`Program::kernels`] is what packs know, because images are opened on first use, this opens the kernel's
    /// image: registers, spilled bytes and the largest work-group are those of the code that will run.
    ///
    /// # Errors
    /// The kernel does not exist, or its image cannot be opened.
    fn kernel(&self, name: &str) -> Result<&KernelInfo, Error> {
        find(self.kernels(), name)
    }

    /// Runs `kernel` over `range`, waits for its end, and says how long it ran.
    ///
    /// The number of arguments, their kinds, the sizes of values and a required work-group size are compared with
    /// what the pack knows. After an error the contents of [`Arg::InOut`] buffers are unspecified.
    ///
    /// # Errors
    /// The kernel does not exist, range or arguments do not fit it, or the driver reports a failure.
    ///
    /// # Safety
    /// A kernel can read and write anywhere in the program's memory, for example past the end of its buffers. The
    /// caller makes sure that it does not for this range and these arguments, that it does not write to
    /// [`Arg::In`] buffers, and that its work-items do not race.
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    unsafe fn launch(&self, kernel: &str, range: &NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error>;

    /// Writes `bytes` to the image's variable `name` (CUDA's `__constant__` and `__device__` data), of the same size.
    ///
    /// It does not wait for kernels that run at the same time: those may see old and new bytes.
    ///
    /// # Errors
    /// There is no such variable, it has another size, or the device has none that a program can write to.
    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let problem = format!("cannot write {} bytes: only CUDA devices support this", bytes.len());
        Err(Error::device(&format!("variable `{}`", escape(name)), problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Plainest;

    impl Program for Plainest {
        fn kernels(&self) -> &[KernelInfo] {
            &[]
        }

        #[allow(unsafe_code, reason = "implements the trait")]
        unsafe fn launch(&self, _: &str, _: &NdRange, _: &mut [Arg<'_>]) -> Result<Duration, Error> {
            Ok(Duration::ZERO)
        }
    }

    #[test]
    fn programs_without_variables_refuse_to_write_them() {
        let error = Plainest.write_global("c\x1b", &[0; 3]).unwrap_err().to_string();
        assert_eq!(error, "variable `c\\u{1b}`: cannot write 3 bytes: only CUDA devices support this");
    }
}
