//! Detection of the sanitizers on this machine.

use std::path::{Path, PathBuf};

use offload_build::shared::toolchain::{Component, Toolchain};
use offload_rt::test::TestDevice;
use serde::Serialize;

use super::oclgrind;
use crate::commands::test::device::{DeviceUnderTest, Observer};
use crate::error::{Error, Result};

/// Sanitizers on this machine.
pub(super) struct Sanitizers {
    pub(super) places: Vec<DeviceUnderTest>,
    pub(super) lacking: Vec<MissingSanitizer>,
}

/// Sanitizer that is not available.
#[derive(Clone, Debug, Serialize)]
pub(in crate::commands::test) struct MissingSanitizer {
    /// As `--device` calls it.
    pub(super) device: &'static str,
    pub(super) tool: &'static str,
    pub(super) why: String,
    /// Command or package that installs it.
    pub(super) hint: String,
}

impl MissingSanitizer {
    /// A line for people.
    pub(in crate::commands::test) fn text(&self) -> String {
        format!("skipped {}: {} ({})", self.tool, self.why, self.hint)
    }
}

/// All of them, for a package in `directory`.
pub(super) fn all(directory: &Path) -> Result<Sanitizers> {
    let toolchain = Toolchain::for_directory(directory).map_err(Error::from_build)?;
    let mut found = Sanitizers { places: Vec::new(), lacking: Vec::new() };
    found
        .places
        .extend(devices_of("host").into_iter().map(|device| DeviceUnderTest::new(device, Observer::None)));
    match oclgrind_place(&toolchain) {
        Ok(place) => found.places.push(place),
        Err(lacking) => found.lacking.push(lacking),
    }
    match compute_sanitizer(&toolchain, &devices_of("cuda")) {
        Ok(tool) => {
            found.places.extend(
                devices_of("cuda")
                    .into_iter()
                    .map(|device| DeviceUnderTest::new(device, Observer::ComputeSanitizer(tool.clone()))),
            );
        }
        Err(lacking) => found.lacking.push(lacking),
    }
    Ok(found)
}

fn oclgrind_place(toolchain: &Toolchain) -> std::result::Result<DeviceUnderTest, MissingSanitizer> {
    let program = toolchain
        .find(Component::Oclgrind)
        .map_err(|error| missing_oclgrind(first_line(error.message()), error.hint().unwrap_or_default()))?
        .path;
    let library = oclgrind::libraries(&program.canonicalize().unwrap_or(program.clone()));
    let library = library.into_iter().find(|library| library.is_file());
    library.map(oclgrind::place).ok_or_else(|| {
        let why = format!("`{}` has no library for OpenCL's loader beside it", program.display());
        missing_oclgrind(why, "install Oclgrind with its ICD")
    })
}

fn compute_sanitizer(
    toolchain: &Toolchain,
    devices: &[&TestDevice],
) -> std::result::Result<PathBuf, MissingSanitizer> {
    let lacking =
        |why: String, hint: String| MissingSanitizer { device: "cuda", tool: "compute-sanitizer", why, hint };
    let found = toolchain
        .find(Component::ComputeSanitizer)
        .map_err(|error| lacking(first_line(error.message()), error.hint().unwrap_or_default().to_string()));
    if devices.is_empty() {
        let hint = match &found {
            Ok(found) => format!("it is installed as `{}`", found.path.display()),
            Err(lacking) => lacking.hint.clone(),
        };
        return Err(lacking("there is no NVIDIA GPU".to_string(), hint));
    }
    found.map(|found| found.path)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

/// The devices of a driver.
fn devices_of(driver: &str) -> Vec<&'static TestDevice> {
    let mut devices = Vec::new();
    for device in offload_rt::test::devices() {
        if device.label().split(':').next() == Some(driver) {
            devices.push(device);
        }
    }
    devices
}

fn missing_oclgrind(why: String, hint: &str) -> MissingSanitizer {
    MissingSanitizer { device: oclgrind::LABEL, tool: "Oclgrind", why, hint: hint.to_string() }
}
