//! A device of this machine: what it accepts, and the driver that opens images on it.

#[cfg(any(feature = "opencl", feature = "cuda"))]
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use offload_format::pack::KernelInfo;

use crate::description::DeviceDescription;
use crate::entry::{Entry, LoadedImage};
use crate::error::Error;
use crate::launch::{Arg, Driver, NdRange, Program, find};
use crate::select::Selection;

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
    driver: Arc<dyn Driver>,
}

impl Device {
    /// The CPU that runs this program, with the level of x86-64 that it has.
    pub fn host() -> Device {
        #[cfg(all(feature = "host", unix))]
        let driver = Arc::new(crate::host::Host);
        #[cfg(not(all(feature = "host", unix)))]
        let driver = Arc::new(LeftOut);
        Device { description: DeviceDescription::host(), driver }
    }

    /// The device of `description`, which `driver` has found.
    #[cfg(any(feature = "opencl", feature = "cuda"))]
    pub(crate) fn found(description: impl Into<DeviceDescription>, driver: impl Driver) -> Device {
        Device { description: description.into(), driver: Arc::new(driver) }
    }

    /// The driver, if it is of this type.
    #[cfg(any(feature = "opencl", feature = "cuda"))]
    pub(crate) fn driver<D: Driver>(&self) -> Option<&D> {
        let driver: &dyn Any = &*self.driver;
        driver.downcast_ref()
    }

    /// The name, as the driver gives it.
    pub fn name(&self) -> &str {
        self.description.name()
    }

    /// What the device is and which images it takes. Its text is that of [`Display`](fmt::Display) of the device too.
    pub fn description(&self) -> &DeviceDescription {
        &self.description
    }

    /// Makes one program of all images of `selection`.
    ///
    /// A selection of one image is opened now. Of several, each is loaded and opened when one of its kernels is used for
    /// the first time, so that parts of a split module that are not used cost nothing.
    ///
    /// # Errors
    /// As [`Entry::load`] and [`Device::open`], if there is one image.
    pub fn open_selection(&self, selection: &Selection) -> Result<Box<dyn Program>, Error> {
        Ok(Box::new(SelectedProgram::new(self, selection)?))
    }

    /// Hands `image` to the device's driver.
    ///
    /// # Errors
    /// The driver refuses the image (the message holds its build log), or the crate feature for the device is not
    /// enabled.
    pub fn open(&self, image: &LoadedImage) -> Result<Box<dyn Program>, Error> {
        self.driver.open(image)
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

/// The CPU in a program without the feature for it.
#[cfg(not(all(feature = "host", unix)))]
#[derive(Debug)]
struct LeftOut;

#[cfg(not(all(feature = "host", unix)))]
impl Driver for LeftOut {
    fn open(&self, image: &LoadedImage) -> Result<Box<dyn Program>, Error> {
        let problem = format!("cannot open {}: this build has no support for it", image.entry());
        Err(Error::device("host CPU", problem).with_hint("enable the feature `host` of the crate offload-rt"))
    }
}

/// The images of a selection as one program, each opened when one of its kernels is used.
#[derive(Debug)]
struct SelectedProgram {
    device: Device,
    selection: Selection,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    entry: Entry,
    opened: OnceLock<Result<Box<dyn Program>, Error>>,
}

impl SelectedProgram {
    /// A program of one image is opened now: there is nothing to save by waiting, and its errors come early.
    fn new(device: &Device, selection: &Selection) -> Result<SelectedProgram, Error> {
        let part = |entry: &Entry| Part { entry: entry.clone(), opened: OnceLock::new() };
        let parts: Vec<Part> = selection.entries().iter().map(part).collect();
        if let [only] = parts.as_slice() {
            only.open(device)?;
        }
        Ok(SelectedProgram { device: device.clone(), selection: selection.clone(), parts })
    }

    /// The opened image that has `kernel`.
    fn program_of(&self, kernel: &str) -> Result<&dyn Program, Error> {
        let part = self.selection.index_for(kernel).and_then(|index| self.parts.get(index));
        match part {
            Some(part) => part.open(&self.device),
            None => Err(self.selection.without(kernel)),
        }
    }
}

impl Part {
    fn open(&self, device: &Device) -> Result<&dyn Program, Error> {
        let opened = self.opened.get_or_init(|| device.open(&self.entry.load()?));
        opened.as_deref().map_err(Clone::clone)
    }
}

impl Program for SelectedProgram {
    fn kernels(&self) -> &[KernelInfo] {
        match self.parts.as_slice() {
            [only] => only.open(&self.device).map_or(self.selection.kernels(), Program::kernels),
            _ => self.selection.kernels(),
        }
    }

    fn kernel(&self, name: &str) -> Result<&KernelInfo, Error> {
        find(self.program_of(name)?.kernels(), name)
    }

    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    unsafe fn launch(&self, kernel: &str, range: &NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.program_of(kernel)?.launch(kernel, range, args) }
    }

    /// Each image has variables of its own: those of all images that have `name` are written.
    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut outcome = None;
        for part in &self.parts {
            let written = part.open(&self.device)?.write_global(name, bytes);
            outcome = match (outcome, written) {
                (Some(Ok(())), _) | (_, Ok(())) => Some(Ok(())),
                (Some(first), _) => Some(first),
                (None, failed) => Some(failed),
            };
        }
        outcome.unwrap_or(Ok(()))
    }
}
