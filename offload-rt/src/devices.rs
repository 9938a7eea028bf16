//! The devices of this machine, the drivers that failed, and the choice of the best device.

use crate::device::Device;
use crate::error::Error;
#[cfg(any(feature = "cuda", feature = "hip", feature = "opencl"))]
use crate::error::ErrorKind;
use crate::identity::{DeviceIdentity, PciAddress};
use crate::module::Module;
use crate::text::escape;

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
    /// the host CPU. A GPU that several drivers show is there once, through the first of them.
    pub devices: Vec<Device>,
    /// GPUs of `devices` through their other drivers, in the same order: the same address on PCI, or the same UUID.
    ///
    /// Their images may be others: an NVIDIA GPU takes PTX through CUDA, and OpenCL C through OpenCL.
    pub alternates: Vec<Device>,
    /// The errors of drivers that are installed and failed. A driver that is not installed, or has no device, is no
    /// failure; the function `devices` of each backend returns that error too.
    pub failures: Vec<Error>,
}

impl Devices {
    /// The device with this address on PCI, through the best of its drivers.
    ///
    /// ```
    /// let all = offload_rt::Device::all();
    /// let first = all.devices.iter().find_map(|device| device.properties().ok()?.pci);
    /// match first {
    ///     Some(address) => println!("{address}: {}", all.find(address).expect("it was listed")),
    ///     None => println!("no device of this machine is on PCI"),
    /// }
    /// ```
    pub fn find(&self, address: PciAddress) -> Option<&Device> {
        let mut devices = self.devices.iter().chain(&self.alternates);
        devices.find(|device| device.backend().identity().pci == Some(address))
    }

    /// All, in the order in which a request tries them: the alternates of GPUs before CPUs.
    fn in_order(&self) -> Vec<&Device> {
        let (cpus, others): (Vec<&Device>, Vec<&Device>) =
            self.devices.iter().partition(|device| is_cpu(device));
        let mut all = others;
        all.extend(&self.alternates);
        all.extend(cpus);
        all
    }
}

/// The devices found so far, with their identities.
#[derive(Debug, Default)]
struct Listing {
    all: Devices,
    /// Of `all.devices`.
    #[allow(dead_code, reason = "it is unused without the feature of a back end")]
    identities: Vec<DeviceIdentity>,
}

impl Listing {
    #[cfg(any(feature = "cuda", feature = "hip", feature = "opencl"))]
    fn add_all(&mut self, found: Result<Vec<Device>, Error>) {
        match found {
            Ok(devices) => devices.into_iter().for_each(|device| self.add(device)),
            Err(error) if error.kind() == ErrorKind::NoDevice => {}
            Err(error) => self.all.failures.push(error),
        }
    }

