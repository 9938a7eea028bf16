//! Time and memory of the passes of the work-group compiler, unoptimised as in build scripts, on modules of doubling size.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::Measured;

use crate::rebuild::measure;
use crate::rebuild::plan::Plan;
use crate::rebuild::report::verdict;
use offload_tests::error::{Error, Result};
use offload_tests::kernel_module::{KernelModule, Shape};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// What doubles.
#[derive(Clone, Copy, Debug)]
enum Growth {
    Kernels,
    Statements,
}

/// Lines of IR that a kernel of [`SHAPE`] has, about.
const LINES: usize = 80;
const SHAPE: Shape = Shape { seed: 1, kernels: 1, statements: 12, barriers: 1, calls: 1 };
/// The limits of what doubling costs, and of memory for each byte of IR.
const MOST_TIME: f64 = 2.2;
const MOST_MEMORY: f64 = 10.0;

/// The programs.
struct Tools {
    clang: PathBuf,
    link: PathBuf,
    passes: PathBuf,
    shim: PathBuf,
    dir: PathBuf,
}

/// One module, and what the passes cost.
struct Cost {
    lines: usize,
    bytes: u64,
    seconds: f64,
    peak: u64,
}

pub(super) fn run(workspace: &Workspace, dir: &Path, plan: &Plan) -> Result<Measured> {
    let tools = Tools::prepare(workspace, dir)?;
    let most = if plan.is_quick() { 16_000 } else { 512_000 };
    let mut rows = Vec::new();
    let mut is_met = true;
    for (growth, most) in [(Growth::Kernels, most), (Growth::Statements, most / 32)] {
        let mut before: Option<Cost> = None;
        let mut lines = most / 8;
        while lines <= most {
            let cost = tools.measure(growth.shape(lines))?;
            is_met &= print(growth, &cost, before.as_ref());
            rows.push(json!({
                "growth": format!("{growth:?}"), "lines": cost.lines, "bytes": cost.bytes,
                "seconds": cost.seconds, "peak": cost.peak,
            }));
            before = Some(cost);
            lines *= 2;
        }
    }
    Ok(Measured { samples: Value::Array(rows), is_met })
}

impl Growth {
    /// The shape of a module of about this many lines.
    fn shape(self, lines: usize) -> Shape {
        let times = lines / LINES;
        match self {
            Growth::Kernels => Shape { kernels: times, ..SHAPE },
            Growth::Statements => Shape {
                statements: SHAPE.statements * times,
                barriers: SHAPE.barriers * times,
                calls: SHAPE.calls * times,
                ..SHAPE
            },
        }
    }
}

/// Prints what a module costs, and returns whether the limits are met.
fn print(growth: Growth, cost: &Cost, before: Option<&Cost>) -> bool {
    let memory = cost.peak as f64 / cost.bytes as f64;
    let mut is_met = memory <= MOST_MEMORY;
    let mut doubled = String::new();
    if let Some(before) = before {
        // Modules do not double exactly.
        let lines = cost.lines as f64 / before.lines as f64;
        let ratio = cost.seconds / before.seconds * 2.0 / lines;
        doubled = format!(", doubling costs {ratio:.2} times, {}", verdict(ratio <= MOST_TIME));
        is_met &= ratio <= MOST_TIME;
    }
    println!(
        "passes, {growth:?} double: {:>6} lines, {:>6.2} s{doubled}, {memory:.1} bytes for each of IR, {}",
        cost.lines,
        cost.seconds,
        verdict(memory <= MOST_MEMORY)
    );
    is_met
}

impl Tools {
    fn prepare(workspace: &Workspace, dir: &Path) -> Result<Tools> {
        let llvm = |name| {
            setup::llvm(workspace, name)
                .ok_or_else(|| Error::new(format!("`{name}` is not installed")).hint("cargo xtask setup"))
        };
        let mut build = workspace.cargo();
        build = build.args(["build", "--quiet", "--package", "offload-workgroup", "--example", "workgroup"]);
        build.run()?;
        Ok(Tools {
            clang: llvm("clang")?,
            link: llvm("llvm-link")?,
            passes: workspace.target_dir.join("debug/examples/workgroup"),
            shim: workspace.root.join("offload-build/src/compile/device/host_shim.c"),
            dir: workspace.shell.create_dir(dir.join("passes"))?,
        })
    }

    /// The fastest of three runs of the passes.
    fn measure(&self, shape: Shape) -> Result<Cost> {
        let module = self.work_items(&KernelModule::generate(shape).source())?;
        let text = std::fs::read_to_string(&module)?;
        let mut cost =
            Cost { lines: text.lines().count(), bytes: text.len() as u64, seconds: f64::INFINITY, peak: 0 };
        let peak = self.dir.join("peak");
        for _ in 0..3 {
            let mut time = Command::new("time");
            time.args(["-f", "%M", "-o"]).arg(&peak).arg(&self.passes).arg(&module).stdout(Stdio::null());
            let start = Instant::now();
            let status = time.status()?;
            if !status.success() {
                return Err(Error::new(format!("`{time:?}`: {status}")));
            }
            cost.seconds = cost.seconds.min(start.elapsed().as_secs_f64());
            let printed = std::fs::read_to_string(&peak)?;
            let kib: u64 = printed
                .trim()
                .parse()
                .map_err(|_| Error::new(format!("`time` says {printed:?} of memory")))?;
            cost.peak = kib.saturating_mul(1024);
        }
        Ok(cost)
    }

    /// The functions of one work-item, as the flow of `host` gives them to the passes.
    fn work_items(&self, source: &str) -> Result<PathBuf> {
        let [cl, kernels, shim, linked, prepared, optimised] =
            ["m.cl", "kernels.ll", "shim.ll", "linked.ll", "prepared.ll", "optimised.ll"]
                .map(|name| self.dir.join(name));
        std::fs::write(&cl, source)?;
        let common = ["-fPIC", "-fvisibility=hidden", "-S", "-emit-llvm", "-o"];
        let front_end = ["-O2", "-Xclang", "-disable-llvm-passes"];
        measure::run(
            self.clang()
                .args(["-x", "cl", "-cl-std=CL1.2"])
                .args(front_end)
                .args(common)
                .arg(&kernels)
                .arg(&cl),
        )?;
        measure::run(
            self.clang()
                .args(["-x", "c", "-std=c11", "-ffreestanding"])
                .args(front_end)
                .args(common)
                .arg(&shim)
                .arg(&self.shim),
        )?;
        measure::run(Command::new(&self.link).args(["-S", "-o"]).arg(&linked).args([&kernels, &shim]))?;
        let text = measure::output(Command::new(&self.passes).arg("--prepare").arg(&linked))?;
        std::fs::write(&prepared, text)?;
        let passes = ["-x", "ir", "-O2", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"];
        measure::run(self.clang().args(passes).args(common).arg(&optimised).arg(&prepared))?;
        Ok(optimised)
    }

    fn clang(&self) -> Command {
        Command::new(&self.clang)
    }
}
