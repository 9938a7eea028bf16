//! Packages of Python that hold tools of a vendor's: NVIDIA's assembler and its library of mathematics.

use std::ffi::OsStr;
use std::path::Path;

use super::lock::LockedPackage;
use super::part::Part;
use super::run;
use crate::error::{Error, Result};
use crate::print::downloads::Downloads;
use crate::print::output::Output;

/// Where packages lie in the folder: where a search for an environment's packages finds them.
const SITE: &str = "lib/python3/site-packages";

/// What is to be fetched, where there is a pip.
pub(super) fn wanted(output: &Output) -> Result<Vec<LockedPackage>> {
    let pip = run::output("python3", &["-m", "pip", "--version"], Path::new("/"));
    if pip.is_err() {
        output.status("python3 has no pip here: NVIDIA's ptxas is left out");
        return Ok(Vec::new());
    }
    Ok(Part::packages(&[Part::Ptxas]))
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
    let mut wheels = Part::ALL.into_iter().flat_map(|part| part.wheels());
    wheels.find(|wheel| wheel.name == entry.name && wheel.version == entry.version).map(|wheel| wheel.size)
}

/// `entries` with the names of the files that pip has chosen.
pub(super) fn named(entries: Vec<LockedPackage>, directory: &Path) -> Result<Vec<LockedPackage>> {
    let files = std::fs::read_dir(directory).map_err(|error| Error::io("list", directory, &error))?;
    let files: Vec<String> = files.flatten().filter_map(|file| file.file_name().into_string().ok()).collect();
    let named = |mut entry: LockedPackage| {
        let start = format!("{}-{}-", entry.name.replace('-', "_"), entry.version);
        let file = files.iter().find(|file| file.starts_with(&start) && file.ends_with(".whl"));
        entry.file = file.cloned().ok_or_else(|| Error::check(format!("pip has fetched no {start}*.whl")))?;
        Ok(entry)
    };
    entries.into_iter().map(named).collect()
}

/// Unpacks a wheel into `new`.
pub(super) fn unpack(file: &Path, new: &Path) -> Result<()> {
    let site = new.join(SITE);
    let fixed = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--target"];
    let args = fixed.map(OsStr::new).into_iter().chain([site.as_os_str(), file.as_os_str()]);
    run::output("python3", &args.collect::<Vec<_>>(), Path::new("/")).map(drop)
}
