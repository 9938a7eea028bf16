//! Runs four kernels on every device of this machine and compares the results with plain Rust.
//!
//! `example-app [NAME]` uses only the devices whose description contains NAME. The exit code is 0 if every result is
//! right, 1 if one is wrong or a device fails, 2 if there is no device, and 3 if the program has no images.

mod report;
#[cfg(test)]
mod tests;
mod workload;

use std::process::ExitCode;

use offload_rt::{Device, Error, Module};

offload_rt::include_kernels!("demo");

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let (found, missing) = devices();
    let devices: Vec<_> = found.into_iter().filter(|device| device.to_string().contains(&wanted)).collect();
    let kernels = demo::module();
    report::images(kernels.entries());
    report::devices(&devices, missing.as_ref());
    if kernels.entries().next().is_none() {
        eprintln!("no images in this program: {}", report::missing(kernels));
        return ExitCode::from(3);
    }
    if devices.is_empty() {
        eprintln!(
            "no device to run on: looked for the CPU and for OpenCL devices whose description contains `{wanted}`"
        );
        return ExitCode::from(2);
    }
    // A failure on one device does not stop the others.
    let all_right = devices.iter().filter(|device| !run_on(device, kernels)).count() == 0;
    println!(
        "\n{}",
        if all_right { "all results are right" } else { "not every device gives right results" }
    );
    if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The devices of this machine, and the error of OpenCL if it has none.
fn devices() -> (Vec<Device>, Option<Error>) {
    (Device::all().devices, offload_rt::opencl::devices().err())
}

/// Selects and loads an image and runs its kernels; returns whether every result is right.
fn run_on(device: &Device, kernels: &Module) -> bool {
    println!("\n{device}");
    let outcome = kernels.request().select(device).and_then(|selection| {
        report::selection(&selection);
        workload::run_all(&demo::load(device)?)
    });
    match outcome {
        Ok(results) => report::results(&results),
        Err(error) => {
            println!("  {error}");
            false
        }
    }
}
