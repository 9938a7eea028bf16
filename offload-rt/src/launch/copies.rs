//! Launching with arguments in the program's own memory, which are copied to the device and back.

use std::time::Duration;

use super::args::{Arg, ArgKind};
use super::buffer::Buffer;
use super::program::{Kernel, Program};
use super::stream::Stream;
use crate::backend::{KernelArg, KernelArgKind};
use crate::error::Error;
use crate::range::NdRange;

impl Program {
    /// Copies buffers to the device, runs `kernel` over `range`, waits, copies the buffers of [`Arg::in_out`] back, and returns
    /// how long the kernel ran. After an error their contents are unspecified.
    ///
    /// Programs that launch more than once keep their data on the device, with a [`Stream`](crate::Stream) and
    /// [`Kernel::launch`].
    ///
    /// # Errors
    /// As [`Program::kernel`] and [`Kernel::launch`]; or the kernel failed.
    ///
    /// # Safety
    /// As that of [`Kernel::launch`]; the kernel does not write to the buffers of [`Arg::input`].
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    pub unsafe fn launch(
        &self,
        kernel: &str,
        range: NdRange,
        args: &mut [Arg<'_>],
    ) -> Result<Duration, Error> {
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.kernel(kernel)?.launch_with_copies(range, args) }
    }
}

impl Kernel {
    /// [`Program::launch`], of a kernel that was looked up.
    ///
    /// # Errors
    /// As [`Kernel::launch`]; or the kernel failed.
    ///
    /// # Safety
    /// As that of [`Program::launch`].
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    pub unsafe fn launch_with_copies(&self, range: NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        self.check_given(&range, args.iter().map(Arg::given))?;
        let stream = self.device().stream()?;
        let mut copies = Vec::with_capacity(args.len());
        for arg in args.iter() {
            copies.push(CopiedArg::new(arg, &stream)?);
        }
        let kernel_args: Vec<KernelArg<'_>> = copies.iter_mut().map(CopiedArg::arg).collect();
        let start = stream.record()?;
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.launch(&stream, range, &kernel_args)? };
        let end = stream.record()?;
        stream.synchronize()?;
        let buffers: Vec<Option<Buffer<u8>>> = copies.into_iter().map(CopiedArg::into_buffer).collect();
        for (arg, buffer) in args.iter_mut().zip(&buffers) {
            if let (ArgKind::InOut(values), Some(buffer)) = (&mut arg.0, buffer) {
                stream.read(buffer, values.bytes)?;
            }
        }
        end.since(&start)
    }
}

/// An argument of the program's own memory, as kernels take it.
enum CopiedArg<'a> {
    Buffer(Buffer<u8>),
    Value(&'a [u8]),
    Local(usize),
}

impl<'a> CopiedArg<'a> {
    fn new(arg: &'a Arg<'_>, stream: &Stream) -> Result<CopiedArg<'a>, Error> {
        Ok(match &arg.0 {
            ArgKind::In(values) => CopiedArg::Buffer(stream.upload(values.bytes)?),
            ArgKind::InOut(values) => CopiedArg::Buffer(stream.upload(values.bytes)?),
            ArgKind::Value(bytes) => CopiedArg::Value(bytes),
            ArgKind::Local(size) => CopiedArg::Local(*size),
        })
    }

    fn into_buffer(self) -> Option<Buffer<u8>> {
        match self {
            CopiedArg::Buffer(buffer) => Some(buffer),
            CopiedArg::Value(_) | CopiedArg::Local(_) => None,
        }
    }

    fn arg(&mut self) -> KernelArg<'_> {
        match self {
            CopiedArg::Buffer(buffer) => KernelArg::buffer_mut(buffer),
            CopiedArg::Value(bytes) => KernelArg(KernelArgKind::Value(bytes)),
            CopiedArg::Local(size) => KernelArg(KernelArgKind::Local(*size)),
        }
    }
}
