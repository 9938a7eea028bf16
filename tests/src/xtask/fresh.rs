//! `fresh`: the two commands of the README in a new Debian that holds only Rust, gcc, Python and git.

mod machine;
mod sources;

use std::process::ExitCode;
use std::time::Instant;

use self::machine::Machine;
use crate::error::{Error, Result};
use crate::setup;
use crate::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "fresh           `demo` and `test` in a new Debian 12 (debootstrap); needs root

The committed state is cloned into it. What is installed there besides gcc, libc6-dev, python3, git and Rust is
what the tasks themselves install.";

/// Where the clone lies in the new machine.
const CHECKOUT: &str = "/root/checkout";

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    if !workspace.is_root() {
        return Err(Error::new("`fresh` mounts and changes its root directory, which needs root")
            .hint("run `cargo xtask fresh` as root, in a container for example"));
    }
    setup::ensure(workspace, &[setup::FRESH])?;
    let machine = Machine::new(workspace)?;
    clone_checkout(workspace, &machine)?;
    machine.run(&["rustc", "--version"])?;
    let mut report = Vec::new();
    // The second `demo` shows what an unchanged build costs.
    for (name, task) in [("demo, first", "demo"), ("demo, second", "demo"), ("test", "test")] {
        let start = Instant::now();
        let result = machine.run(&["sh", "-c", &format!("cd {CHECKOUT} && exec cargo xtask {task}")]);
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        report.push(format!("fresh: {name}: {word} in {}", seconds(start.elapsed())));
        if let Err(error) = result {
            println!("{}", report.join("\n"));
            return Err(error);
        }
    }
    println!("{}", report.join("\n"));
    Ok(ExitCode::SUCCESS)
}

fn clone_checkout(workspace: &Workspace, machine: &Machine<'_>) -> Result<()> {
    let git = |args: &[&str]| workspace.shell.cmd("git").args(args).quiet();
    if !git(&["status", "--porcelain"]).read()?.is_empty() {
        println!("note: uncommitted changes of this checkout are not in the clone");
    }
    let head = git(&["rev-parse", "--verify", "HEAD"]).ignore_stderr().read();
    let head = head.map_err(|_| Error::new("this checkout has no commit").hint("`git commit` first"))?;
    println!("fresh: cloning {head}");
    let destination = machine.path(CHECKOUT);
    let url = format!("file://{}", workspace.root.display());
    workspace.shell.cmd("git").args(["clone", "--quiet", "--depth=1", &url]).arg(destination).run()?;
    Ok(())
}
