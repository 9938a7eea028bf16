//! `bench cold`: what the first build of a new package costs, beside other packages that compile or generate something.
//!
//! CPU seconds count, of cargo and of all that it starts; they vary less than times with what else the machine does.

mod projects;

use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::rebuild::measure;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

use self::projects::Project;

/// CPU seconds that the first build of our package may take.
const MOST: f64 = 45.0;
const RUNS: usize = 3;

/// What a build may take of the CPU seconds of bindgen's.
struct Limit {
    name: &'static str,
    of_bindgen: f64,
}

const LIMITS: [Limit; 2] =
    [Limit { name: projects::DELEGATED, of_bindgen: 1.3 }, Limit { name: projects::PURE, of_bindgen: 1.0 }];

/// The least of several runs.
#[derive(Clone, Copy)]
struct Took {
    cpu: f64,
    wall: f64,
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let runs = match args {
        [] => RUNS,
        [flag] if flag == "--quick" => 1,
        _ => return Err(Error::new("`bench cold` takes `--quick`").hint("cargo xtask bench cold")),
    };
    setup::ensure(workspace, &[setup::BUILD, setup::COLD])?;
    let dir = tempfile::tempdir()?;
    let projects = projects::write(workspace, dir.path())?;
    let mut best: Vec<Option<Took>> = vec![None; projects.len()];
    println!("load before: {}", load());
    for _ in 0..runs {
        // The projects take turns, so that a busy moment of the machine hits all of them.
        for (project, best) in projects.iter().zip(&mut best) {
            let took = build(workspace, project)?;
            eprintln!("{}: {took}", project.name);
            *best = Some(best.map_or(took, |best| if took.cpu < best.cpu { took } else { best }));
        }
    }
    println!("load after: {}", load());
    Ok(report(&projects, &best))
}

/// Builds with nothing there but the sources of all packages.
fn build(workspace: &Workspace, project: &Project) -> Result<Took> {
    let [target, cache] = ["target", "kernel-cache"].map(|name| project.dir.join(name));
    for dir in [&target, &cache] {
        if dir.exists() {
            std::fs::remove_dir_all(dir)?;
        }
    }
    let mut command = cargo(workspace, &project.dir);
    command.args(["build", "--offline", "--quiet"]);
    command.env("CARGO_TARGET_DIR", &target).env("OFFLOAD_CACHE_DIR", &cache);
    command.envs(project.compiler.iter().map(|program| ("OFFLOAD_CARGO_OFFLOAD", program)));
    let sample = measure::timed(&mut command)?;
    let cpu = sample.cpu.ok_or_else(|| Error::new("this system does not count CPU seconds of children"))?;
    Ok(Took { cpu, wall: sample.wall })
}

/// Cargo in the directory of a project, without what the checkout's own build has set.
fn cargo(workspace: &Workspace, dir: &Path) -> Command {
    let mut command = Command::new(workspace.cargo_path());
    command.current_dir(dir);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("OFFLOAD_") || text.starts_with("CARGO_PROFILE_") || text.ends_with("MAKEFLAGS") {
            command.env_remove(&name);
        }
    }
    for name in ["RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_BUILD_TARGET", "CARGO_MANIFEST_DIR"] {
        command.env_remove(name);
    }
    // Packages of a registry are never compiled incrementally; those of the checkout would be, as paths are.
    command.env("CARGO_INCREMENTAL", "0");
    command
}

fn report(projects: &[Project], best: &[Option<Took>]) -> ExitCode {
    let ours = best.first().copied().flatten();
    println!("{:<28} {:>8} {:>8} {:>12}", "first build", "CPU s", "wall s", "ours / this");
    for (project, took) in projects.iter().zip(best) {
        let (Some(took), Some(ours)) = (took, ours) else { continue };
        println!("{:<28} {:>8.1} {:>8.1} {:>12.2}", project.name, took.cpu, took.wall, ours.cpu / took.cpu);
    }
    let is_fast = ours.is_some_and(|ours| ours.cpu <= MOST);
    if !is_fast {
        println!("MISSED: the first build may take {MOST} s of CPU");
    }
    let mut all_met = is_fast;
    for limit in &LIMITS {
        let took = best_of(limit.name, projects, best);
        let bindgen = best_of(projects::BINDGEN_NAME, projects, best);
        let is_met =
            took.zip(bindgen).is_some_and(|(took, bindgen)| took.cpu <= limit.of_bindgen * bindgen.cpu);
        if !is_met {
            println!("MISSED: {} may take {} of bindgen's CPU seconds", limit.name, limit.of_bindgen);
        }
        all_met &= is_met;
    }
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn best_of(name: &str, projects: &[Project], best: &[Option<Took>]) -> Option<Took> {
    let place = projects.iter().position(|project| project.name == name)?;
    best.get(place).copied().flatten()
}

/// How busy the machine has been for a minute: what else runs makes CPU seconds longer, where cores share caches.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_string()
}

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} s of CPU, {:.1} s", self.cpu, self.wall)
    }
}
