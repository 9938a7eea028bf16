//! `bench pack`: what packs take, here and with what others do with the same images.

mod entry;
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

use self::entry::Entry;
use self::limits::LIMITS;
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
    let mut entries = Vec::new();
    for set in &sets {
        measure((&tool, &peers), (set, work.path()), &mut entries)?;
    }
    large::measure((&tool, &peers), (&plan, work.path()), &mut |entry| add(&mut entries, entry))?;
    let judged = limits::judge(&LIMITS, &entries);
    report::write(workspace, &plan, (&entries, &judged))?;
    Ok(report::print(&entries, &judged))
}

/// Peers and our modes on one set; one of the sets is read image by image as well.
fn measure(
    (tool, peers): (&Tool, &Peers<'_>),
    (set, work): (&Set, &Path),
    entries: &mut Vec<Entry>,
) -> Result<()> {
    for entry in peers.measure(set)? {
        add(entries, entry);
    }
    for mode in set.modes {
        let (entry, pack) = ours::pack(tool, set, (mode, work))?;
        add(entries, entry);
        if set.name == sets::HIP && *mode == "balanced" {
            for entry in one::measure((tool, peers), set, (&pack, work))? {
                add(entries, entry);
            }
        }
    }
    Ok(())
}

/// A long run says how far it is.
fn add(entries: &mut Vec<Entry>, entry: Entry) {
    let Entry { set, who, bytes, seconds, peak, .. } = &entry;
    eprintln!("{set}, {who}: {bytes} bytes, {seconds:.3} s, {} MiB", peak >> 20);
    entries.push(entry);
}
