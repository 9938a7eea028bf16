//! The devices that bundles are for, and choosing forms for each.

use std::fmt;
use std::sync::Arc;

use offload_containers::syclbin::BundleState;

use crate::choose::{self, Form};
use crate::named_syclbin::NamedSyclbin;
use crate::rules::{Rules, Unfit};
use crate::traits::Traits;
use offload_rt::opencl::Compiler;
use offload_rt::{Device, Error};

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
    pub(super) compiler: Arc<Compiler>,
}

/// A module that a bundle goes without on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingModule {
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

impl fmt::Display for MissingModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module {} is left out for {}: {}", self.module, self.device, self.reason)
    }
}

impl Context {
    /// A context of OpenCL devices, from [`opencl::devices`](offload_rt::opencl::devices).
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

    /// The rules by which forms are chosen and linked.
    pub fn rules(&self) -> Rules {
        self.inner.rules
    }

    pub(super) fn devices(&self) -> &[OnDevice] {
        &self.inner.devices
    }

    /// The index of `device` among those of the context.
    pub(super) fn index_of(&self, device: &Device) -> Option<usize> {
        self.inner.devices.iter().position(|on| on.compiler.is_of(device))
    }

    pub(super) fn is(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl OnDevice {
    fn new(device: &Device, rules: Rules) -> Result<OnDevice, Error> {
        let Some(description) = device.description().opencl() else {
            return Err(Error::device(&device.to_string(), "takes no SYCLBIN: it is not an OpenCL device")
                .with_hint("take devices from offload_rt::opencl::devices()"));
        };
        let compiler = Compiler::new(device)?;
        let traits = Traits::new(description, &compiler.properties());
        Ok(OnDevice { rules, traits, compiler: Arc::new(compiler) })
    }

    /// The forms that the device takes, and what it goes without.
    pub(super) fn pick(
        &self,
        source: &NamedSyclbin,
        state: BundleState,
        missing: &mut Vec<MissingModule>,
    ) -> Result<Vec<Picked>, Error> {
        let file = source.parse()?;
        let mut picked = Vec::new();
        for (index, module) in file.modules.iter().enumerate() {
            match choose::choose(self.rules, module, state, &self.traits) {
                Ok(form) => picked.push(Picked { module: index, form }),
                Err(Unfit::Missing(reason)) => {
                    missing.push(MissingModule { device: self.compiler.name(), module: index, reason });
                }
                Err(Unfit::Refused(reason)) => return Err(source.error(format!("module {index}: {reason}"))),
            }
        }
        Ok(picked)
    }
}
