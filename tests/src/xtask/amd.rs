//! `amd`: the HIP back end over a stand-in for HIP's runtime, with kernels on the CPU, and with real code objects in an
//! emulator of RDNA3.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str =
    "amd [--emulator FILE]  test the HIP back end with a stand-in for HIP's runtime, and launch kernels in an emulator

The stand-in runs the tests of streams, buffers, events and launches. Then eighteen kernels of OpenCL C and CUDA C++ are
compiled for gfx1100 and for gfx11-generic, and launched through the same back end: the stand-in executes the code
objects in an emulator of RDNA3, and the results are compared with plain Rust. FILE, or the variable
OFFLOAD_AMD_EMULATOR, names the emulator's library: libremu.so of https://github.com/Qazalin/remu. --stand-in runs the
first part alone. Without the library the task fails, since no code for AMD would run. The emulator lacks atomics,
exchanges between lanes, clamp, popcount and exact square roots.";

/// The variable that names the emulator's library.
const EMULATOR: &str = "OFFLOAD_AMD_EMULATOR";

/// The parts that are asked for.
#[derive(Debug, PartialEq, Eq)]
enum AmdParts {
    StandIn,
    /// Both parts, with the emulator that is named, if one is.
    All(Option<String>),
}

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let parts = parse(args)?;
    stand_in(workspace)?;
    let AmdParts::All(named) = parts else {
        println!("amd: ok: the stand-in");
        return Ok(ExitCode::SUCCESS);
    };
    let emulator = emulator(named)?;
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS])?;
    let program = build(workspace)?;
    let library = compile(workspace)?;
    let command = workspace.shell.cmd(program).env("LD_LIBRARY_PATH", library).env(EMULATOR, emulator);
    Ok(workspace::exit_code(workspace::run_through(command)?))
}

fn parse(args: &[String]) -> Result<AmdParts> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok(AmdParts::All(None)),
        ["--stand-in"] => Ok(AmdParts::StandIn),
        ["--emulator", file] => Ok(AmdParts::All(Some((*file).to_string()))),
        _ => Err(Error::new("`amd` takes `--emulator FILE` or `--stand-in`")),
    }
}

/// The tests of the back end, which make the stand-in themselves.
fn stand_in(workspace: &Workspace) -> Result<()> {
    let test = ["test", "--package", "offload-rt", "--all-features", "--test", "it", "--", "hip::"];
    Ok(workspace.cargo().args(test).run()?)
}

/// Where the emulator is: without it nothing of AMD's is executed, which is no success.
fn emulator(named: Option<String>) -> Result<PathBuf> {
    let named = named.or_else(|| std::env::var(EMULATOR).ok());
    let hint = format!(
        "name libremu.so of https://github.com/Qazalin/remu with --emulator FILE or {EMULATOR}; --stand-in runs the first part alone"
    );
    let Some(path) = named.map(PathBuf::from) else {
        return Err(Error::new("no emulator of RDNA3 is named, so that no AMD code would run").hint(hint));
    };
    let found = path.canonicalize();
    found.map_err(|error| Error::new(format!("emulator `{}`: {error}", path.display())).hint(hint))
}

/// Builds a copy of the fixture below the target directory.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let dir = workspace.shell.create_dir(workspace.target_dir.join("amd/src"))?;
    fixture::copy(workspace, "amd", &dir)?;
    let target = workspace.target_dir.join("amd/target");
    let _in = workspace.shell.push_dir(&dir);
    let cargo = workspace.cargo().args(["build"]).env("CARGO_TARGET_DIR", &target);
    // Not the targets of this checkout, in which the copy lies: the fixture has its own.
    let cargo = cargo.env("OFFLOAD_CONFIG", dir.join("offload.toml"));
    cargo.env_remove("OFFLOAD_TARGETS").env_remove("RUSTFLAGS").run()?;
    Ok(target.join("debug/offload-amd"))
}

/// Compiles the stand-in that executes code objects; returns the directory that it lies in.
fn compile(workspace: &Workspace) -> Result<PathBuf> {
    let dir = workspace.shell.create_dir(workspace.target_dir.join("amd/runtime"))?;
    let sources = Path::new("offload-rt/tests/hip");
    let sources = ["driver.c", "emulator.c"].map(|file| workspace.root.join(sources).join(file));
    let compiler = workspace.shell.cmd("cc").args(["-shared", "-fPIC", "-O1", "-pthread", "-o"]);
    compiler.arg(dir.join("libamdhip64.so.7")).args(sources).arg("-ldl").run()?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_emulator_is_named_or_its_absence_is_an_error() {
        assert_eq!(parse(&words(&["--emulator", "f"])).unwrap(), AmdParts::All(Some("f".to_string())));
        assert!(parse(&words(&["--emulator"])).is_err() && parse(&words(&["f"])).is_err());
        let error = emulator(Some("/no/such/file".to_string())).unwrap_err().to_string();
        assert!(error.contains("/no/such/file"), "{error}");
    }
}
