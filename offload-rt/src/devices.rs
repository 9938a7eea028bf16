//! All devices of this machine that the program can use, best first.

use crate::device::Device;
use crate::error::Error;
use crate::module::Module;

impl Device {
    /// All devices of this machine that this build can use, best first: NVIDIA GPUs through CUDA, AMD GPUs through
    /// HIP, OpenCL devices but for CPUs, CPUs through OpenCL, and the host CPU.
    ///
    /// A driver that is not installed, or that fails, is passed over; the function `devices` of each backend says why.
    /// A GPU that two drivers show is there twice.
    ///
    /// ```
    /// for device in offload_rt::Device::all() {
    ///     println!("{device}");
    /// }
    /// ```
    pub fn all() -> Vec<Device> {
        let backends: &[fn() -> Vec<Device>] = &[
            #[cfg(feature = "cuda")]
            || crate::cuda::devices().unwrap_or_default(),
            #[cfg(feature = "hip")]
            || crate::hip::devices().unwrap_or_default(),
            #[cfg(feature = "opencl")]
            opencl,
            #[cfg(all(feature = "host", unix))]
            || vec![Device::host()],
        ];
        backends.iter().flat_map(|devices| devices()).collect()
    }

    /// The first of [`Device::all`].
    ///
    /// Whether a module has images for it is another question: [`Module::best_device`].
    ///
    /// # Errors
    /// There is none: the build has no crate feature for a device of this machine.
    pub fn best() -> Result<Device, Error> {
        Device::all().into_iter().next().ok_or_else(|| {
            Error::device("devices", "this build can use no device of this machine")
                .with_hint("enable the feature `host`, `opencl`, `cuda` or `hip` of the crate offload-rt")
        })
    }
}

/// The GPUs and accelerators of OpenCL, then its CPUs.
#[cfg(feature = "opencl")]
fn opencl() -> Vec<Device> {
    let mut devices = crate::opencl::devices().unwrap_or_default();
    devices.sort_by_key(crate::opencl::is_cpu);
    devices
}

impl Module {
    /// The first of [`Device::all`] that an image of the module is for; if it has variants, an image of any.
    ///
    /// ```no_run
    /// # fn blas() -> &'static offload_rt::Module { unimplemented!() }
    /// let device = blas().best_device()?;
    /// let program = blas().load(&device)?;
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// No image is for any of them: the message is that of the best device.
    pub fn best_device(&self) -> Result<Device, Error> {
        let devices = Device::all();
        match devices.iter().find(|device| self.check_image_for(device).is_ok()) {
            Some(device) => Ok(device.clone()),
            None => {
                let best = Device::best()?;
                self.check_image_for(&best).map(|()| best)
            }
        }
    }

    /// Whether there is an image for `device`, or why not; of a module with variants, why not for the last.
    fn check_image_for(&self, device: &Device) -> Result<(), Error> {
        let variants = self.variants();
        if variants.is_empty() {
            return self.request().select(device).map(drop);
        }
        let mut outcome = Ok(());
        for variant in &variants {
            outcome = self.request().variants(variant.iter()).select(device).map(drop);
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(feature = "host", unix))]
    fn the_host_is_always_there_and_last() {
        let devices = Device::all();
        assert_eq!(devices.last().unwrap().name(), "host CPU");
        assert_eq!(Device::best().unwrap().to_string(), devices[0].to_string());
    }
}
