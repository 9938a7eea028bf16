//! Tables of images, devices and results on the standard output.

use offload_rt::{Device, Entry, Error, Module, Selection};

use crate::workload::KernelResult;

/// Prints all images of the program.
pub fn images<'a>(entries: impl Iterator<Item = &'a Entry>) {
    println!("images          stored      raw  codec  hash");
    for entry in entries {
        let hash = entry.hash().to_string();
        println!(
            "{:<14} {:>7} {:>8}  {:<5}  {}",
            place(entry),
            entry.stored_size(),
            entry.raw_size(),
            entry.codec(),
            hash.get(..16).unwrap_or(&hash)
        );
    }
}

/// What the build left out, and why.
pub fn missing(kernels: &Module) -> String {
    let lines: Vec<String> = kernels.registry().missing().iter().map(ToString::to_string).collect();
    lines.join("; ")
}

/// Prints the devices, and the error of OpenCL if it is unavailable.
pub fn devices(devices: &[Device], missing: Option<&Error>) {
    println!("\ndevices");
    for device in devices {
        println!("  {device}");
    }
    if let Some(error) = missing {
        println!("  no OpenCL: {}", error.to_string().replace('\n', "\n    "));
    }
}

/// The selected image, and the reason for each refusal.
pub fn selection(selection: &Selection) {
    for candidate in selection.candidates() {
        println!("  {:<14} {}", place(candidate.entry()), candidate.outcome());
    }
}

/// The target, and the part of the module if it has several.
fn place(entry: &Entry) -> String {
    match entry.part() {
        "" => entry.target_text().to_string(),
        part => format!("{} [{part}]", entry.target_text()),
    }
}

/// Prints each kernel's result; returns whether all are right.
pub fn results(results: &[KernelResult]) -> bool {
    for result in results {
        let verdict = if result.right { "right" } else { "WRONG" };
        println!("  {:<14} {verdict}  {:>9.3} ms", result.kernel, result.time.as_secs_f64() * 1000.0);
    }
    results.iter().all(|result| result.right)
}
