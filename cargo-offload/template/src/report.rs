//! What the program prints.

use offload_rt::{Device, Entry, Error, Selection};

use crate::workload::KernelResult;

/// Every image that the program carries.
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

/// The devices found, and why there is no OpenCL if there is none.
pub fn devices(devices: &[Device], missing: Option<&Error>) {
    println!("\ndevices");
    for device in devices {
        println!("  {device}");
    }
    if let Some(error) = missing {
        println!("  no OpenCL: {}", error.to_string().replace('\n', "\n    "));
    }
}

/// Which image was picked, and why the others were not.
pub fn selection(selection: &Selection) {
    for verdict in selection.verdicts() {
        println!("  {:<14} {}", place(verdict.entry()), verdict.outcome());
    }
}

/// The target, and which part of the module it is if there are several.
fn place(entry: &Entry) -> String {
    match entry.part() {
        "" => entry.target_text().to_string(),
        part => format!("{} [{part}]", entry.target_text()),
    }
}

/// Each kernel's result; whether all are right.
pub fn results(results: &[KernelResult]) -> bool {
    for result in results {
        let verdict = if result.right { "right" } else { "WRONG" };
        println!("  {:<14} {verdict}  {:>9.3} ms", result.kernel, result.time.as_secs_f64() * 1000.0);
    }
    results.iter().all(|result| result.right)
}
