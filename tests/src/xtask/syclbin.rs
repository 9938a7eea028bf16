//! `syclbin`: SYCLBIN files of the example's kernels in every state, loaded and run by Intel's SYCL runtime.

use std::path::Path;
use std::process::ExitCode;

use xshell::Cmd;

use crate::error::{Error, Result};
use crate::setup::{self, Runtime};
use crate::workspace::Workspace;

pub(crate) const HELP: &str =
    "syclbin         export example-app's kernels as SYCLBIN in every state and run them with Intel's SYCL runtime

The same file with damaged code must be refused, so that a run that never touched the file cannot pass.";

/// The module of example-app that holds `saxpy`.
const MODULE: &str = "demo";

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD, setup::SYCL])?;
    let intel = setup::ensure_intel(workspace, Runtime::Sycl)?;
    let dir = workspace.shell.create_dir(workspace.target_dir.join("syclbin"))?;
    let host = compile_host(workspace, &intel, &dir.join("host"))?;
    workspace.cargo().args(["build", "--release", "--package", "example-app"]).run()?;
    for state in ["input", "object", "executable"] {
        let file = export(workspace, &dir.join(format!("{state}.syclbin")), state)?;
        on_runtime(workspace.shell.cmd(&host).arg(&file).arg(state), &intel).run()?;
        refused_when_damaged(workspace, (&intel, &host), (&file, state))?;
    }
    println!("syclbin: ok");
    Ok(ExitCode::SUCCESS)
}

fn compile_host(workspace: &Workspace, intel: &Path, host: &Path) -> Result<std::path::PathBuf> {
    let compiler =
        workspace.shell.cmd("g++").args(["-std=c++17", "-O1", "-isystem"]).arg(intel.join("include"));
    let compiler = compiler.arg("tests/sycl/host.cpp").arg("-o").arg(host).arg("-L").arg(intel.join("lib"));
    compiler.args(["-lsycl", "-Wl,--allow-shlib-undefined"]).run()?;
    Ok(host.to_path_buf())
}

fn export(workspace: &Workspace, file: &Path, state: &str) -> Result<std::path::PathBuf> {
    let program = workspace.target_dir.join("release/example-app");
    let tool =
        workspace.cargo().args(["run", "--quiet", "--package", "cargo-offload", "--", "offload", "export"]);
    tool.args(["--format", "syclbin", "--state", state, "--module", MODULE, "-o"])
        .arg(file)
        .arg(program)
        .run()?;
    Ok(file.to_path_buf())
}

/// Runs a program on Intel's CPU device, with every other OpenCL driver hidden.
fn on_runtime<'a>(cmd: Cmd<'a>, intel: &Path) -> Cmd<'a> {
    let lib = intel.join("lib");
    cmd.env("OCL_ICD_FILENAMES", lib.join("libintelocl.so"))
        .env("LD_LIBRARY_PATH", lib)
        .env("OCL_ICD_VENDORS", "/nonexistent")
        .env("ONEAPI_DEVICE_SELECTOR", "opencl:cpu")
}

fn refused_when_damaged(
    workspace: &Workspace,
    (intel, host): (&Path, &Path),
    (file, state): (&Path, &str),
) -> Result<()> {
    let mut bytes = workspace.shell.read_binary_file(file)?;
    let magic = 0x0723_0203_u32.to_le_bytes();
    let spirv = bytes.windows(4).position(|window| window == magic);
    let spirv = spirv.ok_or_else(|| Error::new(format!("{} holds no SPIR-V", file.display())))?;
    if let Some(word) = bytes.get_mut(spirv..spirv.saturating_add(4)) {
        word.fill(0);
    }
    let damaged = file.with_extension("damaged.syclbin");
    workspace.shell.write_file(&damaged, bytes)?;
    match on_runtime(workspace.shell.cmd(host).arg(&damaged).arg(state), intel).ignore_stderr().run() {
        Ok(()) => Err(Error::new("the SYCL runtime ran a damaged file: the test proves nothing")),
        Err(_) => Ok(()),
    }
}
