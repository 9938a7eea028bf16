//! Kernels that are looked up once and launched many times, and their arguments.

use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::args::Plain;
use super::buffer::{Slice, SliceMut};
use super::check::{Given, check};
use super::stream::Stream;
use crate::device::Device;
use crate::driver::{DriverKernel, KernelArg, KernelArgKind};
use crate::error::Error;
use crate::range::NdRange;

/// A kernel of a [`Program`](crate::Program), ready to be launched. It keeps the program's image loaded.
#[derive(Debug)]
pub struct Kernel {
    driver: Box<dyn DriverKernel>,
    device: Device,
    name: Arc<str>,
}

impl<'a> KernelArg<'a> {
    /// A value; an OpenCL vector is an array, as `[f32; 4]` for `float4`.
    pub fn value<T: Plain>(value: &'a T) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Value(bytemuck::bytes_of(value)))
    }

    /// A buffer, or a part of one, that the kernel only reads.
    ///
    /// OpenCL devices take parts that start at a multiple of their address alignment alone, 128 bytes on most.
    pub fn buffer<T: Plain>(values: impl Into<Slice<'a, T>>) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Memory(values.into().range()))
    }

    /// A buffer, or a part of one, that the kernel reads and writes.
    pub fn buffer_mut<T: Plain>(values: impl Into<SliceMut<'a, T>>) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Memory(values.into().range()))
    }

    /// Local memory for `count` values of `T`, for each work-group.
    pub fn local<T: Plain>(count: usize) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Local(count.saturating_mul(size_of::<T>())))
    }

    pub(super) fn given(&self) -> Given {
        match self.0 {
            KernelArgKind::Value(bytes) => Given::Value(bytes.len()),
            KernelArgKind::Memory(_) => Given::Buffer,
            KernelArgKind::Local(size) => Given::Local(size),
        }
    }
}

impl Kernel {
    pub(crate) fn new(driver: Box<dyn DriverKernel>, device: Device) -> Kernel {
        let name = driver.info().name.as_str().into();
        Kernel { driver, device, name }
    }

    /// What pack and driver know of it: arguments, registers, the largest work-group.
    pub fn info(&self) -> &KernelInfo {
        self.driver.info()
    }

    /// Puts the kernel into `stream` over `range`, and returns at once. On the host CPU it runs before this returns.
    ///
    /// The number of arguments, their kinds, the sizes of values and a required work-group size are compared with what
    /// the pack knows. A failure while it runs is reported by whatever waits for the stream next.
    ///
    /// # Errors
    /// Range or arguments do not fit the kernel, the stream or a buffer is of another device, or the driver refuses.
    ///
    /// # Safety
    /// A kernel can read and write anywhere in the memory of its device, which may be the program's own. The caller
    /// makes sure that it stays within its buffers for this range and these arguments, that it does not write to
    /// [`KernelArg::buffer`] arguments, that its work-items do not race, and that other streams use its buffers only
    /// after an [`Event`](crate::Event) orders them.
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        range: &NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Error> {
        check(self.info(), range, args.iter().map(KernelArg::given))?;
        self.check_context(stream, args)?;
        // SAFETY: the contract is the same, and the caller's to keep.
        let launched = unsafe { self.driver.launch(stream.driver(), range, args) };
        launched.map_err(|problem| Error::of_launch(&self.name, problem))?;
        stream.queued().add(&self.name);
        Ok(())
    }

    /// The device that it is loaded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    pub(crate) fn driver(&self) -> &dyn DriverKernel {
        &*self.driver
    }

    pub(super) fn check_given(
        &self,
        range: &NdRange,
        args: impl ExactSizeIterator<Item = Given>,
    ) -> Result<(), Error> {
        check(self.info(), range, args)
    }

    fn check_context(&self, stream: &Stream, args: &[KernelArg<'_>]) -> Result<(), Error> {
        let own = self.driver.context();
        if stream.driver().context() != own {
            let problem = format!("it is loaded on {}, the stream is of {}", self.device, stream.device());
            return Err(Error::launch(&self.name, problem).with_hint("make the stream with that device"));
        }
        let other = args
            .iter()
            .position(|arg| matches!(arg.0, KernelArgKind::Memory(range) if range.memory.context() != own));
        match other {
            None => Ok(()),
            Some(index) => {
                let problem = format!("argument {index} is a buffer of another device than {}", self.device);
                let hint = "upload the values with a stream of the kernel's device";
                Err(Error::launch(&self.name, problem).with_hint(hint))
            }
        }
    }
}
