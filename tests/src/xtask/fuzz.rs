//! `fuzz`: each reader under libFuzzer, which looks for inputs that reach new code.

use std::path::PathBuf;
use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "fuzz [--minutes N] [READER..]  look for inputs that make a reader fail, for 10 minutes each

Needs a nightly toolchain; cargo-fuzz is installed under the target directory. The files in `tests/data` are
where it starts from, what it learns is kept under fuzz/ in the target directory for the next time. A slow input, an
overflow, a panic and a read outside of the input fail.";

/// The version of cargo-fuzz.
const CARGO_FUZZ: &str = "0.13.1";
const MINUTES: u64 = 10;
/// An input that takes longer fails, in seconds.
const SLOW: u32 = 5;
/// What the fuzzer with its own records may take, in MiB.
const MEMORY: u32 = 1024;

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let (minutes, wanted) = parse(args)?;
    let fuzzer = Fuzzer { workspace, program: install(workspace)?, seconds: minutes.saturating_mul(60) };
    let mut all = ExitCode::SUCCESS;
    let mut readers = fuzzer.readers()?;
    if let Some(unknown) = wanted.iter().find(|name| !readers.contains(name)) {
        let error = Error::new(format!("no fuzz target is called `{}`", unknown.escape_debug()));
        return Err(error.hint(format!("the targets are {}", readers.join(", "))));
    }
    readers.retain(|name| wanted.is_empty() || wanted.contains(name));
    for reader in readers {
        // The next one says something of its own even where this one failed.
        let code = fuzzer.run(&reader)?;
        println!("fuzz: {reader}: {}", if code == ExitCode::SUCCESS { "ok" } else { "FAILED" });
        if code != ExitCode::SUCCESS {
            all = ExitCode::FAILURE;
        }
    }
    Ok(all)
}

/// Minutes for each reader, and which readers; all if none is named.
fn parse(args: &[String]) -> Result<(u64, Vec<String>)> {
    match args {
        [flag, minutes, rest @ ..] if flag == "--minutes" => {
            let number = minutes.parse().ok().filter(|minutes| *minutes > 0);
            let number = number.ok_or_else(|| {
                Error::new(format!("`{}` is no number of minutes", minutes.escape_debug()))
                    .hint("cargo xtask fuzz --minutes 1")
            })?;
            Ok((number, rest.to_vec()))
        }
        names => Ok((MINUTES, names.to_vec())),
    }
}

struct Fuzzer<'a> {
    workspace: &'a Workspace,
    program: PathBuf,
    seconds: u64,
}

impl Fuzzer<'_> {
    fn readers(&self) -> Result<Vec<String>> {
        let shell = &self.workspace.shell;
        let files = shell.read_dir(self.workspace.root.join("fuzz/fuzz_targets"))?;
        Ok(files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_string())).collect())
    }

    fn run(&self, reader: &str) -> Result<ExitCode> {
        let place = self.workspace.target_dir.join("fuzz");
        let (corpus, finds) = (place.join("corpus").join(reader), place.join("finds"));
        for dir in [&corpus, &finds] {
            self.workspace.shell.create_dir(dir)?;
        }
        // The toolchain is chosen for this command alone: nothing else needs a nightly compiler.
        let command = self.workspace.shell.cmd(&self.program).args(["run", "--fuzz-dir", "fuzz"]);
        let command = command.env("RUSTUP_TOOLCHAIN", "nightly").env_remove("RUSTC").env_remove("CARGO");
        let command = command.arg("--target-dir").arg(place.join("build")).arg(reader).arg(&corpus);
        let command = command.args(["tests/data", "tests/data/carrier", "--"]);
        let command = command.args([
            format!("-max_total_time={}", self.seconds),
            format!("-timeout={SLOW}"),
            format!("-rss_limit_mb={MEMORY}"),
            format!("-artifact_prefix={}/{reader}-", finds.display()),
            "-print_final_stats=1".to_string(),
            "-max_len=65536".to_string(),
            "-verbosity=0".to_string(),
        ]);
        Ok(workspace::exit_code(workspace::run_through(command)?))
    }
}

/// Finds cargo-fuzz, installing it first where it is missing.
fn install(workspace: &Workspace) -> Result<PathBuf> {
    let root = workspace.target_dir.join("tools").join(format!("cargo-fuzz-{CARGO_FUZZ}"));
    let program = root.join("bin/cargo-fuzz");
    if !program.exists() {
        let command = workspace.cargo().args(["install", "--locked", "cargo-fuzz", "--version", CARGO_FUZZ]);
        command.arg("--root").arg(&root).run()?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn minutes_and_readers_are_read() {
        assert_eq!(parse(&[]).unwrap(), (10, Vec::new()));
        assert_eq!(parse(&args(&["--minutes", "1", "ptx"])).unwrap(), (1, args(&["ptx"])));
        assert_eq!(parse(&args(&["ptx", "kpack"])).unwrap(), (10, args(&["ptx", "kpack"])));
        for wrong in [&["--minutes", "0"][..], &["--minutes", "a"]] {
            assert!(parse(&args(wrong)).is_err());
        }
    }
}