    #[cfg(any(
        feature = "cuda",
        feature = "hip",
        feature = "opencl",
        all(feature = "host", any(unix, windows))
    ))]
    fn add(&mut self, device: Device) {
        let identity = device.backend().identity();
        if self.identities.iter().any(|known| known.is_same_device(&identity)) {
            self.all.alternates.push(device);
            return;
        }
        self.all.devices.push(device);
        self.identities.push(identity);
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

    /// The first of [`Device::all`] that fits the request; a GPU through another of its drivers comes before CPUs.
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
        for device in all.in_order() {
            if !self.allows_cpu && !all.failures.is_empty() && is_cpu(device) {
                return Err(only_cpu(&all.failures));
            }
            match self.check(device) {
                Ok(()) => return Ok(device.clone()),
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
            not(any(
                feature = "cuda",
                feature = "hip",
                feature = "opencl",
                all(feature = "host", any(unix, windows))
            )),
            expect(unused_mut, reason = "there is no backend")
        )]
        let mut listing = Listing::default();
        #[cfg(feature = "cuda")]
        listing.add_all(crate::cuda::devices());
        #[cfg(feature = "hip")]
        listing.add_all(crate::hip::devices());
        #[cfg(feature = "opencl")]
        {
            let crate::opencl::PlatformDevices { mut devices, failures } = crate::opencl::all();
            devices.sort_by_key(crate::opencl::is_cpu);
            listing.add_all(Ok(devices));
            failures.into_iter().for_each(|failure| listing.add_all(Err(failure)));
        }
        #[cfg(all(feature = "host", any(unix, windows)))]
        listing.add(Device::host());
        listing.all
    }

    /// The device with this address on PCI, through the best of its drivers.
    ///
    /// What `CUDA_VISIBLE_DEVICES`, `HIP_VISIBLE_DEVICES` or a container hides from a driver is not found.
    ///
    /// ```no_run
    /// let device = offload_rt::Device::from_pci_address("0000:3b:00.0".parse()?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No driver of this machine that the build can use shows a device there; the hint lists the addresses that there are,
    /// or a driver that failed is named.
    pub fn from_pci_address(address: PciAddress) -> Result<Device, Error> {
        let all = Device::all();
        all.find(address).cloned().ok_or_else(|| no_device_at(address, &all))
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

/// The error of a lookup by address.
fn no_device_at(address: PciAddress, all: &Devices) -> Error {
    let mut problem = format!("no driver shows a device at {address}");
    for failure in &all.failures {
        problem.push_str("; a driver failed: ");
        problem.push_str(&failure.problem());
    }
    let mut known = Vec::new();
    for device in &all.devices {
        if let Some(pci) = device.backend().identity().pci {
            known.push(format!("{pci} {}", escape(device.name())));
        }
    }
    let error = Error::no_device("devices", problem);
    match known.as_slice() {
        [] => error.with_hint("no device of this machine is on PCI; the driver's environment may hide it"),
        known => error.with_hint(format!("there are {}", known.join(", "))),
    }
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
    #[cfg(all(feature = "host", any(unix, windows)))]
    fn the_host_is_always_there_and_last() {
        let all = Device::all();
        assert_eq!(all.devices.last().unwrap().name(), "host CPU");
        let best = Device::request().allow_cpu().best().unwrap();
        assert_eq!(best.to_string(), all.devices[0].to_string());
    }

    #[test]
    fn a_cpu_in_place_of_a_broken_driver_is_an_error_unless_it_is_allowed() {
        let host = Device::host();
        let working = Devices { devices: vec![host.clone()], ..Devices::default() };
        let failure = Error::device("CUDA", "libcuda.so.1 cannot start").with_hint("`nvidia-smi` shows it");
        let broken = Devices { devices: vec![host], failures: vec![failure], ..Devices::default() };
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

    #[cfg(feature = "opencl")]
    mod of_two_drivers {
        use std::sync::Arc;

        use offload_format::codec::{self, Codec};
        use offload_format::pack::{NewImage, PackBuilder};

        use super::*;
        use crate::backend::{BackendDevice, BackendModule, BackendStream};
        use crate::description::{CudaDescription, DeviceDescription, OpenClDescription};
        use crate::entry::{Entry, LoadedImage};
        use crate::error::Problem;

        /// A device that has nothing but an identity.
        #[derive(Debug)]
        struct Identified(DeviceIdentity);

        impl BackendDevice for Identified {
            fn load(&self, _: &LoadedImage, _: &[Entry]) -> Result<Arc<dyn BackendModule>, Error> {
                Err(Error::device("identified", "it loads nothing"))
            }

            fn stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
                Err("it has no streams".to_string().into())
            }

            fn identity(&self) -> DeviceIdentity {
                self.0.clone()
            }
        }

        fn device(description: impl Into<DeviceDescription>, driver: &'static str, pci: &str) -> Device {
            let identity = DeviceIdentity { pci: pci.parse().ok(), ..DeviceIdentity::unknown(driver) };
            Device::from_backend(description, Identified(identity))
        }

        fn cuda(pci: &str) -> Device {
            device(CudaDescription::new("H200", [9, 0]).driver_version(12080), "CUDA", pci)
        }

        fn opencl(name: &str, pci: &str) -> Device {
            device(OpenClDescription::new(name, "v").opencl_c(), "OpenCL", pci)
        }

        /// Two NVIDIA GPUs through CUDA and OpenCL, another GPU and a CPU.
        fn listed() -> Devices {
            let mut listing = Listing::default();
            listing.add_all(Ok(vec![cuda("0000:3b:00.0"), cuda("0000:5e:00.0")]));
            listing.add_all(Ok(vec![
                opencl("second", "0000:5e:00.0"),
                opencl("other", "0000:03:00.0"),
                opencl("first", "0000:3b:00.0"),
                opencl("unknown", ""),
            ]));
            listing.add_all(Err(Error::no_device("HIP", "none")));
            listing.add(Device::host());
            listing.all
        }

        fn names(devices: &[Device]) -> Vec<&str> {
            devices.iter().map(Device::name).collect()
        }

        #[test]
        fn a_gpu_is_listed_once_and_kept_through_its_other_driver() {
            let all = listed();
            assert_eq!(names(&all.devices), ["H200", "H200", "other", "unknown", "host CPU"]);
            assert_eq!(names(&all.alternates), ["second", "first"]);
            assert!(all.failures.is_empty());
            let found = all.find("3b:00.0".parse().unwrap()).unwrap();
            assert!(found.description().opencl().is_none(), "{found}");
            assert_eq!(all.find("0000:03:00.0".parse().unwrap()).unwrap().name(), "other");
            assert!(all.find("0001:3b:00.0".parse().unwrap()).is_none());
            let in_order: Vec<&str> = all.in_order().into_iter().map(Device::name).collect();
            assert_eq!(in_order, ["H200", "H200", "other", "unknown", "second", "first", "host CPU"]);
        }

        #[test]
        fn an_unknown_address_is_an_error_with_the_known_ones() {
            let mut all = listed();
            all.failures.push(Error::device("HIP", "broken"));
            let error = no_device_at("0000:01:00.0".parse().unwrap(), &all);
            assert_eq!(error.kind(), ErrorKind::NoDevice);
            assert!(
                error.problem().contains("0000:01:00.0") && error.problem().contains("broken"),
                "{error}"
            );
            let hint = error.hint().unwrap();
            assert!(hint.contains("0000:3b:00.0 H200") && hint.contains("0000:03:00.0 other"), "{error}");
        }

        #[test]
        fn a_request_takes_the_other_driver_of_a_gpu_where_a_cpu_would_be_an_error() {
            let broken = Devices {
                devices: vec![Device::host()],
                alternates: vec![opencl("first", "0000:3b:00.0")],
                failures: vec![Error::device("CUDA", "broken")],
            };
            assert_eq!(Device::request().best_of(broken).unwrap().name(), "first");
        }

        #[test]
        fn a_module_for_the_other_driver_gets_the_gpu_before_the_cpu() {
            let frame = codec::encode(b"code", Codec::Raw, 0).unwrap();
            let mut builder = PackBuilder::new("p", "1.0.0");
            for target in ["host", "opencl-c"] {
                builder.image(NewImage::new("m", target.parse().unwrap()), frame.info()).unwrap();
            }
            let pack = builder.finish().unwrap().with_frames([&frame]).unwrap();
            let registry = crate::Registry::from_pack(pack);
            let gpu = Devices {
                devices: vec![cuda("0000:3b:00.0"), Device::host()],
                alternates: vec![opencl("first", "0000:3b:00.0")],
                ..Devices::default()
            };
            let fits = |device: &&Device| registry.request("m").select(*device).is_ok();
            assert_eq!(gpu.in_order().into_iter().find(fits).unwrap().name(), "first");
        }
    }
}
