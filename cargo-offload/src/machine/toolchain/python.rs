//! Python packages with NVIDIA's assembler and math library.

use std::ffi::OsStr;
use std::path::Path;

use super::lock::LockedPackage;
use super::part::ToolchainPart;
use super::run;
use crate::error::{Error, IoContext, Result};
use crate::print::downloads::Downloads;
use crate::print::output::Output;

/// Directory of Python packages, in the layout of a virtual environment.
const SITE: &str = "lib/python3/site-packages";

/// The packages to download, if pip is installed.
pub(super) fn packages_to_fetch(output: &Output) -> Result<Vec<LockedPackage>> {
    let pip = run::output("python3", &["-m", "pip", "--version"], Path::new("/"));
    if pip.is_err() {
        output.status("skipping NVIDIA's ptxas: python3 has no pip");
        return Ok(Vec::new());
    }
    Ok(ToolchainPart::packages(&[ToolchainPart::Ptxas]))
}

/// Downloads wheels; no code of a package runs.
pub(super) fn download(output: &Output, entries: &[&LockedPackage], directory: &Path) -> Result<()> {
    let total: u64 = entries.iter().filter_map(|entry| size(entry)).sum();
    let bar = Downloads::new(output, total);
    for entry in entries {
        bar.next(&format!("{} {}", entry.name, entry.version), size(entry));
        let exact = format!("{}=={}", entry.name, entry.version);
        let args = [
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            ".",
            &exact,
        ];
        run::output("python3", &args, directory)?;
    }
    Ok(())
}

/// Bytes of a package's file, if it is of a release that is known.
fn size(entry: &LockedPackage) -> Option<u64> {
    let mut wheels = ToolchainPart::ALL.into_iter().flat_map(|part| part.wheels());
    wheels.find(|wheel| wheel.name == entry.name && wheel.version == entry.version).map(|wheel| wheel.size)
}

/// `entries` with the names of the files that pip has chosen.
pub(super) fn add_file_names(entries: Vec<LockedPackage>, directory: &Path) -> Result<Vec<LockedPackage>> {
    let files = std::fs::read_dir(directory).io_context("list", directory)?;
    let files: Vec<String> = files.flatten().filter_map(|file| file.file_name().into_string().ok()).collect();
    entries
        .into_iter()
        .map(|mut entry| {
            let start = format!("{}-{}-", entry.name.replace('-', "_"), entry.version);
            let file = files.iter().find(|file| file.starts_with(&start) && file.ends_with(".whl"));
            entry.file =
                file.cloned().ok_or_else(|| Error::check(format!("pip did not download {start}*.whl")))?;
            Ok(entry)
        })
        .collect()
}

/// Unpacks a wheel into `new`.
pub(super) fn unpack(file: &Path, new: &Path) -> Result<()> {
    let site = new.join(SITE);
    let fixed = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--target"];
    let args = fixed.map(OsStr::new).into_iter().chain([site.as_os_str(), file.as_os_str()]);
    run::output("python3", &args.collect::<Vec<_>>(), Path::new("/")).map(drop)
}
