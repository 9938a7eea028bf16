//! An image as a program of an OpenCL driver, and its launches.

use std::time::Duration;

use offload_format::pack::KernelInfo;
use opencl3::kernel::Kernel;
use opencl3::program::Program as DriverProgram;

use super::device::ClDevice;
use super::driver::ImageCompiler;
use super::queue::{Launch, Queue, refused};
use super::rebuild::Built;
use crate::device::Device;
use crate::entry::LoadedImage;
use crate::error::Error;
use crate::launch::{self, Arg, Driver, NdRange, Program};

/// An image that an OpenCL driver has built.
///
/// Kernels that an Intel GPU's driver has compiled from SPIR-V and that spill registers are built for the large
/// register file too, and each is launched from its better build. [`KernelInfo::remark`] says what was chosen and why,
/// `registers`, `spilled` and `max_work_group` are those of that build; larger work-groups are launched from the other.
#[derive(Debug)]
pub struct ClProgram {
    // Released in this order.
    built: Built<DriverProgram>,
    queue: Queue,
}

impl ClProgram {
    /// Has the driver of `device` build `image`.
    ///
    /// # Errors
    /// The device is not of OpenCL; the image is of a kind that no OpenCL driver takes; or the driver refuses it, and
    /// then the message holds its build log.
    pub fn new(device: &Device, image: &LoadedImage) -> Result<ClProgram, Error> {
        ClProgram::on(ClDevice::of(device)?, image)
    }

    fn on(device: &ClDevice, image: &LoadedImage) -> Result<ClProgram, Error> {
        let queue = Queue::new(device)?;
        let compiler = ImageCompiler { context: queue.context(), device, image };
        let built = compiler.run()?;
        Ok(ClProgram { built, queue })
    }
}

impl Driver for ClDevice {
    fn open(&self, image: &LoadedImage) -> Result<Box<dyn Program>, Error> {
        Ok(Box::new(ClProgram::on(self, image)?))
    }
}

impl Program for ClProgram {
    fn kernels(&self) -> &[KernelInfo] {
        self.built.kernels()
    }

    unsafe fn launch(&self, name: &str, range: &NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        // An image without records is left to the driver, which knows its kernels.
        if !self.kernels().is_empty() {
            launch::check(launch::find(self.kernels(), name)?, range, args)?;
        }
        let program = self.built.program_for(name, range.group_size());
        let create = || Kernel::create(program, name).map_err(refused(name, "cannot be created"));
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.queue.launch(Launch { kernel: name, range, args }, create) }
    }
}
