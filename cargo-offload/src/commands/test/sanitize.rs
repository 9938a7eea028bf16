//! `--sanitize`: the devices on which somebody watches what kernels do, and what to make of what they say.
//!
//! On `host` the kernels tell themselves. OpenCL C runs in Oclgrind, a simulator, and on NVIDIA GPUs compute-sanitizer
//! starts the test, where they are installed. Both write what they find to a file, which becomes [`Report`]s.

mod compute_sanitizer;
mod compute_sanitizer_log;
mod find;
mod oclgrind;
mod oclgrind_log;
mod report;

use std::path::Path;
use std::time::Duration;

use self::find::Found;
pub(super) use self::find::Lacking;
use super::place::{Place, Watcher};
use super::process::{self, Done, Proof, Run};
use crate::cli;
use crate::error::{Error, Result};

/// Where tests run with `--sanitize`, and what might watch them and is not there.
pub(super) fn places(args: &cli::TestDevices, directory: &Path) -> Result<(Vec<Place>, Vec<Lacking>)> {
    let Found { places, lacking } = find::all(directory)?;
    let asked = || args.device.iter().chain(&args.require);
    if let Some(name) = asked().find(|name| !places.iter().any(|place| place.is_named(name))) {
        return Err(not_watched(name, &lacking, args));
    }
    let is_asked = |place: &Place| args.device.is_empty() || asked().any(|name| place.is_named(name));
    Ok((places.into_iter().filter(is_asked).collect(), lacking))
}

/// Nobody watches the device that is asked for.
fn not_watched(name: &str, lacking: &[Lacking], devices: &cli::TestDevices) -> Error {
    let is_required = devices.require.iter().any(|required| required == name);
    let error = if is_required { Error::check } else { Error::usage };
    let driver = name.to_lowercase();
    let driver = driver.split(':').next().unwrap_or_default();
    match lacking.iter().find(|lacking| lacking.device == driver) {
        Some(lacking) => {
            error(format!("--sanitize cannot look at `{name}`: {}", lacking.why)).hint(&lacking.hint)
        }
        None => {
            let text = format!("--sanitize looks at `host`, `oclgrind` and `cuda`, not at `{name}`");
            error(text).hint("run the tests there without --sanitize too")
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

/// Runs a test to its end, with whoever watches it.
pub(super) fn run(place: &Place, test: Test<'_>) -> Result<Done> {
    let Test { program, args, proof, timeout } = test;
    let plain = Run { program, args, env: &[], device: &place.device, proof, timeout };
    match &place.watcher {
        Watcher::None => process::run(&plain),
        Watcher::Oclgrind(library) => oclgrind::run(library, plain),
        Watcher::ComputeSanitizer(tool) => compute_sanitizer::run(tool, plain),
    }
}
