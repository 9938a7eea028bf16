//! `inspect`, `report --html`, `extract` and `verify` on every library of a package with images of three vendors.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Wheel};
use offload_tests::workspace::Workspace;

/// How many device images the libraries of the wheel have together, for NVIDIA, AMD and Intel, members of archives each.
const IMAGES: u64 = 392 + 218 + 38;

pub(super) fn check(workspace: &Workspace, _sets: &str) -> Result<ExitCode> {
    let folder = setup::ensure_wheel(workspace, Wheel::Bitsandbytes)?;
    workspace.cargo().args(["build", "--quiet", "--release", "--package", "cargo-offload"]).run()?;
    let program = workspace.target_dir.join("release/cargo-offload");
    let scratch = workspace.shell.create_temp_dir()?;
    let mut all = 0;
    for library in libraries(workspace, &folder)? {
        all += one((workspace, &program), &library, scratch.path())?;
    }
    println!("commands: {all} images listed, shown, extracted and verified");
    match all {
        IMAGES => Ok(ExitCode::SUCCESS),
        _ => Err(Error::new(format!("{all} images, and the libraries have {IMAGES}"))),
    }
}

fn libraries(workspace: &Workspace, folder: &Path) -> Result<Vec<PathBuf>> {
    // That for the CPU has no image.
    let mut libraries = workspace.shell.read_dir(folder)?;
    libraries.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".so") && !name.ends_with("_cpu.so")
    });
    libraries.sort();
    Ok(libraries)
}

/// Every command on one library; each has to find the same images. Returns how many.
fn one((workspace, program): (&Workspace, &Path), library: &Path, scratch: &Path) -> Result<u64> {
    let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let inspected = count(&run_json((workspace, program), library, "inspect", &[])?, "image");
    let page = scratch.join("page.html");
    let directory = scratch.join(&name);
    let kernels =
        count(&run_json((workspace, program), library, "report", &["--html".as_ref(), &page])?, "kernel");
    let extracted = run_json((workspace, program), library, "extract", &["--output".as_ref(), &directory])?;
    let verified = run_json((workspace, program), library, "verify", &[])?;
    let verified_images = count(&verified, "verified");
    let containers = count(&verified, "container");
    let files = workspace.shell.read_dir(&directory)?.len() as u64;
    println!(
        "{name}: {inspected} images in {containers} containers, {kernels} kernels, page of {} bytes, {files} files",
        workspace.shell.read_binary_file(&page)?.len()
    );
    workspace.shell.remove_path(&directory)?;
    let same =
        [count(&extracted, "extracted"), verified_images, files].iter().all(|other| *other == inspected);
    if same && kernels > 0 && containers > 0 {
        Ok(inspected)
    } else {
        Err(Error::new(format!(
            "{name}: {inspected} images are listed, {} extracted, {verified_images} verified",
            count(&extracted, "extracted")
        )))
    }
}

/// The lines of JSON that a command prints about a library.
fn run_json(
    (workspace, program): (&Workspace, &Path),
    library: &Path,
    command: &str,
    options: &[&Path],
) -> Result<Vec<Value>> {
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    let cmd = workspace.shell.cmd(program).args(["offload", "--json", command]).arg(library);
    let printed = cmd.args(options).quiet().read()?;
    let objects = printed.lines().map(|line| {
        serde_json::from_str(line).map_err(|error| Error::new(format!("{name}: {command}: {error}")))
    });
    objects.collect()
}

fn count(objects: &[Value], reason: &str) -> u64 {
    objects.iter().filter(|object| object.get("reason").and_then(Value::as_str) == Some(reason)).count()
        as u64
}
