//! `test`: installs what the tests need and runs them all.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Runtime, Toolkit, Wheel};
use offload_tests::workspace::{self, Workspace, seconds};
use offload_tests::{FULL_VAR, LEFT_TO_NIGHTLY};

pub(crate) const HELP: &str = "test [--full] [ARGS]  install missing tools and run the tests of the workspace

--full also runs the slow tests, and covers all cases where a test takes a sample. ARGS go to `cargo test`. Without
ARGS the number of tests is checked against a floor. With the variable CI set, a skipped test fails.";

/// Fewer tests than this mean that some were not run; raise it when tests are added.
const FEWEST_TESTS: u64 = 1_600;

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let start = Instant::now();
    let (is_full, args) = match args {
        [flag, rest @ ..] if flag == "--full" => (true, rest),
        rest => (false, rest),
    };
    let mut env = environment(workspace)?;
    if is_full {
        setup::ensure(workspace, &[setup::STRESS, setup::OLDER_LLVM])?;
        env.push((FULL_VAR, "1".into()));
    }
    let installed = start.elapsed();
    let build = workspace::run_through(
        cargo_test(workspace).arg("--no-run").args(before_separator(args)).envs(env.clone()),
    )?;
    let built = start.elapsed();
    if !build.success() {
        return Ok(workspace::exit_code(build));
    }
    let mut tests = Command::from(cargo_test(workspace).args(args).envs(env));
    if args.is_empty() {
        tests.args(["--", &format!("--test-threads={}", threads())]);
    }
    let (status, counts) = count(tests)?;
    let times = [installed, built.saturating_sub(installed), start.elapsed().saturating_sub(built)];
    println!("{}", summary(&counts, times));
    check(&counts, args.is_empty())?;
    Ok(workspace::exit_code(status))
}

fn cargo_test(workspace: &Workspace) -> xshell::Cmd<'_> {
    workspace.cargo().args(["test", "--workspace", "--all-features", "--no-fail-fast"])
}

/// Tests wait for processes that they start, and for their time limits: about a third of the time that they run.
fn threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors.saturating_add(processors.div_ceil(2))
}

/// What the tests read through `offload_tests`.
pub(crate) fn environment(workspace: &Workspace) -> Result<Vec<(&'static str, OsString)>> {
    let lists = [setup::BUILD, setup::GPUS, setup::DRIVERS, setup::BROWSER, setup::SHELLS, setup::BUNDLER];
    setup::ensure(workspace, &lists)?;
    let intel = setup::ensure_intel(workspace, Runtime::OpenCl)?;
    let cuda = setup::ensure_cuda(workspace, Toolkit::Ptxas)?;
    let headers = setup::ensure_cuda(workspace, Toolkit::Headers)?;
    let packages = setup::ensure_wheel(workspace, Wheel::Decoder)?;
    let numpy = setup::ensure_wheel(workspace, Wheel::Numpy)?;
    let fixtures = workspace.target_dir.join("fixtures");
    Ok(vec![
        (offload_tests::INTEL_RUNTIME_VAR, intel.into_os_string()),
        (offload_tests::CUDA_VAR, cuda.into_os_string()),
        (offload_tests::CUDA_HEADERS_VAR, headers.into_os_string()),
        (offload_tests::PYTHON_PACKAGES_VAR, packages.into_os_string()),
        (offload_tests::NUMPY_VAR, numpy.into_os_string()),
        (offload_tests::TARGET_DIR_VAR, fixtures.into_os_string()),
    ])
}

/// The arguments for cargo itself; those after `--` are for the test programs.
fn before_separator(args: &[String]) -> impl Iterator<Item = &String> {
    args.iter().take_while(|arg| *arg != "--")
}

/// Sums over the result lines of all test programs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    ignored: u64,
    /// Those of the ignored ones that need a GPU: a test runs them with a stand-in for the driver.
    of_gpus: u64,
    /// Those that passed without a trial, as they take long.
    left_to_nightly: u64,
}

/// Why such a test is ignored. HIP's are launched on no GPU, and by the test with the stand-in alone.
const NEEDS_GPU: [&str; 2] = ["ignored, needs an NVIDIA GPU", "ignored, needs the stand-in of HIP's runtime"];

impl Counts {
    /// Adds a line "test result: ok. 3 passed; 0 failed; 0 ignored; ...".
    pub(crate) fn add(&mut self, line: &str) {
        // The harness may have begun the line.
        if line.contains(LEFT_TO_NIGHTLY) {
            self.left_to_nightly += 1;
        }
        if line.starts_with("test ") && NEEDS_GPU.iter().any(|reason| line.ends_with(reason)) {
            self.of_gpus += 1;
        }
        let Some(result) = line.strip_prefix("test result: ") else { return };
        for part in result.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let number = words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
            match words.next() {
                Some("passed") => self.passed += number,
                Some("failed") => self.failed += number,
                Some("ignored") => self.ignored += number,
                _ => {}
            }
        }
    }
}

/// Runs the tests, showing what they print, and counts them.
fn count(mut command: Command) -> Result<(ExitStatus, Counts)> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut counts = Counts::default();
    let mut out = std::io::stdout();
    let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(|reader| reader.split(b'\n'));
    for line in lines {
        let line = line?;
        counts.add(&String::from_utf8_lossy(&line));
        out.write_all(&line)?;
        out.write_all(b"\n")?;
    }
    Ok((child.wait()?, counts))
}

fn summary(counts: &Counts, [installed, built, ran]: [Duration; 3]) -> String {
    let Counts { passed, failed, ignored, of_gpus, left_to_nightly } = counts;
    let times = format!("setup {}, build {}, tests {}", seconds(installed), seconds(built), seconds(ran));
    format!(
        "all tests: {passed} passed; {failed} failed; {ignored} ignored, of which {of_gpus} need a GPU or its stand-in; {left_to_nightly} left to nightly; {times}"
    )
}

/// A run that is green because something did not run is refused.
fn check(counts: &Counts, everything: bool) -> Result<()> {
    let ran = counts.passed.saturating_add(counts.failed);
    if everything && ran < FEWEST_TESTS {
        return Err(Error::new(format!("{ran} tests ran, and there are at least {FEWEST_TESTS}")));
    }
    let ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty() && ci != "false");
    let skipped = counts.ignored.saturating_sub(counts.of_gpus);
    if ci && skipped > 0 {
        return Err(Error::new(format!("{skipped} tests are ignored, which CI does not accept")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_summed() {
        let mut counts = Counts::default();
        counts.add(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        );
        counts.add("test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out; finished in 1.20s");
        counts.add("test tests::passed ... ok");
        counts.add("test cuda::a ... ignored, needs an NVIDIA GPU");
        counts.add("test hip::a ... ignored, needs the stand-in of HIP's runtime");
        counts.add("test cuda::b ... ignored, too slow");
        counts.add("test long ... left to nightly: tests/it/long.rs:3:8");
        assert_eq!(counts, Counts { passed: 13, failed: 2, ignored: 1, of_gpus: 2, left_to_nightly: 1 });
    }

    #[test]
    fn too_few_tests_are_refused() {
        let counts =
            Counts { passed: FEWEST_TESTS - 1, failed: 0, ignored: 0, of_gpus: 0, left_to_nightly: 0 };
        assert!(check(&counts, true).is_err());
        assert!(check(&counts, false).is_ok());
    }
}
