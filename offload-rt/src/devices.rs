//! The devices of this machine, the drivers that failed, and the choice of the best device.

use crate::device::Device;
use crate::error::Error;
#[cfg(any(feature = "cuda", feature = "hip", feature = "opencl"))]
use crate::error::ErrorKind;
use crate::module::Module;

/// The devices of this machine that this build can use, and the drivers that failed; made by [`Device::all`].
///
/// ```
/// let all = offload_rt::Device::all();
/// for device in &all.devices {
///     println!("{device}");
/// }
/// for failure in &all.failures {
///     eprintln!("warning: {failure}");
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Devices {
    /// Best first: NVIDIA GPUs through CUDA, AMD GPUs through HIP, OpenCL devices but for CPUs, CPUs through OpenCL, and
    /// the host CPU. A GPU that two drivers show is there twice.
    pub devices: Vec<Device>,
    /// The errors of drivers that are installed and failed. A driver that is not installed, or has no device, is no
    /// failure; the function `devices` of each backend returns that error too.
    pub failures: Vec<Error>,
}

impl Devices {
    #[cfg(any(feature = "cuda", feature = "hip", feature = "opencl"))]
    fn add(&mut self, found: Result<Vec<Device>, Error>) {
        match found {
            Ok(devices) => self.devices.extend(devices),
            Err(error) if error.kind() == ErrorKind::NoDevice => {}
            Err(error) => self.failures.push(error),
        }
    }
}

/// A request for the best device of this machine, made by [`Device::request`].
///
/// ```no_run
/// # fn blas() -> &'static offload_rt::Module { unimplemented!() }
/// use offload_rt::Device;
///
/// // A device that the module has an image for; the CPU even if the driver of a GPU is broken.
/// let device = Device::request().module(blas()).allow_cpu().best()?;
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "a request does nothing before `best`"]
pub struct DeviceRequest<'m> {
    module: Option<&'m Module>,
    allows_cpu: bool,
}

impl<'m> DeviceRequest<'m> {
    /// Takes only devices that an image of `module` is for; if it has variants, an image of any.
    pub fn module(mut self, module: &'m Module) -> DeviceRequest<'m> {
        self.module = Some(module);
        self
    }

    /// Takes a CPU also where a driver failed, which may be that of a GPU. Otherwise that is an error.
    pub fn allow_cpu(mut self) -> DeviceRequest<'m> {
        self.allows_cpu = true;
        self
    }

    /// The first of [`Device::all`] that fits the request.
    ///
    /// # Errors
    /// No device fits the request: the message is that of the best device. Or only a CPU is left because a driver
    /// failed, unless [`allow_cpu`](DeviceRequest::allow_cpu) was called. Or the build has no crate feature for a device of
    /// this machine.
    pub fn best(&self) -> Result<Device, Error> {
        self.best_of(Device::all())
    }

    fn best_of(&self, all: Devices) -> Result<Device, Error> {
        let mut refusal = None;
        for device in all.devices {
            if !self.allows_cpu && !all.failures.is_empty() && is_cpu(&device) {
                return Err(only_cpu(&all.failures));
            }
            match self.check(&device) {
                Ok(()) => return Ok(device),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        match (refusal, all.failures.first()) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(failure)) => Err(failure.clone()),
            (None, None) => Err(Error::no_device("devices", "this build can use no device of this machine")
                .with_hint("enable the feature `host`, `opencl`, `cuda` or `hip` of the crate offload-rt")),
        }
    }

