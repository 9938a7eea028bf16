//! The table, what was wanted, and the file with the raw samples.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde_json::{Value, json};

use super::measure::{Samples, Scenario};
use super::plan::{BuildScripts, Plan};
use super::trace::Counts;
use offload_tests::error::Result;
use offload_tests::processes::Processes;
use offload_tests::setup;
use offload_tests::workspace::Workspace;

const SIDES: [&str; 4] = ["ours", "ninja", "ninja+ccache", "no kernels"];

/// Writes the samples with what they were measured on.
pub(super) fn write(
    workspace: &Workspace,
    plan: &Plan,
    (samples, counts): (&Samples, &Counts),
    modules: &Value,
) -> Result<()> {
    let rows = Scenario::ALL
        .into_iter()
        .flat_map(|scenario| SIDES.into_iter().map(move |side| row(scenario, side, (samples, counts))));
    let text = json!({
        "command": "cargo xtask bench rebuild",
        "files": plan.files,
        "targets": plan.targets,
        "jobs": plan.jobs,
        "build_scripts": if plan.build_scripts == BuildScripts::Tuned { "opt-level 3" } else { "default" },
        "cpu": cpu(),
        "tools": tools(workspace, &["clang", "ld.lld"]),
        "results": rows.collect::<Vec<_>>(),
        "large_modules": modules,
    });
    let path = workspace.target_dir.join("bench/rebuild.json");
    workspace.shell.write_file(&path, format!("{text:#}\n"))?;
    println!("raw samples: {}", path.display());
    Ok(())
}

fn row(scenario: Scenario, side: &str, (samples, counts): (&Samples, &Counts)) -> Value {
    let samples = samples.get(scenario, side);
    let counted = counts.get(scenario, side);
    json!({
        "scenario": scenario.to_string(),
        "side": side,
        "wall_s": samples.iter().map(|sample| sample.wall).collect::<Vec<_>>(),
        "cpu_s": samples.iter().map(|sample| sample.cpu).collect::<Vec<_>>(),
        "device_compilers": counted.map(|counts| counts.compilers),
        "device_linkers": counted.map(|counts| counts.linkers),
    })
}

/// Prints everything; fails if a compiler ran where none is needed, or a time misses its limit.
pub(super) fn print(plan: &Plan, samples: &Samples, counts: &Counts) -> ExitCode {
    println!(
        "{} files, {} AMD targets, {} images, {} jobs",
        plan.files,
        plan.targets.len(),
        plan.images(),
        plan.jobs
    );
    println!(
        "seconds: fastest / median by the clock, median of all processors; ratio of the fastest to ours"
    );
    for scenario in Scenario::ALL {
        for side in SIDES {
            println!("{}", line(scenario, side, (samples, counts)));
        }
    }
    let is_fast = print_limits(plan, samples);
    let exact = [Scenario::Unchanged, Scenario::NewProfile]
        .into_iter()
        .all(|scenario| counts.get(scenario, "ours").is_some_and(|found| found.compilers == 0));
    println!("no compiler runs for an unchanged build and for a new profile: {}", verdict(exact));
    if exact && is_fast { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn line(scenario: Scenario, side: &str, (samples, counts): (&Samples, &Counts)) -> String {
    let fastest = samples.fastest(scenario, side);
    let cpu = samples.median_cpu(scenario, side).map_or("-".to_string(), |cpu| format!("{cpu:.2}"));
    let processes =
        counts.get(scenario, side).map_or(String::new(), |Processes { compilers, linkers, .. }| {
            format!("  {compilers} compilers, {linkers} linkers")
        });
    format!(
        "{scenario:<17} {side:<13} {fastest:>7.2} / {:>6.2}  cpu {cpu:>6}  x{:.2}{processes}",
        samples.median(scenario, side),
        fastest / samples.fastest(scenario, "ours")
    )
}

/// Whether all limits of times are met.
fn print_limits(plan: &Plan, samples: &Samples) -> bool {
    let full = samples.fastest(Scenario::Full, "ours");
    let ratio = samples.fastest(Scenario::Full, "ninja") / full;
    let least = plan.least_speed();
    println!("full build at least {least} times as fast as ninja: {ratio:.2}, {}", verdict(ratio >= least));
    // A busy machine stretches the clock of one side more than that of the other; work done is work done.
    let cpu = ["ours", "ninja"].map(|side| samples.median_cpu(Scenario::Full, side));
    if let [Some(ours), Some(ninja)] = cpu {
        println!("the same by the time of all processors: {:.2}", ninja / ours);
    }
    let changed = samples.fastest(Scenario::OneChanged, "ours");
    let limit = full / plan.files as f64 + 0.3;
    println!("one of {} changed in {limit:.2} s: {changed:.2} s, {}", plan.files, verdict(changed <= limit));
    let over =
        samples.fastest(Scenario::Unchanged, "ours") - samples.fastest(Scenario::Unchanged, "no kernels");
    println!("unchanged at most 0.1 s over no kernels: {over:+.3} s, {}", verdict(over <= 0.1));
    ratio >= least && changed <= limit && over <= 0.1
}

pub(super) fn verdict(good: bool) -> &'static str {
    if good { "yes" } else { "NO" }
}

/// The processor's name for itself.
pub(crate) fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// The line in which each tool, and each of the programs of LLVM, tells its version.
pub(crate) fn tools(workspace: &Workspace, llvm: &[&'static str]) -> Value {
    let found = [
        ("cargo", Some(workspace.cargo_path().to_path_buf())),
        ("rustc", workspace.program("rustc")),
        ("ninja", workspace.program("ninja")),
        ("ccache", workspace.program("ccache")),
    ];
    let llvm = llvm.iter().map(|name| (*name, setup::llvm(workspace, name)));
    found
        .into_iter()
        .chain(llvm)
        .map(|(name, path)| (name.to_string(), json!(path.and_then(version))))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The line with its version that a program prints.
fn version(program: PathBuf) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Some of LLVM's tools begin with the address of the project.
    let line = text.lines().find(|line| line.contains("version")).or(text.lines().next())?;
    Some(line.trim().to_string())
}
