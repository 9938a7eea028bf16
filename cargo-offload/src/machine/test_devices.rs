//! Devices that tests and benchmarks run on.

use offload_rt::test::TestDevice;

use crate::cli;
use crate::error::{Error, Result};

/// The devices that are asked for.
///
/// # Errors
/// One that is asked for, or required, is not there.
pub(crate) fn select_devices(args: &cli::TestDevices) -> Result<Vec<&'static TestDevice>> {
    let all = offload_rt::test::devices();
    let lacking =
        |names: &[String]| names.iter().find(|name| !all.iter().any(|device| device.is_named(name))).cloned();
    let labels = all.iter().map(TestDevice::label).collect::<Vec<_>>().join(", ");
    let hint = format!("available devices: {labels}");
    if let Some(name) = lacking(&args.require) {
        let problem = format!("required device `{name}` not found{}", reason(&name));
        return Err(Error::check(problem).hint(hint));
    }
    if let Some(name) = lacking(&args.device) {
        return Err(Error::usage(format!("device `{name}` not found{}", reason(&name))).hint(hint));
    }
    let is_named =
        |device: &&TestDevice| args.device.iter().chain(&args.require).any(|name| device.is_named(name));
    Ok(all.iter().filter(|device| args.device.is_empty() || is_named(device)).collect())
}

/// The reason why a driver has no device, if the name is that of a driver.
fn reason(name: &str) -> String {
    let devices = match name.to_lowercase().split(':').next() {
        Some("opencl") => offload_rt::opencl::devices(),
        Some("cuda") => offload_rt::cuda::devices(),
        Some("hip") => offload_rt::hip::devices(),
        _ => return String::new(),
    };
    devices.err().map(|error| format!(": {}", error.problem())).unwrap_or_default()
}
