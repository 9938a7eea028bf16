//! `fresh`: the two commands of the README in a new Debian that holds only Rust, gcc, Python and git.

mod machine;
mod rust_alone;
mod sources;
mod toolchain;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use self::machine::{Machine, User};
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "fresh           run `demo` and `test` in a fresh Debian 12 (debootstrap); needs root

The committed state is cloned into it. What is installed there besides gcc, libc6-dev, python3, git and Rust is
what the tasks themselves install.

  --toolchain   instead, an ordinary user installs `cargo offload` and, by `cargo offload toolchain install`, the
                newest compilers from the mirrors, makes a package, builds it for targets of every kind, and runs the
                commands of docs/ci.md
  --rust-alone  instead, an ordinary user has Rust and `cargo offload`, and neither a C compiler nor Python";

/// Where the clone lies in the new machine.
const CHECKOUT: &str = "/root/checkout";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let work = match words.as_slice() {
        [] => both_commands,
        ["--toolchain"] => toolchain::run,
        ["--rust-alone"] => rust_alone::run,
        _ => {
            return Err(Error::new(format!("`fresh` knows no `{}`", words.join(" ")))
                .hint("write --toolchain or --rust-alone"));
        }
    };
    if !workspace.is_root() {
        return Err(Error::new("`fresh` mounts and changes its root directory, which needs root")
            .hint("run `cargo xtask fresh` as root, in a container for example"));
    }
    setup::ensure(workspace, &[setup::FRESH])?;
    work(workspace)
}

fn both_commands(workspace: &Workspace) -> Result<ExitCode> {
    let machine = Machine::new(workspace, User::Root)?;
    clone_checkout(workspace, &machine.path(CHECKOUT))?;
    machine.run(&["rustc", "--version"])?;
    // The second `demo` shows what an unchanged build costs.
    let steps = [("demo, first", "demo"), ("demo, second", "demo"), ("test", "test")];
    in_turn(&steps, |task| machine.run(&["sh", "-c", &format!("cd {CHECKOUT} && exec cargo xtask {task}")]))
}

/// Does named steps until one fails, and says how long each took.
fn in_turn(steps: &[(&str, &str)], run: impl Fn(&str) -> Result<()>) -> Result<ExitCode> {
    let mut report = Vec::new();
    for (name, step) in steps {
        let start = Instant::now();
        let result = run(step);
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

fn clone_checkout(workspace: &Workspace, destination: &Path) -> Result<()> {
    if !git(workspace, &["status", "--porcelain"]).read()?.is_empty() {
        println!("note: uncommitted changes of this checkout are not in the clone");
    }
    let head = git(workspace, &["rev-parse", "--verify", "HEAD"]).ignore_stderr().read();
    let head = head.map_err(|_| Error::new("this checkout has no commit").hint("`git commit` first"))?;
    println!("fresh: cloning {head}");
    let url = format!("file://{}", workspace.root.display());
    workspace.shell.cmd("git").args(["clone", "--quiet", "--depth=1", &url]).arg(destination).run()?;
    Ok(())
}

fn git<'t>(workspace: &'t Workspace, args: &[&str]) -> xshell::Cmd<'t> {
    workspace.shell.cmd("git").args(args).quiet()
}
