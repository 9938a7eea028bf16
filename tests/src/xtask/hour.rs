//! `hour`: what a new user does in the first hour, on terminals of 80 and 120 columns, and what is on the screen.

mod hints;
mod page;
mod screen;
mod steps;
mod terminal;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use self::hints::Download;
use self::screen::Screen;
use self::steps::{Step, write_files};
use self::terminal::Terminal;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

pub(crate) const HELP: &str =
    "hour [--network] run the first session of a new user in a terminal, and check and keep the screens

A package is made, built, run, looked at, broken in several ways and mended again, on terminals of 80 and of 120
columns. The screens are target/hour/WIDTH/NAME.txt, and target/hour/index.html shows all of them with their colours.
The task fails if a command does not end as it should, if a table or a help page is wider than the screen, if a text
that the user needs is missing, or if a command that a hint names does not run. Commands that download some megabytes
run with --network alone, those that download compilers never: `fresh --toolchain` runs them.";

/// Columns of the terminals.
const WIDTHS: [u16; 2] = [80, 120];

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let network = match args {
        [] => false,
        [one] if one == "--network" => true,
        _ => return Err(Error::new("`hour` takes `--network` alone")),
    };
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::DRIVERS, setup::TERMINAL])?;
    workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]).run()?;
    let directory = workspace.target_dir.join("hour");
    workspace.shell.remove_path(&directory)?;
    let mut screens = Vec::new();
    let mut problems = Vec::new();
    // A package below the checkout would be a member of its workspace.
    let homes = tempfile::Builder::new().prefix("hour-").tempdir()?;
    for width in WIDTHS {
        let home = homes.path().join(width.to_string());
        let screens_of = directory.join(width.to_string());
        let hour = Hour { workspace, home, directory: screens_of, width, network };
        let taken = hour.spend()?;
        problems.extend(taken.iter().flat_map(Screen::problems));
        screens.extend(taken);
    }
    let index = directory.join("index.html");
    workspace.shell.write_file(&index, page::page(&screens))?;
    println!("{} screens: {}", screens.len(), index.display());
    for problem in &problems {
        eprintln!("error: {problem}");
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// An hour at a terminal of some width.
struct Hour<'a> {
    workspace: &'a Workspace,
    /// The user's directory.
    home: PathBuf,
    /// Where the screens go.
    directory: PathBuf,
    width: u16,
    network: bool,
}

impl Hour<'_> {
    /// All steps, with the commands that their hints name.
    fn spend(&self) -> Result<Vec<Screen>> {
        for directory in [&self.home, &self.directory] {
            fs::create_dir_all(directory)?;
        }
        let terminal = self.terminal()?;
        let mut screens = Vec::new();
        for step in steps::all(&self.workspace.root) {
            write_files(&step, &self.home)?;
            let screen = self.step(&terminal, &step)?;
            let commands = hints::commands(screen.text());
            screens.push(screen);
            for (number, command) in commands.iter().enumerate() {
                let runs = match hints::download(command) {
                    Download::Nothing => true,
                    Download::Small => self.network,
                    Download::Large => false,
                };
                if runs {
                    screens.push(self.hint(&terminal, &step, &hints::Hint { command, number })?);
                }
            }
        }
        Ok(screens)
    }

    fn terminal(&self) -> Result<Terminal> {
        let programs = self.workspace.target_dir.join("debug");
        let path = self.workspace.shell.var_os("PATH").unwrap_or_default();
        let path = std::iter::once(programs).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(path).map_err(|error| Error::new(error.to_string()))?;
        let variables = vec![
            ("PATH".to_string(), path),
            ("CARGO_NET_OFFLINE".to_string(), "true".into()),
            ("OFFLOAD_CACHE_DIR".to_string(), self.home.join("cache").into()),
            ("OFFLOAD_TOOLCHAIN".to_string(), self.home.join("toolchain").into()),
        ];
        Ok(Terminal::new(&self.home, self.width, variables))
    }

    /// Runs one step and keeps its screen.
    fn step(&self, terminal: &Terminal, step: &Step) -> Result<Screen> {
        println!("{}: {}: {}", self.width, step.name, step.command);
        let shown = terminal.run(&step.command, step.directory)?;
        let screen = Screen::new(step, self.width, shown);
        screen.keep(&self.directory)?;
        Ok(screen)
    }

    /// Runs what a hint says, in a copy of the user's files.
    fn hint(&self, terminal: &Terminal, step: &Step, hint: &hints::Hint<'_>) -> Result<Screen> {
        let copy = self.home.join("copy");
        let package = self.home.join(step.directory);
        self.workspace.shell.remove_path(&copy)?;
        fs::create_dir_all(copy.join(step.directory))?;
        if !step.directory.is_empty() {
            for entry in fs::read_dir(&package)? {
                let path = entry?.path();
                if !path.ends_with("target") {
                    let cp = self.workspace.shell.cmd("cp").arg("-r").arg(&path);
                    cp.arg(copy.join(step.directory)).quiet().run()?;
                }
            }
        }
        let terminal = terminal.elsewhere(&copy, &package.join("target"));
        self.step(&terminal, &hint.step(step))
    }
}
