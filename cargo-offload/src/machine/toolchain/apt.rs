//! Packages of Debian and its derivatives, resolved and fetched by apt without root.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::lock::{LockedPackage, PackageKind};
use super::run;
use crate::error::{Error, IoContext, Result};
use crate::files::publish::create_dir;
use crate::print::output::Output;

/// Programs and libraries of bitcode, each under the names that releases have for it. What they depend on is for
/// compiling programs for the CPU, and stays away.
const TOOLS: [&[&str]; 9] = [
    &["clang-22"],
    &["libclang-common-22-dev"],
    &["llvm-22"],
    &["lld-22"],
    &["libclc-22"],
    &["libpocl2-common"],
    &["libpocl2", "libpocl2t64"],
    &["spirv-tools"],
    &["intel-ocloc", "intel-opencl-icd"],
];
/// Shared libraries of these, which come with all that they depend on.
const LIBRARIES: [&str; 6] =
    ["libclang-cpp22", "libllvm22", "libigdfcl1", "libigc1", "libigdfcl2", "libigc2"];
/// Packages of the base system, which every system with a C compiler has, and whose versions only fit that system.
const BASE: [&str; 7] =
    ["libc6", "libgcc-s1", "libstdc++6", "gcc-12-base", "gcc-14-base", "libcrypt1", "debconf"];

/// apt with lists of its own, so that an ordinary user may bring them up to date.
#[derive(Debug)]
pub(super) struct Apt<'a> {
    output: &'a Output,
    options: Vec<String>,
    work: PathBuf,
}

impl Apt<'_> {
    /// Brings the lists of packages up to date.
    pub(super) fn new<'a>(output: &'a Output, work: &Path) -> Result<Apt<'a>> {
        let state = work.join("apt");
        for dir in ["lists/partial", "cache/archives/partial"] {
            create_dir(&state.join(dir))?;
        }
        // As if nothing were installed: what has to be fetched does not depend on the machine.
        let status = state.join("status");
        std::fs::write(&status, "").io_context("write", &status)?;
        let named = [
            ("Dir::State::lists", state.join("lists")),
            ("Dir::State::status", status),
            ("Dir::Cache", state.join("cache")),
        ];
        let paths = named.map(|(name, path)| format!("{name}={}", path.display()));
        let fixed = ["Debug::NoLocking=1", "APT::Sandbox::User=root", "APT::Install-Recommends=0"];
        let options =
            paths.into_iter().chain(fixed.map(str::to_string)).flat_map(|value| ["-o".into(), value]);
        let apt = Apt { output, options: options.collect(), work: work.to_path_buf() };
        output.status("reading package lists");
        apt.run(&["update"], &[])?;
        Ok(apt)
    }

    /// The newest versions of everything.
    pub(super) fn newest_packages(&self) -> Result<Vec<LockedPackage>> {
        let mut lists = Vec::new();
        for names in TOOLS {
            let found = names.iter().find_map(|name| self.run(&["download", "--print-uris"], &[*name]).ok());
            match found {
                Some(listed) => lists.push(listed),
                None => {
                    let names = names.join(" or ");
                    self.output.status(&format!("skipping {names}: not in this distribution"));
                }
            }
        }
        for library in LIBRARIES {
            if let Ok(listed) = self.run(&["install", "--print-uris", "--yes"], &[library]) {
                lists.push(listed);
            }
        }
        let mut entries = BTreeMap::new();
        for entry in lists.iter().flat_map(|listed| listed.lines()).filter_map(entry) {
            if !BASE.contains(&entry.name.as_str()) {
                entries.insert(entry.name.clone(), entry);
            }
        }
        if !entries.contains_key("clang-22") {
            return Err(Error::usage("this distribution has no clang 22")
                .hint("on Debian, add the security updates to apt's sources; elsewhere, use a lock file written on Debian with --lock FILE"));
        }
        Ok(entries.into_values().collect())
    }

    /// Downloads exactly these, whose signatures apt checks.
    pub(super) fn download(&self, entries: &[&LockedPackage], directory: &Path) -> Result<()> {
        for entry in entries {
            self.output.status(&format!("fetching {} {}", entry.name, entry.version));
            let exact = format!("{}={}", entry.name, entry.version);
            let args: Vec<&str> =
                self.options.iter().map(String::as_str).chain(["download", &exact]).collect();
            run::output("apt-get", &args, directory).map_err(|error| {
                let text = format!("cannot fetch {exact}: {error}");
                Error::check(text)
                    .hint("distributions drop old versions; use --update to lock the newest ones")
            })?;
        }
        Ok(())
    }

    fn run(&self, verb: &[&str], packages: &[&str]) -> Result<String> {
        let args = self.options.iter().map(String::as_str).chain(verb.iter().chain(packages).copied());
        run::output("apt-get", &args.collect::<Vec<_>>(), &self.work)
    }
}

/// A line of `--print-uris`: `'ADDRESS' FILE SIZE HASH`, with `NAME_VERSION_ARCHITECTURE.deb` as the file.
fn entry(line: &str) -> Option<LockedPackage> {
    let (url, rest) = line.strip_prefix('\'')?.split_once("' ")?;
    let file = rest.split(' ').next()?;
    let mut parts = file.strip_suffix(".deb")?.split('_');
    let name = parts.next()?;
    let version = parts.next()?;
    Some(LockedPackage {
        source: PackageKind::Distribution,
        name: name.to_string(),
        // A colon cannot be in every file's name.
        version: version.replace("%3a", ":"),
        file: file.to_string(),
        url: Some(url.to_string()),
        sha256: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apt_s_lines_name_packages() {
        let line = "'http://deb.example.org/pool/clang-22_22.1.8-1%7edeb12u1_amd64.deb' clang-22_1%3a22.1.8-1~deb12u1_amd64.deb 173508 SHA256:b6";
        let found = entry(line).unwrap();
        assert_eq!((found.name.as_str(), found.version.as_str()), ("clang-22", "1:22.1.8-1~deb12u1"));
        assert_eq!(found.file, "clang-22_1%3a22.1.8-1~deb12u1_amd64.deb");
        assert!(found.url.unwrap().ends_with("/pool/clang-22_22.1.8-1%7edeb12u1_amd64.deb"));
        for line in
            ["Reading package lists...", "", "'http://x/y.tar.gz' y.tar.gz 1", "After this operation, 0 B"]
        {
            assert_eq!(entry(line), None, "{line}");
        }
    }
}
