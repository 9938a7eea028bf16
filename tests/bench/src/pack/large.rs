//! Sets that are larger than what a packer should hold: 1 GB and 4 GB, generated, measured, and removed.

use std::path::Path;

use super::cost::Cost;
use super::ours;
use super::peers::Peers;
use super::plan::{Extent, Plan};
use super::sets::{Kind, Set};
use super::tool::Tool;
use crate::rebuild::measure::output;
use offload_tests::error::Result;

/// Names and sizes in bytes.
const SIZES: [(&str, u64); 2] = [("4 GB", 4_000_000_000), ("1 GB", 1_000_000_000)];
const QUICK: [(&str, u64); 1] = [("0.1 GB", 100_000_000)];

/// Adds what was measured as soon as it is known: the last ones take minutes.
pub(super) fn measure(
    (tool, peers): (&Tool, &Peers<'_>),
    (plan, dir): (&Plan, &Path),
    add: &mut dyn FnMut(Cost),
) -> Result<()> {
    let sizes = if plan.extent == Extent::Quick { &QUICK[..] } else { &SIZES };
    for (name, bytes) in sizes {
        if plan.wants(name) {
            let dir = tempfile::tempdir_in(dir)?;
            let images = dir.path().join("images");
            output(tool.command("large").arg(bytes.to_string()).arg(&images))?;
            let set = Set { name: name.to_string(), kind: Kind::Hip, dir: images, modes: &[] };
            one((tool, peers), (&set, dir.path()), add)?;
        }
    }
    Ok(())
}

fn one(
    (tool, peers): (&Tool, &Peers<'_>),
    (set, dir): (&Set, &Path),
    add: &mut dyn FnMut(Cost),
) -> Result<()> {
    add(fastest(|| pack(tool, set, "fast", dir))?);
    peers.packaged(set)?.into_iter().for_each(&mut *add);
    match free_memory() {
        Some(free) if free < BUNDLER * set.size()? => {
            println!("{}: too little memory for clang-offload-bundler", set.name);
        }
        _ => add(peers.joined(set)?),
    }
    add(pack(tool, set, "balanced", dir)?);
    // LZMA of 4 GB takes half an hour.
    if set.name != "4 GB" {
        add(pack(tool, set, "archive", dir)?);
    }
    Ok(())
}

/// Packs a set, and removes the pack.
fn pack(tool: &Tool, set: &Set, mode: &str, dir: &Path) -> Result<Cost> {
    let (cost, file) = ours::pack(tool, set, (mode, dir))?;
    std::fs::remove_file(file)?;
    Ok(cost)
}

/// How often what takes seconds is measured.
const RUNS: usize = 3;

/// The least time of a few runs, because noise of a busy machine only adds time, and the most memory.
fn fastest(run: impl Fn() -> Result<Cost>) -> Result<Cost> {
    let mut best = run()?;
    for _ in 1..RUNS {
        let cost = run()?;
        let peak = best.peak.max(cost.peak);
        best = if cost.seconds < best.seconds { cost } else { best };
        best.peak = peak;
    }
    Ok(best)
}

/// How many times the images the bundler may hold.
const BUNDLER: u64 = 4;

/// What the system could give a process, in bytes (<https://man7.org/linux/man-pages/man5/proc_meminfo.5.html>).
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_least_time_and_the_most_memory_count() {
        let runs = Cell::new(0);
        let cost = fastest(|| {
            let (seconds, peak) = [(3.0, 10), (1.0, 30), (2.0, 40)][runs.get()];
            runs.set(runs.get() + 1);
            Ok(Cost { set: "s".into(), who: "us".into(), raw: 9, bytes: 5, index: 0, seconds, peak })
        })
        .unwrap();
        assert_eq!((cost.seconds, cost.peak, runs.get()), (1.0, 40, RUNS));
    }
}
