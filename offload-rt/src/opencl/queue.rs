//! A device's context and queue, and running a kernel there.

use std::time::Duration;

use super::api::{Access, Buffer, ClError, CommandQueue, Context, Kernel, KernelArg, Program};
use super::device::ClDevice;
use crate::error::Error;
use crate::launch::{Arg, NdRange, refuse_shared_memory};

/// A context of one device with a queue.
#[derive(Debug)]
pub(super) struct Queue {
    // Released in this order.
    queue: CommandQueue,
    context: Context,
}

/// What is asked to run.
pub(super) struct Launch<'a, 'b> {
    pub(super) kernel: &'a str,
    pub(super) range: &'a NdRange,
    pub(super) args: &'a mut [Arg<'b>],
}

impl Queue {
    /// # Errors
    /// The driver refuses.
    pub(super) fn new(device: &ClDevice) -> Result<Queue, Error> {
        let failed = |what: &str| {
            let (name, what) = (device.name(), what.to_string());
            move |error| Error::device(&name, format!("{what}: {error}"))
        };
        let context = Context::new(device.id()).map_err(failed("cannot make a context"))?;
        let queue = CommandQueue::new(&context, device.id()).map_err(failed("cannot make a queue"))?;
        Ok(Queue { queue, context })
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Runs a kernel of `program`, waits for its end, and says how long it ran.
    ///
    /// # Safety
    /// As that of [`launch::Program::launch`](crate::launch::Program::launch).
    pub(super) unsafe fn launch(&self, program: &Program, launch: Launch<'_, '_>) -> Result<Duration, Error> {
        let Launch { kernel: name, range, args } = launch;
        refuse_shared_memory(name, range)?;
        if name.contains('\0') {
            return Err(Error::launch(name, "the name has a NUL"));
        }
        let failed = |what: &'static str| move |error| Error::launch(name, format!("{what}: {error}"));
        // A kernel object holds its arguments: one for each launch, so that threads do not disturb each other.
        let kernel = program.kernel(name).map_err(failed("cannot be created"))?;
        let count = kernel.arg_count().map_err(failed("does not tell its arguments"))?;
        if count != args.len() {
            return Err(Error::launch(name, format!("it takes {count} arguments, {} are given", args.len())));
        }
        // SAFETY: the caller answers for what the kernel does with these arguments; the buffers live until it has run.
        unsafe {
            let buffers = self.set_args(&kernel, args).map_err(failed("an argument is refused"))?;
            let took = self.run(&kernel, range).map_err(failed("the launch failed"))?;
            self.read_back(&buffers, args).map_err(failed("results cannot be read"))?;
            Ok(took)
        }
    }

    /// Sets every argument.
    ///
    /// # Safety
    /// The buffers that it returns have to live until the kernel has run.
    unsafe fn set_args(&self, kernel: &Kernel, args: &[Arg<'_>]) -> Result<Vec<Option<Buffer>>, ClError> {
        // SAFETY: as promised.
        let set = |(index, arg): (u32, &Arg<'_>)| unsafe { self.set_arg(kernel, index, arg) };
        (0..).zip(args).map(set).collect()
    }

    /// Sets one argument, with a buffer if it is memory.
    unsafe fn set_arg(&self, kernel: &Kernel, index: u32, arg: &Arg<'_>) -> Result<Option<Buffer>, ClError> {
        // SAFETY: the caller answers for the arguments of the kernel.
        let set = |value: KernelArg<'_>| unsafe { kernel.set_arg(index, value) };
        let (access, bytes) = match arg {
            Arg::Value(bytes) => return set(KernelArg::Value(bytes)).map(|()| None),
            Arg::Local(size) => return set(KernelArg::Local(*size)).map(|()| None),
            Arg::In(bytes) => (Access::Read, *bytes),
            Arg::InOut(bytes) => (Access::ReadWrite, &**bytes),
        };
        // OpenCL has no empty buffers.
        let bytes = if bytes.is_empty() { &[0] } else { bytes };
        let buffer = Buffer::copied(&self.context, access, bytes)?;
        set(KernelArg::Buffer(&buffer))?;
        Ok(Some(buffer))
    }

    /// # Safety
    /// The arguments of `kernel` are set, and it may run on them over `range`.
    unsafe fn run(&self, kernel: &Kernel, range: &NdRange) -> Result<Duration, ClError> {
        // SAFETY: as promised.
        let event = unsafe { self.queue.run(kernel, range)? };
        event.wait()?;
        event.duration()
    }

    fn read_back(&self, buffers: &[Option<Buffer>], args: &mut [Arg<'_>]) -> Result<(), ClError> {
        for (buffer, arg) in buffers.iter().zip(args) {
            if let (Some(buffer), Arg::InOut(bytes)) = (buffer, arg)
                && !bytes.is_empty()
            {
                self.queue.read(buffer, bytes)?;
            }
        }
        Ok(())
    }
}
