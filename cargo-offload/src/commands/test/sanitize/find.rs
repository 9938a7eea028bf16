//! Which devices can be watched on this machine.

use std::path::{Path, PathBuf};

use offload_build::shared::toolchain::{Component, Toolchain};
use offload_rt::test::TestDevice;
use serde::Serialize;

use super::oclgrind;
use crate::commands::test::place::{Place, Watcher};
use crate::error::{Error, Result};

/// What there is.
pub(super) struct Found {
    pub(super) places: Vec<Place>,
    pub(super) lacking: Vec<Lacking>,
}

/// What might watch kernels, and is not there.
#[derive(Clone, Debug, Serialize)]
pub(in crate::commands::test) struct Lacking {
    /// As `--device` calls it.
    pub(super) device: &'static str,
    pub(super) tool: &'static str,
    pub(super) why: String,
    /// Which package has it.
    pub(super) hint: String,
}

impl Lacking {
    /// A line for people.
    pub(in crate::commands::test) fn text(&self) -> String {
        format!("not used: {}, because {} ({})", self.tool, self.why, self.hint)
    }
}

/// All of them, for a package in `directory`.
pub(super) fn all(directory: &Path) -> Result<Found> {
    let toolchain = Toolchain::for_directory(directory).map_err(Error::from_build)?;
    let mut found = Found { places: Vec::new(), lacking: Vec::new() };
    let of = |driver: &str| {
        let is_of = move |device: &&TestDevice| device.label().split(':').next() == Some(driver);
        offload_rt::test::devices().iter().filter(is_of).collect::<Vec<_>>()
    };
    found.places.extend(of("host").into_iter().map(|device| Place::of(device, Watcher::None)));
    match oclgrind_place(&toolchain) {
        Ok(place) => found.places.push(place),
        Err(lacking) => found.lacking.push(lacking),
    }
    match compute_sanitizer(&toolchain, &of("cuda")) {
        Ok(tool) => {
            let place = |device| Place::of(device, Watcher::ComputeSanitizer(tool.clone()));
            found.places.extend(of("cuda").into_iter().map(place));
        }
        Err(lacking) => found.lacking.push(lacking),
    }
    Ok(found)
}

fn oclgrind_place(toolchain: &Toolchain) -> std::result::Result<Place, Lacking> {
    let lacking = |why: String, hint: &str| Lacking {
        device: oclgrind::LABEL,
        tool: "Oclgrind",
        why,
        hint: hint.to_string(),
    };
    let program = toolchain
        .find(Component::Oclgrind)
        .map_err(|error| lacking(first_line(error.message()), error.hint().unwrap_or_default()))?
        .path;
    let library = oclgrind::libraries(&program.canonicalize().unwrap_or(program.clone()));
    let library = library.into_iter().find(|library| library.is_file());
    library.map(oclgrind::place).ok_or_else(|| {
        let why = format!("`{}` has no library for OpenCL's loader beside it", program.display());
        lacking(why, "install Oclgrind with its ICD")
    })
}

fn compute_sanitizer(
    toolchain: &Toolchain,
    devices: &[&TestDevice],
) -> std::result::Result<PathBuf, Lacking> {
    let lacking =
        |why: String, hint: String| Lacking { device: "cuda", tool: "compute-sanitizer", why, hint };
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
