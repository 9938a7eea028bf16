//! The devices that bundles are for, and choosing forms for each.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use offload_containers::syclbin::File;

use super::rules::{self, Form, Rules, Unfit};
use super::source::Source;
use super::state::{Bundle, BundleState};
use super::traits::Traits;
use crate::device::{Device, DeviceKind};
use crate::error::Error;
use crate::opencl::Online;

/// Devices that bundles are made for, and the rules by which that is done. Clones are the same context.
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    rules: Rules,
    devices: Vec<OnDevice>,
}

/// A device of a context.
#[derive(Debug)]
pub struct OnDevice {
    pub(super) rules: Rules,
    pub(super) traits: Traits,
    pub(super) online: Arc<Online>,
}

/// A module that a bundle goes without on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The device's name.
    pub device: String,
    /// The index of the module in its file.
    pub module: usize,
    /// Why no form of it fits.
    pub reason: String,
}

/// A form that was chosen.
#[derive(Clone, Copy, Debug)]
pub struct Picked {
    pub(super) module: usize,
    pub(super) form: Form,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module {} is left out for {}: {}", self.module, self.device, self.reason)
    }
}

impl Context {
    /// A context of OpenCL devices, from [`opencl::devices`](crate::opencl::devices).
    ///
    /// # Errors
    /// There is no device, one is not of OpenCL, or a driver refuses.
    pub fn new(devices: &[Device], rules: Rules) -> Result<Context, Error> {
        if devices.is_empty() {
            return Err(Error::device("context of bundles", "it has no device"));
        }
        let devices = devices.iter().map(|device| OnDevice::new(device, rules)).collect::<Result<_, _>>()?;
        Ok(Context { inner: Arc::new(Inner { rules, devices }) })
    }

    /// Makes a bundle of the SYCLBIN in `bytes`, which has to be in the state that is asked for.
    ///
    /// # Errors
    /// The bytes are malformed or of another state; the rules refuse a module, or a driver the form that was chosen:
    /// no other one is tried.
    pub fn open<S: BundleState>(&self, bytes: Vec<u8>) -> Result<Bundle<S>, Error> {
        Bundle::load(self, Source::of_bytes(bytes))
    }

    /// Makes a bundle of a SYCLBIN file.
    ///
    /// # Errors
    /// The file cannot be read, and as [`Context::open`].
    pub fn open_file<S: BundleState>(&self, path: impl AsRef<Path>) -> Result<Bundle<S>, Error> {
        Bundle::load(self, Source::of_file(path.as_ref())?)
    }

    /// The rules by which forms are chosen and linked.
    pub fn rules(&self) -> Rules {
        self.inner.rules
    }

    pub(super) fn devices(&self) -> &[OnDevice] {
        &self.inner.devices
    }

    /// The index of `device` among those of the context.
    pub(super) fn index_of(&self, device: &Device) -> Option<usize> {
        let DeviceKind::OpenCl(device) = device.kind() else { return None };
        self.inner.devices.iter().position(|on| on.online.is_of(device))
    }

    pub(super) fn is(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl OnDevice {
    fn new(device: &Device, rules: Rules) -> Result<OnDevice, Error> {
        let DeviceKind::OpenCl(device) = device.kind() else {
            return Err(Error::device(&device.description(), "takes no SYCLBIN: it is not an OpenCL device")
                .hint("take devices from offload_rt::opencl::devices()"));
        };
        let online = Online::new(device)?;
        Ok(OnDevice { rules, traits: online.traits(), online: Arc::new(online) })
    }

    /// The forms that the device takes, and what it goes without.
    pub(super) fn pick<S: BundleState>(
        &self,
        (source, file): (&Source, &File<'_>),
        skipped: &mut Vec<Skipped>,
    ) -> Result<Vec<Picked>, Error> {
        let mut picked = Vec::new();
        for (index, module) in file.modules.iter().enumerate() {
            match rules::choose(self.rules, module, S::STATE, &self.traits) {
                Ok(form) => picked.push(Picked { module: index, form }),
                Err(Unfit::Skipped(reason)) => {
                    skipped.push(Skipped { device: self.online.name(), module: index, reason });
                }
                Err(Unfit::Refused(reason)) => return Err(source.error(format!("module {index}: {reason}"))),
            }
        }
        Ok(picked)
    }
}
