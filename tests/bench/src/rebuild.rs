//! `bench rebuild`: what an edit costs, here and with ninja driving clang once for each file and target.

pub(super) mod kernels;
pub(super) mod measure;
mod modules;
pub(super) mod ninja;
mod ours;
pub(super) mod plan;
pub(super) mod report;
mod trace;
mod verify;

use std::process::ExitCode;

use self::kernels::Kernels;
use self::measure::{Samples, Scenario, Side};
use self::ninja::{CompilerCache, Ninja};
use self::ours::{Ours, Plain};
use self::plan::Plan;
use self::trace::Counts;
use offload_tests::error::Result;
use offload_tests::setup;
use offload_tests::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let plan = Plan::parse(args)?;
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::BENCH])?;
    let dir = workspace.shell.create_dir(workspace.target_dir.join("bench/rebuild"))?;
    if plan.modules_alone {
        workspace.shell.create_dir(dir.join("kernels"))?;
        let measured = modules::run(workspace, &dir, &plan)?;
        workspace.shell.write_file(dir.join("modules.json"), format!("{:#}\n", measured.samples))?;
        return Ok(if measured.is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let kernels = Kernels::write(&dir.join("kernels"), &plan)?;
    let ours = Ours::prepare(workspace, &dir, &plan)?;
    let plain = Plain::beside(&ours);
    let ninja = Ninja::prepare(workspace, &dir, (&plan, CompilerCache::None))?;
    let ccache = Ninja::prepare(workspace, &dir, (&plan, CompilerCache::Ccache))?;
    let sides: [&dyn Side; 4] = [&ours, &ninja, &ccache, &plain];
    let samples = measure(&plan, &kernels, &sides)?;
    let counts = count(&plan, &kernels, &sides)?;
    verify::images(workspace, &plan, (&ours, &ninja))?;
    let modules = modules::run(workspace, &dir, &plan)?;
    report::write(workspace, &plan, (&samples, &counts), &modules.samples)?;
    let printed = report::print(&plan, &samples, &counts);
    Ok(if modules.is_met { printed } else { ExitCode::FAILURE })
}

/// The sides take turns, so that a busy moment of the machine hits all of them.
fn measure(plan: &Plan, kernels: &Kernels, sides: &[&dyn Side]) -> Result<Samples> {
    let mut samples = Samples::default();
    for scenario in Scenario::ALL {
        for run in 0..plan.runs(scenario) {
            prepare(scenario, kernels, sides)?;
            for side in sides {
                let sample = measure::sample(*side, scenario)?;
                eprintln!("{scenario} {}, {}: {:.2} s", run + 1, side.name(), sample.wall);
                samples.add(scenario, *side, sample);
            }
        }
    }
    Ok(samples)
}

/// The same once more under a tracer, which would disturb the times.
fn count(plan: &Plan, kernels: &Kernels, sides: &[&dyn Side]) -> Result<Counts> {
    let mut counts = Counts::default();
    // A full build starts as many processes as it has steps; tracing them all takes its time.
    let scenarios = Scenario::ALL.into_iter().filter(|scenario| plan.counts(*scenario));
    for scenario in scenarios {
        prepare(scenario, kernels, sides)?;
        for side in sides {
            counts.add(scenario, *side, trace::processes(*side, scenario)?);
        }
    }
    Ok(counts)
}

fn prepare(scenario: Scenario, kernels: &Kernels, sides: &[&dyn Side]) -> Result<()> {
    match scenario {
        Scenario::Full => sides.iter().try_for_each(|side| side.forget_everything()),
        Scenario::OneChanged => kernels.edit_next(),
        Scenario::Unchanged => Ok(()),
        Scenario::NewProfile => sides.iter().try_for_each(|side| side.forget_second_profile()),
    }
}
