//! Installation of a whole toolchain: downloads are checked, and the directory appears when it is complete.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::lock::{LOCK_NAME, Lock, LockedPackage, PackageKind};
use super::part::ToolchainPart;
use super::staging::{self, Staging};
use super::system::{PackageManager, System};
use super::{apt, deb, fetch, python};
use crate::error::{Error, IoContext, Result};
use crate::files::publish::create_dir;
use crate::print::output::Output;

/// Paths and versions of an installation.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The folder in which build scripts look.
    pub(crate) folder: PathBuf,
    /// Lock file.
    pub(crate) lock: PathBuf,
    pub(crate) versions: Versions,
}

/// Choice of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// Those in the lock file, if there is one.
    Locked,
    /// The newest ones, for a new lock file.
    Newest,
}

/// Result of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstalledToolchain {
    pub(crate) packages: usize,
    /// Whether the folder was written: it is not where it holds what the lock file says.
    pub(crate) changed: bool,
}

/// Whether the lock file names parts of Python's alone, where apt has the rest: those were asked for until now, and the
/// rest is to come.
pub(crate) fn lacks_rest(lock: &Path) -> Result<bool> {
    if System::this().packages == PackageManager::Unsupported {
        return Ok(false);
    }
    Ok(Lock::read(lock)?
        .is_some_and(|lock| !lock.package.iter().any(|package| ToolchainPart::Llvm.has(package))))
}

/// Fetches, checks and unpacks; the folder appears whole.
pub(crate) fn install(output: &Output, plan: &Plan) -> Result<InstalledToolchain> {
    let system = System::this();
    let locked = match plan.versions {
        Versions::Locked => Lock::read(&plan.lock)?,
        Versions::Newest => None,
    };
    if let Some(lock) = locked.as_ref().filter(|lock| lock.is_that_of(&plan.folder)) {
        staging::remove_leftovers(&plan.folder);
        return Ok(InstalledToolchain { packages: lock.packages(), changed: false });
    }
    staging::create_parent(&plan.folder)?;
    check_directory(&plan.lock)?;
    Lock::check(&plan.lock)?;
    let work = Staging::beside(&plan.folder, |text| output.status(text))?;
    let (lock, fetched) = match locked {
        Some(lock) => {
            let entries = lock.checked_for(&system, &plan.lock)?;
            // apt has the packages of its own distribution alone.
            let packages = if lock.is_for(&system) { system.packages } else { PackageManager::Unsupported };
            let fetched = fetch_locked(output, &Packaged { entries, packages }, work.path())?;
            (lock, fetched)
        }
        None => {
            let fetched = fetch_newest(output, &Request { system: &system, lock: &plan.lock }, work.path())?;
            (Lock::new(&system, fetched.iter().map(|one| one.package.clone()).collect()), fetched)
        }
    };
    let new = work.path().join("toolchain");
    for FetchedPackage { package, file } in &fetched {
        output.status(&format!("unpacking {}", package.name));
        match package.source {
            PackageKind::Distribution => deb::unpack(file, &new)?,
            PackageKind::Python => python::unpack(file, &new)?,
        }
    }
    lock.write(&new.join(LOCK_NAME))?;
    work.put_in_place(&new, &plan.folder)?;
    lock.write(&plan.lock)?;
    Ok(InstalledToolchain { packages: lock.packages(), changed: true })
}

/// The lock file is written last, when everything was fetched: whether that can be is known before.
pub(super) fn check_directory(lock: &Path) -> Result<()> {
    let parent = lock.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if parent.is_dir() {
        return Ok(());
    }
    let text = format!("directory `{}` of the lock file does not exist", parent.display());
    Err(Error::usage(text).hint("create it first"))
}

/// A package, and the file that it was fetched into.
pub(super) struct FetchedPackage {
    pub(super) package: LockedPackage,
    pub(super) file: PathBuf,
}

/// Packages of a lock file, and the package manager for those of the distribution.
pub(super) struct Packaged {
    pub(super) entries: Vec<LockedPackage>,
    pub(super) packages: PackageManager,
}

