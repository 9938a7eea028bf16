//! `vendor`: compiled images stored in a package, which then builds without kernel compilers.

mod build;
mod difference;
mod record;
mod sbom;

use std::collections::BTreeSet;
use std::path::Path;

use offload_files::TemporaryName;
use offload_format::provenance::DIRECTORY;
use serde::Serialize;

use self::build::Package;
use self::record::Record;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, IoContext, Result};
use crate::files::lock::DirectoryLock;
use crate::files::publish::{Staged, create_dir, publish, staged};
use crate::print::output::Output;
use crate::print::text::counted;

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    module: &'a str,
    file: &'a str,
    images: u64,
    /// Size of the pack in bytes.
    size: u64,
}

#[derive(Debug, Serialize)]
struct VendorCheck<'a> {
    reason: &'static str,
    module: &'a str,
    equal: bool,
    differences: &'a [String],
}

pub(super) fn run(output: &Output, args: &cli::Vendor) -> Result<ExitStatus> {
    let package = Package::find(&args.project)?;
    let vendored = package.root.join(DIRECTORY);
    let built = build::images(output, &package, args)?;
    let made = record::all(&built.dir)?;
    if made.is_empty() {
        let text = format!("the package `{}` compiles no kernels", package.name);
        return Err(Error::check(text).hint("call `offload_build::Build::compile` in its build.rs"));
    }
    let sbom = sbom(&package, args, &made)?;
    let status =
        if args.verify { verify(output, &vendored, &made)? } else { store(output, &vendored, &made)? };
    if let Some(sbom) = sbom {
        output.wrote(&sbom.appear()?.path)?;
    }
    Ok(status)
}

/// The bill of materials, before anything of the package changes: it may not be possible to write it.
fn sbom(package: &Package, args: &cli::Vendor, made: &[Record]) -> Result<Option<Staged>> {
    let Some(path) = &args.sbom else { return Ok(None) };
    let text = sbom::text(package, made)?;
    args.force.existing().check(path, text.as_bytes())?;
    staged(path, text.as_bytes()).map(Some)
}

/// Puts what was made in the place of what was there.
fn store(output: &Output, vendored: &Path, made: &[Record]) -> Result<ExitStatus> {
    create_dir(vendored)?;
    let lock = DirectoryLock::take(vendored, || {
        output.status(&format!("waiting for another process that writes to `{DIRECTORY}`"))
    })
    .io_context("lock", vendored)?;
    // Where nothing can be locked another process may still be at work.
    if lock.is_some() {
        remove_unfinished(vendored);
    }
    for record in made {
        let module = &record.provenance.module;
        let pack = format!("{DIRECTORY}/{module}.pack");
        publish(&vendored.join(format!("{module}.pack")), &record.pack)?;
        publish(&vendored.join(format!("{module}.toml")), record.text.as_bytes())?;
        let images = record.provenance.images.len() as u64;
        let size = record.pack.len() as u64;
        let text = format!("{pack}: {} in {size} bytes", counted(images, "image"));
        output.done(&Message { reason: "vendor", module, file: &pack, images, size }, &text)?;
    }
    remove_others(vendored, made)?;
    Ok(ExitStatus::Success)
}

/// Removes temporary files of an interrupted run, which would be published with the package.
fn remove_unfinished(vendored: &Path) {
    for path in std::fs::read_dir(vendored).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if TemporaryName::becomes(name).is_some() {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Modules that the package no longer has would be published for nothing.
fn remove_others(vendored: &Path, made: &[Record]) -> Result<()> {
    let names: BTreeSet<&str> = made.iter().map(|record| record.provenance.module.as_str()).collect();
    for record in record::all(vendored)? {
        let module = &record.provenance.module;
        if names.contains(module.as_str()) {
            continue;
        }
        for kind in ["toml", "pack"] {
            let path = vendored.join(format!("{module}.{kind}"));
            std::fs::remove_file(&path).io_context("remove", &path)?;
        }
    }
    Ok(())
}

/// Compares what is there with what was made just now.
fn verify(output: &Output, vendored: &Path, made: &[Record]) -> Result<ExitStatus> {
    let there = record::all(vendored)?;
    let mut status = ExitStatus::Success;
    for record in made {
        let module = record.provenance.module.as_str();
        let old = there.iter().find(|old| old.provenance.module == module);
        let differences = match old {
            Some(old) => difference::between(old, record)?,
            None => vec![format!("`{DIRECTORY}/{module}.toml` is missing")],
        };
        if !differences.is_empty() {
            status = ExitStatus::CheckFailed;
        }
        let images = record.provenance.images.len() as u64;
        let text = match differences.as_slice() {
            [] => format!("{module}: {}, up to date with the sources", counted(images, "image")),
            some => format!("{module}: differs from the sources\n  {}", some.join("\n  ")),
        };
        let equal = differences.is_empty();
        let verdict = VendorCheck { reason: "vendor-verify", module, equal, differences: &differences };
        if equal { output.done(&verdict, &text)? } else { output.message(&verdict, &text)? }
    }
    Ok(status)
}
