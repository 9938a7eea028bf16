//! The devices of this machine, by the names that tests know them by.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use crate::variable;

use super::outcome::{DeviceOutcome, Outcome};
use crate::device::Device;
use crate::error::Error;

/// A device of this machine, and what it is called in `OFFLOAD_TEST_DEVICE`: the driver with a number, as `cuda:0`, or
/// `host`.
#[derive(Clone, Debug)]
pub struct TestDevice {
    label: String,
    device: Device,
}

impl TestDevice {
    /// As `cuda:0`.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The device itself.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether `name` means it: the label, the driver, as `cuda`, or a part of what the driver calls it, as `H200`; in
    /// upper or lower case.
    pub fn is_named(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let driver = self.label.split(':').next();
        self.label == name
            || driver == Some(name.as_str())
            || (!is_driver(&name) && self.device.to_string().to_lowercase().contains(&name))
    }

    pub(super) fn shown(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for TestDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.label, self.device)
    }
}

/// All backends, also those that this build does not have.
const DRIVERS: [&str; 4] = ["host", "opencl", "cuda", "hip"];

/// So that `cuda` and `cuda:7` mean no device by their name.
fn is_driver(name: &str) -> bool {
    DRIVERS.iter().any(|driver| name.split(':').next() == Some(driver))
}

/// All devices of this machine: the host CPU, then those of each driver, as far as this build has a feature for it.
pub fn devices() -> &'static [TestDevice] {
    // PoCL finds no device while another thread asks it, and tests run in several.
    static DEVICES: OnceLock<Vec<TestDevice>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let host = [TestDevice { label: "host".to_string(), device: Device::host() }];
        let found = backends().iter().flat_map(|(driver, devices)| {
            let devices = devices().unwrap_or_default().into_iter().enumerate();
            devices.map(move |(number, device)| TestDevice { label: format!("{driver}:{number}"), device })
        });
        host.into_iter().chain(found).collect()
    })
}

/// Of which driver, and how its devices are found.
type Backend = (&'static str, fn() -> Result<Vec<Device>, Error>);

fn backends() -> &'static [Backend] {
    &[
        #[cfg(feature = "opencl")]
        ("opencl", crate::opencl::devices),
        #[cfg(feature = "cuda")]
        ("cuda", crate::cuda::devices),
        #[cfg(feature = "hip")]
        ("hip", crate::hip::devices),
    ]
}

/// Those that this build can run kernels on.
pub(super) fn usable() -> impl Iterator<Item = &'static TestDevice> {
    let has_host = cfg!(all(feature = "host", any(unix, windows)));
    devices().iter().filter(move |device| has_host || device.label != "host")
}

/// The devices of a test run, and the names without a device.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) devices: Vec<&'static TestDevice>,
    pub(super) refused: Vec<DeviceOutcome>,
}

/// All devices, or those that the environment names.
pub(super) fn chosen() -> Chosen {
    match std::env::var(variable::TEST_DEVICE) {
        Ok(names) if !names.trim().is_empty() => named(&names),
        _ => Chosen { devices: usable().collect(), refused: Vec::new() },
    }
}

/// The devices that one of `names` means.
fn named(names: &str) -> Chosen {
    let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let lacking = names.iter().filter(|name| !usable().any(|device| device.is_named(name)));
    Chosen {
        devices: usable().filter(|device| names.iter().any(|name| device.is_named(name))).collect(),
        refused: lacking.map(|name| missing(name)).collect(),
    }
}

/// There is no device of that name.
fn missing(name: &str) -> DeviceOutcome {
    let driver = name.split(':').next().unwrap_or_default();
    let why = match backends().iter().find(|(name, _)| *name == driver).map(|(_, devices)| devices()) {
        _ if is_driver(driver) && !is_enabled(driver) => {
            format!("the program is built without the feature `{driver}` of offload-rt")
        }
        Some(Err(error)) => error.to_string(),
        _ => format!("there is no such device; there are {}", labels()),
    };
    let device = name.to_string();
    let outcome = Outcome::Refused(why);
    DeviceOutcome { label: name.to_string(), device, outcome, time: Duration::ZERO }
}

/// Whether this build has the backend `driver`.
fn is_enabled(driver: &str) -> bool {
    match driver {
        "host" => cfg!(all(feature = "host", any(unix, windows))),
        other => backends().iter().any(|(name, _)| *name == other),
    }
}

fn labels() -> String {
    usable().map(TestDevice::label).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(label: &str) -> TestDevice {
        TestDevice { label: label.to_string(), device: Device::host() }
    }

    #[test]
    fn names_are_drivers_labels_or_parts_of_descriptions() {
        let host = device("host");
        assert!(
            host.is_named("host")
                && host.is_named("Host")
                && host.is_named("cpu (x86") == cfg!(target_arch = "x86_64")
        );
        assert!(!host.is_named("cuda") && !host.is_named("opencl:0"));
        let cuda = device("cuda:1");
        assert!(cuda.is_named("cuda") && cuda.is_named("CUDA:1") && !cuda.is_named("cuda:0"));
        // The description says `host CPU`, but `host` is a driver.
        assert!(!cuda.is_named("host") && cuda.is_named("CPU"));
    }

    #[test]
    fn what_is_not_there_is_refused_with_a_reason() {
        let chosen = named("host, cuda:99,an unknown GPU");
        assert_eq!(chosen.devices.len(), usize::from(cfg!(all(feature = "host", any(unix, windows)))));
        let whys: Vec<_> = chosen.refused.iter().filter_map(|end| end.outcome.problem()).collect();
        let unknown = whys.last().unwrap();
        assert!(unknown.starts_with("there is no such device; there are "), "{whys:?}");
        if cfg!(not(feature = "cuda")) {
            assert!(
                whys.contains(&"the program is built without the feature `cuda` of offload-rt".to_string())
            );
        }
    }
}