    /// Whether there is an image for `device`, or why not; of a module with variants, why not for the last.
    fn check(&self, device: &Device) -> Result<(), Error> {
        let Some(module) = self.module else { return Ok(()) };
        let variants = module.variants();
        if variants.is_empty() {
            return module.request().select(device).map(drop);
        }
        let mut outcome = Ok(());
        for variant in &variants {
            outcome = module.request().variants(variant.iter()).select(device).map(drop);
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }
}

impl Device {
    /// All devices of this machine that this build can use, best first, and the drivers that failed.
    pub fn all() -> Devices {
        #[cfg_attr(
            not(any(feature = "cuda", feature = "hip", feature = "opencl", all(feature = "host", unix))),
            expect(unused_mut, reason = "there is no backend")
        )]
        let mut all = Devices::default();
        #[cfg(feature = "cuda")]
        all.add(crate::cuda::devices());
        #[cfg(feature = "hip")]
        all.add(crate::hip::devices());
        #[cfg(feature = "opencl")]
        {
            let crate::opencl::PlatformDevices { mut devices, failures } = crate::opencl::all();
            devices.sort_by_key(crate::opencl::is_cpu);
            all.add(Ok(devices));
            failures.into_iter().for_each(|failure| all.add(Err(failure)));
        }
        #[cfg(all(feature = "host", unix))]
        all.devices.push(Device::host());
        all
    }

    /// A request for the best device, which may demand an image of a module and allow the CPU where a driver failed.
    pub fn request() -> DeviceRequest<'static> {
        DeviceRequest::default()
    }

    /// The first of [`Device::all`]: [`Device::request`] without options.
    ///
    /// Whether a module has images for it is another question: [`Module::best_device`].
    ///
    /// # Errors
    /// As [`DeviceRequest::best`]: a CPU is an error where a driver failed.
    pub fn best() -> Result<Device, Error> {
        Device::request().best()
    }
}

impl Module {
    /// The first of [`Device::all`] that an image of the module is for; if it has variants, an image of any. It is
    /// [`Device::request`] with [`module`](DeviceRequest::module).
    ///
    /// ```no_run
    /// # fn blas() -> &'static offload_rt::Module { unimplemented!() }
    /// let device = blas().best_device()?;
    /// let program = blas().load(&device)?;
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`DeviceRequest::best`]: a CPU is an error where a driver failed.
    pub fn best_device(&self) -> Result<Device, Error> {
        Device::request().module(self).best()
    }
}

/// Whether it is a CPU, through any driver.
fn is_cpu(device: &Device) -> bool {
    #[cfg(feature = "opencl")]
    if crate::opencl::is_cpu(device) {
        return true;
    }
    device.description().is_host()
}

/// The error of a request that would take a CPU in place of the devices of broken drivers.
fn only_cpu(failures: &[Error]) -> Error {
    let problems: Vec<String> = failures.iter().map(Error::problem).collect();
    let problem = format!("only a CPU is left, because a driver failed: {}", problems.join("; "));
    let hint = "repair the driver, or take the CPU with `Device::request().allow_cpu()`";
    match failures.iter().find_map(Error::hint) {
        Some(driver) => Error::device("devices", problem).with_hint(format!("{hint}; {driver}")),
        None => Error::device("devices", problem).with_hint(hint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(feature = "host", unix))]
    fn the_host_is_always_there_and_last() {
        let all = Device::all();
        assert_eq!(all.devices.last().unwrap().name(), "host CPU");
        let best = Device::request().allow_cpu().best().unwrap();
        assert_eq!(best.to_string(), all.devices[0].to_string());
    }

    #[test]
    fn a_cpu_in_place_of_a_broken_driver_is_an_error_unless_it_is_allowed() {
        let host = Device::host();
        let working = Devices { devices: vec![host.clone()], failures: Vec::new() };
        let failure = Error::device("CUDA", "libcuda.so.1 cannot start").with_hint("`nvidia-smi` shows it");
        let broken = Devices { devices: vec![host], failures: vec![failure] };
        assert!(Device::request().best_of(working).is_ok());
        assert!(Device::request().allow_cpu().best_of(broken.clone()).is_ok());
        let error = Device::request().best_of(broken).unwrap_err().to_string();
        assert!(error.contains("a driver failed: CUDA: libcuda.so.1 cannot start\nhint: "), "{error}");
        assert!(error.contains("`Device::request().allow_cpu()`; `nvidia-smi`"), "{error}");
    }

    #[test]
    fn without_devices_the_failure_or_the_lacking_feature_is_reported() {
        let broken = Devices { failures: vec![Error::device("CUDA", "broken")], ..Devices::default() };
        assert_eq!(Device::request().best_of(broken).unwrap_err().problem(), "CUDA: broken");
        let none = Device::request().best_of(Devices::default()).unwrap_err();
        assert!(none.hint().unwrap().starts_with("enable the feature `host`"), "{none}");
    }
}
