//! `gpu`: a program with kernels for NVIDIA GPUs that travels to a machine without a toolchain.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Toolkit};
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "gpu [--run-here] [ARGS]  build twelve kernels by clang and nvcc into a program for machines with an NVIDIA GPU

The program stands alone: a machine needs NVIDIA's driver and no toolchain. It compares every result with plain Rust,
measures kernels and the loading of modules, and refuses damaged images. Without --run-here the command is printed
that runs it elsewhere; ARGS are the program's (`--help` lists them).";

/// The fixture and its program.
const NAME: &str = "gpu";
const PROGRAM: &str = "offload-gpu";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let here = args.iter().any(|arg| arg == "--run-here");
    let args: Vec<&String> = args.iter().filter(|arg| *arg != "--run-here").collect();
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS])?;
    let cuda = setup::ensure_cuda(workspace, Toolkit::Nvcc)?;
    let program = bundle(workspace, &build(workspace, &cuda)?)?;
    if here {
        return Ok(workspace::exit_code(workspace::run_through(workspace.shell.cmd(program).args(args))?));
    }
    let words: Vec<String> = args.iter().map(|arg| format!(" {arg}")).collect();
    let dir = program.parent().unwrap_or(&program);
    println!("copy {} to a machine with {} and run there:", dir.display(), needs(workspace, &program)?);
    println!("./{PROGRAM} --json {PROGRAM}.json{}", words.concat());
    Ok(ExitCode::SUCCESS)
}

/// Builds a copy of the fixture below the target directory; the same place each time, so that little is built again.
fn build(workspace: &Workspace, cuda: &Path) -> Result<PathBuf> {
    let dir = workspace.shell.create_dir(workspace.target_dir.join("gpu/src"))?;
    fixture::copy(workspace, NAME, &dir)?;
    let target = workspace.target_dir.join("gpu/target");
    let _in = workspace.shell.push_dir(&dir);
    let cargo = workspace.cargo().args(["build", "--release"]);
    // Not the targets of this checkout, which cargo has handed down: the fixture has its own.
    cargo
        .env("CARGO_TARGET_DIR", &target)
        .env("CUDA_PATH", cuda)
        .env_remove("OFFLOAD_CONFIG")
        .env_remove("OFFLOAD_TARGETS")
        .env_remove("RUSTFLAGS")
        .run()?;
    Ok(target.join("release").join(PROGRAM))
}

/// The directory that travels, with nothing else in it.
fn bundle(workspace: &Workspace, program: &Path) -> Result<PathBuf> {
    let dir = workspace.target_dir.join("gpu/bundle");
    workspace.shell.remove_path(&dir)?;
    workspace.shell.create_dir(&dir)?;
    let copy = dir.join(PROGRAM);
    workspace.shell.copy_file(program, &copy)?;
    Ok(copy)
}

fn needs(workspace: &Workspace, program: &Path) -> Result<String> {
    let readelf = workspace.shell.cmd("readelf").args(["--wide", "--version-info"]).arg(program);
    let versions = readelf.env("LC_ALL", "C").quiet().read()?;
    let [major, minor] = newest_glibc(&versions)
        .ok_or_else(|| Error::new(format!("{} names no version of glibc", program.display())))?;
    Ok(format!("NVIDIA's driver and glibc {major}.{minor} or later (x86-64)"))
}

/// The newest of "Name: GLIBC_2.34".
fn newest_glibc(versions: &str) -> Option<[u32; 2]> {
    let numbers = versions.split("GLIBC_").skip(1).filter_map(|rest| {
        let (major, rest) = rest.split_once('.')?;
        let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some([major.parse().ok()?, minor.parse().ok()?])
    });
    numbers.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_counts() {
        let text = "  0x0010:   Name: GLIBC_2.2.5  Flags: none  Version: 8\n  0x0020:   Name: GLIBC_2.34  Flags: none\n";
        assert_eq!(newest_glibc(text), Some([2, 34]));
        assert_eq!(newest_glibc("Name: GCC_3.0"), None);
    }
}
