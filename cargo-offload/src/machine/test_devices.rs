//! The devices that tests and benchmarks are asked to run on.

use offload_rt::test::TestDevice;

use crate::cli;
use crate::error::{Error, Result};

/// The devices that are asked for.
///
/// # Errors
/// One that is asked for, or required, is not there.
pub(crate) fn chosen(args: &cli::TestDevices) -> Result<Vec<&'static TestDevice>> {
    let all = offload_rt::test::devices();
    let lacking =
        |names: &[String]| names.iter().find(|name| !all.iter().any(|device| device.is_named(name))).cloned();
    let labels = || all.iter().map(TestDevice::label).collect::<Vec<_>>().join(", ");
    let hint = || format!("there are {}", labels());
    if let Some(name) = lacking(&args.require) {
        let problem = format!("the required device `{name}` is not there{}", reason(&name));
        return Err(Error::check(problem).hint(hint()));
    }
    if let Some(name) = lacking(&args.device) {
        return Err(Error::usage(format!("there is no device `{name}`{}", reason(&name))).hint(hint()));
    }
    let is_named =
        |device: &&TestDevice| args.device.iter().chain(&args.require).any(|name| device.is_named(name));
    Ok(all.iter().filter(|device| args.device.is_empty() || is_named(device)).collect())
}

/// Why a driver has no device, if the device is named by its driver.
fn reason(name: &str) -> String {
    let devices = match name.to_lowercase().split(':').next() {
        Some("opencl") => offload_rt::opencl::devices(),
        Some("cuda") => offload_rt::cuda::devices(),
        Some("hip") => offload_rt::hip::devices(),
        _ => return String::new(),
    };
    devices.err().map(|error| format!(": {}", error.problem())).unwrap_or_default()
}
