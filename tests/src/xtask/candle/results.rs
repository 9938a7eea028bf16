//! The results of the kernels, compared with plain Rust by a fixture's program.

use std::process::ExitCode;

use offload_tests::CUDA_VAR;
use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Toolkit};
use offload_tests::workspace::{self, Workspace};

use super::sources;

const PROGRAM: &str = "offload-candle";
/// The variable with which the fixture's build script finds the sources.
pub(crate) const KERNELS_VAR: &str = "CANDLE_KERNELS";

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let kind = match args {
        [] => "host",
        [kind] => kind.as_str(),
        _ => return Err(Error::new("`candle results` takes one kind of device")),
    };
    let target = target(kind)?;
    setup::ensure(workspace, &[setup::BUILD])?;
    let kernels = sources(workspace)?;
    let package = workspace.target_dir.join("candle/results");
    let package = workspace.shell.create_dir(package)?;
    fixture::copy(workspace, "candle", &package)?;
    let _in = workspace.shell.push_dir(&package);
    let cargo = workspace.cargo().args(["run", "--release", "--bin", PROGRAM, "--", kind]);
    let cargo = cargo.env("OFFLOAD_CONFIG", package.join("offload.toml")).env("OFFLOAD_TARGETS", target);
    let cargo = cargo.env("CARGO_TARGET_DIR", workspace.target_dir.join("candle/results-target"));
    let mut cargo = cargo.env(KERNELS_VAR, kernels).env_remove("RUSTFLAGS");
    if kind == "cuda" {
        // For NVIDIA's library of mathematics.
        cargo = cargo.env(CUDA_VAR, setup::ensure_cuda(workspace, Toolkit::Ptxas)?);
    }
    Ok(workspace::exit_code(workspace::run_through(cargo)?))
}

/// The target that the kind of device needs: of the other, the code would take minutes, and not run.
fn target(kind: &str) -> Result<&'static str> {
    match kind {
        "host" => Ok("host"),
        "cuda" => Ok("nvptx:sm_80"),
        _ => {
            let error = Error::new(format!("no kind of device is called `{}`", kind.escape_debug()));
            Err(error.hint("the kinds are host and cuda"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_a_target() {
        assert_eq!(target("cuda").unwrap(), "nvptx:sm_80");
        let error = target("hots").unwrap_err().to_string();
        assert!(error.contains("`hots`"), "{error}");
    }
}
