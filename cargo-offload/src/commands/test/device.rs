//! Device under test, and the sanitizer that observes it.

use std::fmt;
use std::path::PathBuf;

use offload_rt::test::TestDevice;
use serde::{Deserialize, Serialize};

/// A device in the table of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DeviceUnderTest {
    /// As `cuda:0` or `oclgrind`.
    pub(super) label: String,
    /// As `OFFLOAD_TEST_DEVICE` takes it.
    pub(super) device: String,
    /// As its driver calls it.
    pub(super) name: String,
    /// For people.
    pub(super) description: String,
    pub(super) watcher: Observer,
}

/// Tool that observes kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Observer {
    /// No tool: the device runs the kernels directly, with checks in the kernels on `host`.
    None,
    /// The device: a simulator, with the library that OpenCL's loader opens.
    Oclgrind(PathBuf),
    /// This program of NVIDIA's, which starts the test.
    ComputeSanitizer(PathBuf),
}

impl DeviceUnderTest {
    pub(super) fn new(device: &TestDevice, watcher: Observer) -> DeviceUnderTest {
        let watched =
            if let Observer::ComputeSanitizer(_) = watcher { ", under compute-sanitizer" } else { "" };
        DeviceUnderTest {
            label: device.label().to_string(),
            device: device.label().to_string(),
            name: device.device().name().to_string(),
            description: format!("{}{watched}", device.device()),
            watcher,
        }
    }

    /// Whether `name` means it, as [`TestDevice::is_named`] has it.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let mut all = offload_rt::test::devices().iter();
        match all.find(|device| device.label() == self.label) {
            Some(device) => device.is_named(name),
            None => name.eq_ignore_ascii_case(&self.label),
        }
    }
}

impl fmt::Display for DeviceUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.label, self.description)
    }
}
