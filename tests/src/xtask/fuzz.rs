//! `fuzz`: each reader under libFuzzer, which looks for inputs that reach new code.

use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode};

use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

use crate::cargo_tool::CargoTool;

pub(crate) const HELP: &str = "fuzz [--minutes N] [READER..]  fuzz the readers with cargo-fuzz, for 10 minutes each

Needs a nightly toolchain; cargo-fuzz is installed under the target directory. The files in `tests/data` are
the seed corpus; the corpus is kept under fuzz/ in the target directory. A timeout, an overflow, a panic and an
out-of-bounds read fail; so does a round trip that changes a file. One target runs on each processor.";

const CARGO_FUZZ: CargoTool =
    CargoTool { package: "cargo-fuzz", version: "0.13.1", arguments: &[], is_unoptimized: false };
const MINUTES: u64 = 10;
/// An input that takes longer fails, in seconds.
const SLOW: u32 = 5;
/// What the fuzzer with its own records may take, in MiB.
const MEMORY: u32 = 1024;

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let Wish { minutes, wanted } = parse(args)?;
    let fuzzer =
        Fuzzer { workspace, program: CARGO_FUZZ.install(workspace)?, seconds: minutes.saturating_mul(60) };
    let mut failed = 0;
    let all = fuzzer.readers()?;
    let readers = chosen(&all, &wanted)?;
    fuzzer.build()?;
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    for some in readers.chunks(processors) {
        let running = some.iter().map(|reader| fuzzer.start(reader)).collect::<Result<Vec<Child>>>()?;
        // The next one says something of its own even where this one failed.
        for (reader, mut child) in some.iter().zip(running) {
            let is_well = child.wait()?.success();
            println!("fuzz: {reader}: {}", if is_well { "ok" } else { "FAILED" });
            failed += usize::from(!is_well);
        }
    }
    let some = readers.len();
    let all = all.len();
    println!("{FIGURE}{some} of {all} readers, {minutes} minutes each; {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    /// For each reader.
    minutes: u64,
    wanted: Wanted,
}

#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    All,
    Named(Vec<String>),
}

fn parse(args: &[String]) -> Result<Wish> {
    let (minutes, rest) = match args {
        [flag, minutes, rest @ ..] if flag == "--minutes" => {
            let number = minutes.parse().ok().filter(|minutes| *minutes > 0);
            let number = number.ok_or_else(|| {
                Error::new(format!("`{}` is no number of minutes", minutes.escape_debug()))
                    .hint("cargo xtask fuzz --minutes 1")
            })?;
            (number, rest)
        }
        rest => (MINUTES, rest),
    };
    let wanted = match rest {
        [] => Wanted::All,
        names => Wanted::Named(names.to_vec()),
    };
    Ok(Wish { minutes, wanted })
}

fn chosen(all: &[String], wanted: &Wanted) -> Result<Vec<String>> {
    match wanted {
        Wanted::All => Ok(all.to_vec()),
        Wanted::Named(names) => match names.iter().find(|name| !all.contains(name)) {
            None => Ok(names.clone()),
            Some(unknown) => {
                let error = Error::new(format!("no fuzz target is called `{}`", unknown.escape_debug()));
                Err(error.hint(format!("the targets are {}", all.join(", "))))
            }
        },
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
        let mut readers: Vec<String> =
            files.iter().filter_map(|file| Some(file.file_stem()?.to_str()?.to_string())).collect();
        readers.sort();
        Ok(readers)
    }

    /// All of them, so that none waits for another's compiler.
    fn build(&self) -> Result<()> {
        let status = self.cargo_fuzz("build").status()?;
        if status.success() { Ok(()) } else { Err(Error::new("the fuzz targets do not build")) }
    }

    fn start(&self, reader: &str) -> Result<Child> {
        let place = self.place();
        let corpus = place.join("corpus").join(reader);
        let finds = place.join("finds");
        for dir in [&corpus, &finds] {
            self.workspace.shell.create_dir(dir)?;
        }
        let mut command = self.cargo_fuzz("run");
        command.arg(reader).arg(&corpus).args(["tests/data", "tests/data/carrier", "--"]);
        command.args([
            format!("-max_total_time={}", self.seconds),
            format!("-timeout={SLOW}"),
            format!("-rss_limit_mb={MEMORY}"),
            format!("-artifact_prefix={}/{reader}-", finds.display()),
            "-print_final_stats=1".to_string(),
            "-max_len=65536".to_string(),
            "-verbosity=0".to_string(),
        ]);
        Ok(command.spawn()?)
    }

    fn cargo_fuzz(&self, what: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.workspace.root).args([what, "--fuzz-dir", "fuzz", "--target-dir"]);
        command.arg(self.place().join("build"));
        // The toolchain is chosen for this command alone: nothing else needs a nightly compiler.
        command.env("RUSTUP_TOOLCHAIN", "nightly").env_remove("RUSTC").env_remove("CARGO");
        command
    }

    fn place(&self) -> PathBuf {
        self.workspace.target_dir.join("fuzz")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    fn wish(minutes: u64, wanted: Wanted) -> Wish {
        Wish { minutes, wanted }
    }

    fn ptx() -> Wanted {
        Wanted::Named(args(&["ptx"]))
    }

    #[test]
    fn minutes_and_readers_are_read() {
        assert_eq!(parse(&[]).unwrap(), wish(10, Wanted::All));
        assert_eq!(parse(&args(&["--minutes", "1", "ptx"])).unwrap(), wish(1, ptx()));
        for wrong in [&["--minutes", "0"][..], &["--minutes", "a"]] {
            assert!(parse(&args(wrong)).is_err());
        }
        assert_eq!(chosen(&args(&["kpack", "ptx"]), &ptx()).unwrap(), ["ptx"]);
        assert!(chosen(&args(&["kpack"]), &ptx()).is_err());
    }
}
