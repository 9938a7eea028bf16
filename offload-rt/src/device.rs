//! A device of this machine: what it accepts, and the backend that opens images on it.

#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::backend::BackendDevice;
#[cfg(not(all(feature = "host", any(unix, windows))))]
use crate::backend::{BackendModule, BackendStream};
#[cfg(not(all(feature = "host", any(unix, windows))))]
use crate::cpu_properties;
use crate::description::DeviceDescription;
#[cfg(not(all(feature = "host", any(unix, windows))))]
use crate::entry::{Entry, LoadedImage};
use crate::error::Error;
#[cfg(not(all(feature = "host", any(unix, windows))))]
use crate::error::Problem;
use crate::properties::DeviceProperties;

/// A device of this machine, that kernels can be launched on.
///
/// Selecting takes a device or a [`DeviceDescription`] made by hand; opening takes a device alone.
///
/// ```
/// let host = offload_rt::Device::host();
/// assert_eq!(host.name(), "host CPU");
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    description: DeviceDescription,
    backend: Arc<dyn BackendDevice>,
}

impl Device {
    /// The CPU that runs this program, with the level of x86-64 that it has.
    pub fn host() -> Device {
        #[cfg(all(feature = "host", any(unix, windows)))]
        let backend = Arc::new(crate::host::Host::new());
        #[cfg(not(all(feature = "host", any(unix, windows))))]
        let backend = Arc::new(LeftOut);
        Device { description: DeviceDescription::host(), backend }
    }

    /// The device of `description`, which `backend` has found.
    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    pub(crate) fn from_backend(
        description: impl Into<DeviceDescription>,
        backend: impl BackendDevice,
    ) -> Device {
        Device { description: description.into(), backend: Arc::new(backend) }
    }

    pub(crate) fn backend(&self) -> &dyn BackendDevice {
        &*self.backend
    }

    /// The backend, if it is of this type.
    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    pub(crate) fn backend_as<D: BackendDevice>(&self) -> Option<&D> {
        let backend: &dyn Any = &*self.backend;
        backend.downcast_ref()
    }

    /// The name, as the backend gives it.
    pub fn name(&self) -> &str {
        self.description.name()
    }

    /// The properties of the device: its memory, units, limits, caches, address and driver.
    ///
    /// The free memory of a CUDA device takes its context, which the driver makes if nothing has used the device yet; that
    /// costs some hundred megabytes of its memory.
    ///
    /// ```
    /// let properties = offload_rt::Device::host().properties()?;
    /// # #[cfg(any(target_os = "linux", windows))]
    /// assert!(properties.compute_units.is_some_and(|units| units > 0) && properties.memory.is_some());
    /// // The CPU is no device of PCI.
    /// assert_eq!(properties.pci, None);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The driver does not answer at all. A property that it does not tell is no error.
    pub fn properties(&self) -> Result<DeviceProperties, Error> {
        let properties = self.backend.properties();
        let properties = properties.map_err(|problem| Error::from_device(&self.to_string(), problem))?;
        let identity = self.backend.identity();
        Ok(DeviceProperties {
            aspects: self.description.aspects(),
            pci: identity.pci,
            uuid: identity.uuid,
            ..properties
        })
    }

    /// The description: the kind of the device, and the images that it takes. Its text is that of [`Display`](fmt::Display) of the device too.
    pub fn description(&self) -> &DeviceDescription {
        &self.description
    }
}

impl AsRef<DeviceDescription> for Device {
    fn as_ref(&self) -> &DeviceDescription {
        &self.description
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.description.fmt(f)
    }
}

/// The CPU in a program without the feature for it, or on a system without images for it.
#[cfg(not(all(feature = "host", any(unix, windows))))]
#[derive(Debug)]
struct LeftOut;

#[cfg(not(all(feature = "host", any(unix, windows))))]
const HINT: &str = if cfg!(any(unix, windows)) {
    "enable the feature `host` of the crate offload-rt"
} else {
    "images for `host` run on Linux and Windows alone: take another device, as one of `offload_rt::opencl::devices()`"
};

#[cfg(not(all(feature = "host", any(unix, windows))))]
impl BackendDevice for LeftOut {
    fn properties(&self) -> Result<DeviceProperties, Problem> {
        Ok(cpu_properties::query())
    }

    fn load(&self, image: &LoadedImage, _: &[Entry]) -> Result<Arc<dyn BackendModule>, Error> {
        let problem = format!("cannot open {}: this build has no support for it", image.entry());
        Err(Error::device("host CPU", problem).with_hint(HINT))
    }

    fn stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
        let text = "cannot make a stream: this build has no support for it".to_string();
        Err(Problem { text, hint: Some(HINT.into()) })
    }
}
