//! The examples, whose kernels have to be silent.

use std::time::{Duration, Instant};

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

use super::tests::Project;

/// How an example went.
pub(super) struct Example {
    pub(super) name: String,
    /// The output of a failed run.
    pub(super) problem: Option<String>,
    pub(super) time: Duration,
}

/// Programs that run on the host CPU, with their arguments. Those that use another crate's driver do not.
const PROGRAMS: [(&str, &[&str]); 5] = [
    ("conjugate-gradient", &["48"]),
    ("image-filter", &[]),
    ("decode", &[]),
    ("stencil", &["256", "20"]),
    ("bf16-vectors", &[]),
];
/// Packages with kernel tests.
const TESTED: [&str; 2] = ["image-filter", "example-app"];

/// Runs each of them with checks, on the host CPU alone.
pub(super) fn run(workspace: &Workspace, project: &Project<'_>) -> Result<Vec<Example>> {
    let mut examples = Vec::new();
    for (package, args) in PROGRAMS {
        let run =
            workspace.cargo().args(["run", "--quiet", "--release", "--package", package, "--"]).args(args);
        examples.push(example(package, run.env("OFFLOAD_SANITIZE", "1"), project)?);
    }
    for package in TESTED {
        let test =
            workspace.shell.cmd(&project.tool).args(["offload", "test", "--sanitize", "--package", package]);
        let test = test.args(["--device", "host"]);
        examples.push(example(&format!("tests of {package}"), test, project)?);
    }
    Ok(examples)
}

fn example(name: &str, command: xshell::Cmd<'_>, project: &Project<'_>) -> Result<Example> {
    let start = Instant::now();
    // No other device has an image.
    let command = command
        .env("OFFLOAD_TARGETS", "host")
        .env("CARGO_TARGET_DIR", &project.target)
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    let output = command.ignore_status().quiet().output()?;
    let problem = (!output.status.success()).then(|| {
        let out = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        format!("{}{}", out.trim_end(), error.trim_end())
    });
    Ok(Example { name: name.to_string(), problem, time: start.elapsed() })
}