/// For which system the newest packages are fetched, and the lock file that will name them.
struct Request<'a> {
    system: &'a System,
    lock: &'a Path,
}

/// Downloads what the lock file names, and compares hashes.
pub(super) fn fetch_locked(output: &Output, locked: &Packaged, work: &Path) -> Result<Vec<FetchedPackage>> {
    let Packaged { entries, packages } = locked;
    let downloads = downloads(work)?;
    let of =
        |source| -> Vec<&LockedPackage> { entries.iter().filter(|entry| entry.source == source).collect() };
    match packages {
        PackageManager::Apt => {
            apt::Apt::new(output, work)?.download(&of(PackageKind::Distribution), &downloads)?
        }
        PackageManager::Unsupported => fetch::download(output, &of(PackageKind::Distribution), &downloads)?,
    }
    python::download(output, &of(PackageKind::Python), &downloads)?;
    let mut fetched = Vec::new();
    for entry in entries {
        let file = downloads.join(&entry.file);
        let is = hash(&file)?;
        if is != entry.sha256 {
            let text =
                format!("`{}` has the hash {is}, but the lock file expects {}", entry.file, entry.sha256);
            return Err(Error::check(text).hint("use --update to install the newest versions"));
        }
        fetched.push(FetchedPackage { package: entry.clone(), file });
    }
    Ok(fetched)
}

fn fetch_newest(output: &Output, request: &Request<'_>, work: &Path) -> Result<Vec<FetchedPackage>> {
    if request.system.packages == PackageManager::Unsupported {
        let lock = request.lock.display();
        let text = format!("this system has no apt-get, and there is no lock file `{lock}`");
        return Err(Error::usage(text)
            .hint("use a lock file written on Debian, or install the tools as `cargo offload doctor` says"));
    }
    let downloads = downloads(work)?;
    let apt = apt::Apt::new(output, work)?;
    let mut entries = apt.newest_packages()?;
    apt.download(&entries.iter().collect::<Vec<_>>(), &downloads)?;
    let mut wheels = python::packages_to_fetch(output)?;
    for wheel in further_wheels(request.lock)? {
        if !wheels.iter().any(|other| other.name == wheel.name) {
            wheels.push(wheel);
        }
    }
    python::download(output, &wheels.iter().collect::<Vec<_>>(), &downloads)?;
    entries.extend(python::add_file_names(wheels, &downloads)?);
    add_hashes(entries, &downloads)
}

/// Parts that were added by name, which an update of the whole toolchain keeps.
fn further_wheels(lock: &Path) -> Result<Vec<LockedPackage>> {
    let old = Lock::read(lock)?.map(|lock| lock.package).unwrap_or_default();
    let mut named = vec![
        ToolchainPart::Nvcc,
        ToolchainPart::Nvdisasm,
        ToolchainPart::CudaHeaders,
        ToolchainPart::CudaHeaders12,
    ];
    named.retain(|part| part.is_in(&old));
    Ok(ToolchainPart::packages(&named))
}

/// The packages with the hashes of their files in `downloads`.
pub(super) fn add_hashes(entries: Vec<LockedPackage>, downloads: &Path) -> Result<Vec<FetchedPackage>> {
    entries
        .into_iter()
        .map(|mut entry| {
            let file = downloads.join(&entry.file);
            entry.sha256 = hash(&file)?;
            Ok(FetchedPackage { package: entry, file })
        })
        .collect()
}

pub(super) fn downloads(work: &Path) -> Result<PathBuf> {
    let dir = work.join("downloads");
    create_dir(&dir)?;
    Ok(dir)
}

/// The SHA-256 of a file, as text.
fn hash(path: &Path) -> Result<String> {
    let mut file = BufReader::with_capacity(64 << 10, fs::File::open(path).io_context("read", path)?);
    let mut hasher = Sha256::new();
    loop {
        let piece = file.fill_buf().io_context("read", path)?;
        let size = piece.len();
        if size == 0 {
            break;
        }
        hasher.update(piece);
        file.consume(size);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_sha256sum() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "abc").unwrap();
        assert_eq!(hash(&path).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
