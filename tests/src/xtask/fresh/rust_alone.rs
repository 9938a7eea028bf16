//! A machine with Rust and no C compiler, no Python, no git: what the subcommand does there, and how builds end.

use std::process::ExitCode;

use super::machine::{HOME, Machine, User};
use super::{clone_checkout, in_turn};
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

/// Rust itself links no program without a C compiler, and says so.
const NO_LINKER: &str = r#"cd hello
if cargo build >log 2>&1; then exit 1; fi
tail -n 12 log
grep -q 'linker `cc` not found' log"#;

/// It names what is missing, and what installs it.
const DOCTOR: &str = r#"cd hello
if cargo offload doctor >log 2>&1; then exit 1; fi
cat log
for part in 'no: lacks clang' 'hint: ' 'apt install clang-22' 'cargo offload toolchain install'; do
    grep -q "$part" log
done"#;

/// Images are shown and checked without any other program.
const FILES: &str = r#"pack=checkout/example-app/offload-vendor/demo.pack
cargo offload inspect "$pack"
cargo offload verify "$pack"
cargo offload report "$pack" --html page.html
test -s page.html"#;

pub(super) fn run(workspace: &Workspace) -> Result<ExitCode> {
    workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]).run()?;
    let machine = Machine::new(workspace, User::WithRustAlone)?;
    clone_checkout(workspace, &machine.path(HOME).join("checkout"))?;
    // Nothing can be installed from source there: the program comes as it would from a release.
    let program = workspace.target_dir.join("debug/cargo-offload");
    workspace.shell.copy_file(program, machine.path("/usr/bin/cargo-offload"))?;
    let steps = [
        ("new", "cargo offload new hello --checkout checkout --vcs none"),
        ("what is missing", DOCTOR),
        ("cargo build", NO_LINKER),
        ("looking into files", FILES),
    ];
    in_turn(&steps, |script| {
        let script = format!("cd {HOME}\n{script}");
        let run = machine.run(&["sh", "-eu", "-c", &script]);
        run.map_err(|error| Error::new(format!("{error}\nthe script was: {script}")))
    })
}
