//! Downloads by URL for systems without the package manager. The caller checks the hashes.

use std::path::Path;

use super::lock::LockedPackage;
use super::run;
use crate::error::{Error, Result};
use crate::print::output::Output;

/// Programs that fetch a file, with what they take before its name and its address. They know the system's proxies and
/// certificates.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("curl", &["--fail", "--silent", "--show-error", "--location", "--retry", "3", "--output"]),
    ("wget", &["--quiet", "--tries=3", "-O"]),
];

/// Downloads the files of `entries`.
pub(super) fn download(output: &Output, entries: &[&LockedPackage], directory: &Path) -> Result<()> {
    for entry in entries {
        output.status(&format!("fetching {} {}", entry.name, entry.version));
        let url = entry.url.as_deref().ok_or_else(|| no_address(&entry.name))?;
        let (program, options) = PROGRAMS
            .into_iter()
            .find(|(program, _)| run::which(program).is_some())
            .ok_or_else(|| Error::usage("neither curl nor wget is installed").hint("install one of them"))?;
        let args: Vec<&str> = options.iter().copied().chain([entry.file.as_str(), url]).collect();
        run::output(program, &args, directory).map_err(|error| {
            let text = format!("cannot fetch {}: {error}", entry.name);
            Error::check(text)
                .hint("mirrors drop old versions; update the lock file on the system that it is for")
        })?;
    }
    Ok(())
}

fn no_address(name: &str) -> Error {
    Error::usage(format!("the lock file has no URL for {name}"))
        .hint("update it with `cargo offload toolchain install --update` on the system that it is for")
}
