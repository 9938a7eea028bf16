//! `--sanitize`: devices with a sanitizer, and the effect of its reports on the results.
//!
//! On `host`, the kernels are instrumented. OpenCL C runs in Oclgrind, a simulator, and on NVIDIA GPUs
//! compute-sanitizer starts the test, if they are installed. Both write a log, which is parsed into [`Report`]s.

mod compute_sanitizer;
mod compute_sanitizer_log;
mod find;
mod oclgrind;
mod oclgrind_log;
mod report;

use std::path::Path;
use std::time::Duration;

pub(super) use self::find::MissingSanitizer;
use self::find::Sanitizers;
use super::device::{DeviceUnderTest, Observer};
use super::process::{self, Proof, Run, TestRun};
use crate::cli;
use crate::error::{Error, Result};

/// The devices with a sanitizer, and the sanitizers that are not installed.
pub(super) fn places(
    args: &cli::TestDevices,
    directory: &Path,
) -> Result<(Vec<DeviceUnderTest>, Vec<MissingSanitizer>)> {
    let Sanitizers { places, lacking } = find::all(directory)?;
    let requested: Vec<&String> = args.device.iter().chain(&args.require).collect();
    for name in &requested {
        if !places.iter().any(|place| place.is_named(name)) {
            return Err(not_watched(name, &lacking, args));
        }
    }
    let mut selected = places;
    if !args.device.is_empty() {
        selected.retain(|place| requested.iter().any(|name| place.is_named(name)));
    }
    Ok((selected, lacking))
}

/// No sanitizer supports the requested device.
fn not_watched(name: &str, lacking: &[MissingSanitizer], devices: &cli::TestDevices) -> Error {
    let is_required = devices.require.iter().any(|required| required == name);
    let error = if is_required { Error::check } else { Error::usage };
    let driver = name.to_lowercase();
    let driver = driver.split(':').next().unwrap_or_default();
    match lacking.iter().find(|lacking| lacking.device == driver) {
        Some(lacking) => {
            error(format!("--sanitize cannot look at `{name}`: {}", lacking.why)).hint(&lacking.hint)
        }
        None => {
            let text = format!("--sanitize supports `host`, `oclgrind` and `cuda`, not `{name}`");
            error(text).hint("run the tests on that device without --sanitize")
        }
    }
}

/// A test of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test<'a> {
    pub(super) program: &'a Path,
    pub(super) args: &'a [std::ffi::OsString],
    pub(super) proof: Proof,
    /// For ever if it is 0.
    pub(super) timeout: Duration,
}

/// Runs a test to its end, under the sanitizer of its device.
pub(super) fn run(place: &DeviceUnderTest, test: Test<'_>) -> Result<TestRun> {
    let Test { program, args, proof, timeout } = test;
    let plain = Run { program, args, env: &[], device: &place.device, proof, timeout };
    match &place.watcher {
        Observer::None => process::run(&plain),
        Observer::Oclgrind(library) => oclgrind::run(library, plain),
        Observer::ComputeSanitizer(tool) => compute_sanitizer::run(tool, plain),
    }
}
