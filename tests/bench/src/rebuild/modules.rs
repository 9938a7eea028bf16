//! Large modules for the target `host`, beside clang on the same file: all kernels, an edit of one, and the passes of the
//! work-group compiler on modules of doubling size.

mod passes;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::measure::{self, Profile, Sample};
use super::ours::{Package, write_workspace};
use super::plan::Plan;
use crate::median;
use offload_tests::error::{Error, Result};
use offload_tests::kernel_module::{KernelModule, Shape};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// Kernels of one statement.
const SMALL: Shape = Shape { seed: 1, kernels: 1000, statements: 1, barriers: 0, calls: 0 };

/// What happened before a build, or what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scenario {
    Full,
    OneEdited,
    /// The build script runs, and everything is in the cache: what cargo and rustc cost.
    Cached,
    Clang,
}

impl Scenario {
    const ALL: [Scenario; 4] = [Scenario::Full, Scenario::OneEdited, Scenario::Cached, Scenario::Clang];

    fn name(self) -> &'static str {
        match self {
            Scenario::Full => "all kernels",
            Scenario::OneEdited => "one kernel edited",
            Scenario::Cached => "nothing to compile",
            Scenario::Clang => "clang -O2 -c",
        }
    }
}

/// The package with the module.
struct LargeModule {
    package: Package,
    source: PathBuf,
    clang: PathBuf,
}

/// Raw samples, and whether every limit is met.
pub(super) struct Measured {
    pub(super) samples: Value,
    pub(super) is_met: bool,
}

/// Measures and prints.
pub(super) fn run(workspace: &Workspace, dir: &Path, plan: &Plan) -> Result<Measured> {
    let shape = if plan.is_quick() { Shape { kernels: 250, ..SMALL } } else { SMALL };
    let large = LargeModule::prepare(workspace, dir, plan)?;
    let mut module = KernelModule::generate(shape);
    let mut samples = [(); Scenario::ALL.len()].map(|()| Vec::new());
    for run in 0..plan.runs(super::measure::Scenario::Full) {
        for (scenario, samples) in Scenario::ALL.into_iter().zip(&mut samples) {
            // Each time another kernel, and another constant.
            module.edit(run.saturating_mul(7) % shape.kernels);
            let sample = large.sample(scenario, &module)?;
            eprintln!("{}, {}: {:.2} s", shape.kernels, scenario.name(), sample.wall);
            samples.push(sample);
        }
    }
    let is_met = print(shape, &samples);
    let rows = Scenario::ALL.into_iter().zip(&samples).map(|(scenario, samples)| {
        let wall: Vec<f64> = samples.iter().map(|sample| sample.wall).collect();
        let cpu: Vec<Option<f64>> = samples.iter().map(|sample| sample.cpu).collect();
        json!({ "kernels": shape.kernels, "scenario": scenario.name(), "wall_s": wall, "cpu_s": cpu })
    });
    let passes = passes::run(workspace, dir, plan)?;
    let samples = json!({ "modules": rows.collect::<Vec<_>>(), "passes": passes.samples });
    Ok(Measured { samples, is_met: is_met && passes.is_met })
}

impl LargeModule {
    /// Writes the package, and builds all that it depends on.
    fn prepare(workspace: &Workspace, dir: &Path, plan: &Plan) -> Result<LargeModule> {
        let root = dir.join("modules");
        write_workspace(workspace, &root, plan, &["host".to_string()], &["large".to_string()])?;
        let package = Package {
            name: "app",
            cargo: workspace.cargo_path().to_path_buf(),
            target: root.join("target"),
            cache: dir.join("modules-cache"),
            dir: root,
            jobs: plan.jobs,
        };
        let source = dir.join("kernels/large.cl");
        let clang = setup::llvm(workspace, "clang")
            .ok_or_else(|| Error::new("`clang` is not installed").hint("cargo xtask setup"))?;
        let large = LargeModule { package, source, clang };
        large.write(&KernelModule::generate(Shape { kernels: 1, ..SMALL }))?;
        measure::run(&mut large.package.build(Profile::Second))?;
        Ok(large)
    }

    fn write(&self, module: &KernelModule) -> Result<()> {
        Ok(std::fs::write(&self.source, module.source())?)
    }

    fn sample(&self, scenario: Scenario, module: &KernelModule) -> Result<Sample> {
        match scenario {
            Scenario::Full => self.package.forget_results()?,
            Scenario::Cached => {
                // As the edit left it.
                let script = self.package.dir.join("app/build.rs");
                std::fs::write(&script, std::fs::read(&script)?)?;
                return measure::timed(&mut self.package.build(Profile::Second));
            }
            Scenario::OneEdited | Scenario::Clang => {}
        }
        self.write(module)?;
        if scenario != Scenario::Clang {
            return measure::timed(&mut self.package.build(Profile::Second));
        }
        let mut clang = Command::new(&self.clang);
        clang.args(["-O2", "-x", "cl", "-cl-std=CL1.2", "-c", "-o", "/dev/null"]).arg(&self.source);
        measure::timed(&mut clang)
    }
}

/// Prints what kernels cost, without what a build costs that compiles none, and returns whether the limits are met.
fn print(shape: Shape, samples: &[Vec<Sample>; Scenario::ALL.len()]) -> bool {
    let wall = samples.each_ref().map(|samples| median(samples.iter().map(|one| one.wall).collect()));
    let cpu = samples.each_ref().map(|samples| median(samples.iter().filter_map(|one| one.cpu).collect()));
    for (scenario, (wall, cpu)) in Scenario::ALL.into_iter().zip(wall.into_iter().zip(cpu)) {
        println!(
            "{} kernels for `host`: {:<18} {wall:>7.2} s, {cpu:>7.2} s of CPU",
            shape.kernels,
            scenario.name()
        );
    }
    let mut is_met = true;
    for (unit, [full, edited, cached, clang]) in [("s", wall), ("s of CPU", cpu)] {
        let ratio = (full - cached) / clang;
        let part = (edited - cached) / (full - cached);
        println!(
            "all within 3 times of clang -O2: {ratio:.2} times ({unit}), {}; an edit at most a fifth of all: {part:.3}, {}",
            super::report::verdict(ratio <= 3.0),
            super::report::verdict(part <= 0.2)
        );
        is_met &= ratio <= 3.0 && part <= 0.2;
    }
    is_met
}
