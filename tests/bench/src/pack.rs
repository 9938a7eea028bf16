//! `bench pack`: what packs take, here and with what others do with the same images.

mod cost;
mod large;
mod limits;
mod one;
mod ours;
mod own;
mod peers;
mod plan;
mod report;
mod sets;
mod tool;

use std::path::Path;
use std::process::ExitCode;

use self::cost::Cost;
use self::peers::Peers;
use self::plan::Plan;
use self::sets::Set;
use self::tool::Tool;
use offload_tests::error::Result;
use offload_tests::setup;
use offload_tests::workspace::Workspace;

pub(super) const HELP: &str =
    "bench pack [--quick] [--json FILE] [--wheel NAME==VERSION ...] [--set NAME ...]";

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let plan = Plan::parse(args)?;
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::BENCH, setup::BUNDLER])?;
    let dir = workspace.shell.create_dir(workspace.target_dir.join("bench/pack"))?;
    let tool = Tool::build(workspace)?;
    let sets = sets::prepare(workspace, &plan, &tool)?;
    let work = tempfile::tempdir_in(&dir)?;
    let peers = Peers::find(workspace, &tool, work.path())?;
    let mut costs = Vec::new();
    for set in &sets {
        measure((&tool, &peers), (set, work.path()), &mut costs)?;
    }
    large::measure((&tool, &peers), (&plan, work.path()), &mut |cost| add(&mut costs, cost))?;
    let judged = limits::judge(&limits::all(), &costs);
    report::write(workspace, &plan, (&costs, &judged))?;
    Ok(report::print(&costs, &judged))
}

/// Peers and our modes on one set; one of the sets is read image by image as well.
fn measure(
    (tool, peers): (&Tool, &Peers<'_>),
    (set, work): (&Set, &Path),
    costs: &mut Vec<Cost>,
) -> Result<()> {
    for cost in peers.measure(set)? {
        add(costs, cost);
    }
    for mode in set.modes {
        let (cost, pack) = ours::pack(tool, set, (mode, work))?;
        add(costs, cost);
        if set.name == sets::HIP && *mode == "balanced" {
            for cost in one::measure((tool, peers), set, (&pack, work))? {
                add(costs, cost);
            }
        }
    }
    Ok(())
}

/// A long run says how far it is.
fn add(costs: &mut Vec<Cost>, cost: Cost) {
    let Cost { set, who, bytes, seconds, peak, .. } = &cost;
    eprintln!("{set}, {who}: {bytes} bytes, {seconds:.3} s, {} MiB", peak >> 20);
    costs.push(cost);
}
