//! The kernels by nvcc, and by clang with NVIDIA's headers and without, timed beside each other on an NVIDIA GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Toolkit};
use offload_tests::workspace::{self, Workspace};

use super::{KERNELS_VAR, sources};

const FIXTURE: &str = "candle-speed";
const PROGRAM: &str = "offload-candle-speed";
/// The script of the folder.
const SCRIPT: &str = include_str!("speed/run.sh");

#[derive(Debug, PartialEq, Eq)]
struct SpeedRequest {
    folder: Option<PathBuf>,
    run_here: bool,
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let request = parse(args)?;
    setup::ensure(workspace, &[setup::BUILD])?;
    let program = build(workspace)?;
    let folder = request.folder.unwrap_or_else(|| workspace.target_dir.join("gpu/candle-speed-folder"));
    workspace.shell.remove_path(&folder)?;
    workspace.shell.create_dir(&folder)?;
    workspace.shell.copy_file(&program, folder.join(PROGRAM))?;
    let script = folder.join("run.sh");
    workspace.shell.write_file(&script, SCRIPT)?;
    workspace.shell.cmd("chmod").args(["755"]).arg(&script).quiet().run()?;
    if request.run_here {
        let _in = workspace.shell.push_dir(&folder);
        return Ok(workspace::exit_code(workspace::run_through(workspace.shell.cmd("./run.sh"))?));
    }
    let bytes = fs::metadata(&program)?.len();
    println!(
        "copy {} ({bytes} bytes) to a machine with NVIDIA's driver, and run there: ./run.sh",
        folder.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// The program with the images of all three, by one assembler and with the headers of one toolkit.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let toolkit = setup::ensure_cuda(workspace, Toolkit::Nvcc)?;
    let kernels = sources(workspace)?;
    let package = workspace.shell.create_dir(workspace.target_dir.join("gpu").join(FIXTURE))?;
    fixture::copy(workspace, FIXTURE, &package)?;
    let target = workspace.target_dir.join("gpu/target");
    let _in = workspace.shell.push_dir(&package);
    let cargo = workspace.cargo().args(["build", "--release", "--bin", PROGRAM]);
    let cargo = cargo.env("OFFLOAD_CONFIG", package.join("offload.toml")).env_remove("OFFLOAD_TARGETS");
    let cargo = cargo.env("CARGO_TARGET_DIR", &target).env("CUDA_PATH", &toolkit);
    cargo.env(KERNELS_VAR, kernels).env_remove("RUSTFLAGS").run()?;
    Ok(target.join("release").join(PROGRAM))
}

fn parse(args: &[String]) -> Result<SpeedRequest> {
    let mut request = SpeedRequest { folder: None, run_here: false };
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--folder" => {
                let folder = words.next().ok_or_else(|| Error::new("`--folder` takes a value"))?;
                // The tasks change their directory.
                request.folder = Some(std::path::absolute(Path::new(folder))?);
            }
            "--run-here" => request.run_here = true,
            _ => {
                let error = Error::new(format!("`candle speed` takes no `{}`", word.escape_debug()));
                return Err(error.hint("it takes --folder DIR and --run-here"));
            }
        }
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parsed() {
        let words = ["--folder", "/f", "--run-here"].map(str::to_string);
        assert_eq!(parse(&words).unwrap(), SpeedRequest { folder: Some("/f".into()), run_here: true });
        assert!(parse(&["--folder".to_string()]).unwrap_err().to_string().contains("`--folder`"));
        assert!(parse(&["here".to_string()]).unwrap_err().to_string().contains("`here`"));
    }
}
