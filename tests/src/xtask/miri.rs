//! `miri`: tests of readers, the registry and the thread pool in an interpreter that finds undefined behaviour and data races.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

use crate::test::Counts;

pub(crate) const HELP: &str = "miri            run the tests of the readers, the registry and the thread pool under Miri

Needs the toolchain `nightly` of rustup with its component `miri`. Miri runs no C: tests that call
zstd, a driver or a linker are excluded, as are tests that take minutes. Miri's memory is as weakly ordered as that of Rust's specification, which is weaker
than AArch64's: the thread pool and the queue of work-groups run with eight orders of threads.";

/// The tests of one program of a package.
struct Tests {
    package: &'static str,
    /// Arguments of `cargo test`.
    program: &'static [&'static str],
    names: &'static [&'static str],
    /// Names that call C, or take minutes.
    without: &'static [&'static str],
    /// Flags of Miri's.
    flags: &'static str,
}

/// Tests read files and clocks.
const FLAGS: &str = "-Zmiri-disable-isolation";
/// The threads of the pool never end. Each seed is another order of theirs, and other stale values that relaxed loads see.
const THREADS: &str = "-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-many-seeds=0..8";

const TESTS: [Tests; 6] = [
    Tests {
        package: "offload-rt",
        program: &["--lib", "--no-default-features", "--features", "host,pure"],
        names: &["host::threads::", "host::executor::"],
        without: &[],
        flags: THREADS,
    },
    Tests {
        package: "offload-rt",
        program: &["--test", "it"],
        names: &["registry::", "selection::"],
        without: &["of_many_modules", "the_best_class_wins", "what_a_device_cannot_take"],
        flags: FLAGS,
    },
    Tests {
        package: "offload-format",
        program: &["--lib", "--all-features"],
        names: &["aspects", "columns", "memory", "patch", "import", "sidecar"],
        without: &["lzma", "every_byte_goes_to_its_column"],
        flags: FLAGS,
    },
    Tests {
        package: "offload-packer",
        program: &["--lib", "--all-features"],
        names: &["budget", "queue"],
        without: &[],
        flags: FLAGS,
    },
    Tests {
        package: "offload-images",
        program: &["--lib", "--all-features"],
        names: &["machine::", "msgpack::", "ptx::", "zebin::notes", "rename::"],
        without: &[],
        flags: FLAGS,
    },
    Tests {
        package: "offload-containers",
        program: &["--lib", "--all-features"],
        names: &["bundle::", "syclbin::", "ocloc::", "wrapper::"],
        without: &[],
        flags: FLAGS,
    },
];

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    is_installed(workspace)?;
    let mut counts = Counts::default();
    let mut all = true;
    for tests in &TESTS {
        let before = counts.passed;
        // The next one says something of its own even where this one failed.
        let ended_well = interpret(workspace, tests, &mut counts)?;
        if !ended_well || counts.passed == before {
            println!("miri: {} {}: FAILED", tests.package, tests.program.join(" "));
            all = false;
        }
    }
    let Counts { passed, failed, .. } = counts;
    println!("{FIGURE}{} tests in Miri; {failed} failed", passed.saturating_add(failed));
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_installed(workspace: &Workspace) -> Result<()> {
    if workspace.program("rustup").is_none() {
        return Err(Error::new("rustup is not installed").hint("https://rustup.rs"));
    }
    let miri =
        nightly(workspace, &["miri", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if miri.success() {
        return Ok(());
    }
    let error = Error::new("the toolchain `nightly` of rustup, or its component `miri`, is not installed");
    Err(error.hint("rustup toolchain install nightly --component miri,rust-src"))
}

/// Runs the tests, showing what they print; whether all ended well.
fn interpret(workspace: &Workspace, tests: &Tests, counts: &mut Counts) -> Result<bool> {
    let mut command = nightly(workspace, &["miri", "test", "--package", tests.package]);
    command.args(tests.program).arg("--target-dir").arg(workspace.target_dir.join("miri"));
    command.arg("--").args(tests.names);
    for name in tests.without {
        command.args(["--skip", name]);
    }
    let mut child = command.env("MIRIFLAGS", tests.flags).stdout(Stdio::piped()).spawn()?;
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let line = line?;
        counts.add(&line);
        println!("{line}");
    }
    Ok(child.wait()?.success())
}

fn nightly(workspace: &Workspace, args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.current_dir(&workspace.root).args(["run", "nightly", "cargo"]).args(args);
    // What cargo says to what it runs would lead the other cargo to this one's compiler.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}
