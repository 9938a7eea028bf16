//! Compilers without root: everything that the README promises to a user of an ordinary machine, from the mirrors.

use std::process::ExitCode;

use super::machine::{HOME, Machine, User};
use super::{clone_checkout, in_turn};
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

/// What every kind of compiler makes.
const TARGETS: &str = "host spirv64 opencl-c intel:pvc nvptx:sm_75 cubin:sm_80 amdgcn:gfx90a amdgcn:gfx1030";

/// Nothing that compiles kernels may be there before.
const NONE_BEFORE: &str = r#"for tool in clang clang-22 ocloc ptxas; do
    if command -v "$tool"; then exit 1; fi
done
if cargo offload doctor "$@"; then exit 1; fi"#;

/// The checkout belongs to root.
const INSTALL: &str =
    "cargo install --quiet --locked --debug --target-dir target --path checkout/cargo-offload";

/// The program runs on the CPU, and each target has an image that is as it should be.
const CHECKED: &str = r#"cd hello && cargo offload run && cargo offload verify
for target; do cargo offload inspect --quiet --for "$target"; done"#;

pub(super) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let machine = Machine::new(workspace, User::Ordinary)?;
    clone_checkout(workspace, &machine.path(HOME).join("checkout"))?;
    let steps = [
        ("cargo install", INSTALL),
        ("nothing is there", NONE_BEFORE),
        ("toolchain install", "cargo offload toolchain install"),
        ("the same again", "cargo offload toolchain install && cargo offload doctor \"$@\""),
        (
            "new",
            "cargo offload new hello --checkout checkout && cd hello && cargo offload targets set \"$@\"",
        ),
        ("build", "cd hello && cargo offload build"),
        ("check what was built", CHECKED),
        ("commands of docs/ci.md", &recipes(&workspace.shell.read_file(workspace.root.join("docs/ci.md"))?)),
    ];
    in_turn(&steps, |script| step(&machine, script))
}

/// What the recipes for CI run once the subcommand is installed, each command once.
fn recipes(page: &str) -> String {
    let commands =
        page.lines().filter_map(|line| line.trim().trim_start_matches("- ").split_once("cargo offload "));
    let commands = commands.filter(|(before, _)| before.is_empty() || *before == "run: ");
    let mut lines: Vec<String> = Vec::new();
    for (_, words) in commands {
        let line = format!("cargo offload {words}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    format!("cd hello\n{BASELINE}\n{}", lines.join("\n"))
}

/// What a project has before: a file with the numbers of its kernels. GitHub names the file of the summary.
const BASELINE: &str = "export GITHUB_STEP_SUMMARY=summary.md
cargo offload report --release --baseline kernels.toml --update-baseline";

/// Runs `script` at the user's home, with the targets as its arguments.
fn step(machine: &Machine<'_>, script: &str) -> Result<()> {
    let script = format!("cd {HOME}\n{script}");
    let fixed = ["sh", "-eu", "-c", script.as_str(), "sh"];
    let words: Vec<&str> = fixed.into_iter().chain(TARGETS.split(' ')).collect();
    machine.run(&words).map_err(|error| Error::new(format!("{error}\nthe script was: {script}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_both_recipes_are_run_once() {
        let page = include_str!("../../../../docs/ci.md");
        let script = recipes(page);
        for command in ["doctor", "build --release --locked", "verify --release", "toolchain install"] {
            assert_eq!(
                script.lines().filter(|line| *line == format!("cargo offload {command}")).count(),
                1,
                "{script}"
            );
        }
        assert!(script.contains("--format markdown >> \"$GITHUB_STEP_SUMMARY\""), "{script}");
        assert!(!script.contains("cargo install"), "{script}");
    }
}
