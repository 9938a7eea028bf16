//! Sets that are larger than what a packer should hold: 1 GB and 4 GB, generated, measured, and removed.

use std::path::Path;

use super::entry::Entry;
use super::ours;
use super::peers::Peers;
use super::plan::{Extent, Plan};
use super::sets::{Kind, Set};
use super::tool::{self, Tool};
use crate::error::Result;

/// Names and sizes in bytes.
const SIZES: [(&str, u64); 2] = [("1 GB", 1_000_000_000), ("4 GB", 4_000_000_000)];
const QUICK: [(&str, u64); 1] = [("0.1 GB", 100_000_000)];

pub(super) fn measure((tool, peers): (&Tool, &Peers<'_>), plan: &Plan, dir: &Path) -> Result<Vec<Entry>> {
    let sizes = if plan.extent == Extent::Quick { &QUICK[..] } else { &SIZES };
    let mut entries = Vec::new();
    for (name, bytes) in sizes {
        if plan.wants(name) {
            let dir = tempfile::tempdir_in(dir)?;
            let images = dir.path().join("images");
            tool::output(tool.command("large").arg(bytes.to_string()).arg(&images))?;
            entries.extend(one((tool, peers), (name, &images), dir.path())?);
        }
    }
    Ok(entries)
}

fn one((tool, peers): (&Tool, &Peers<'_>), (name, images): (&str, &Path), dir: &Path) -> Result<Vec<Entry>> {
    // A release build of 4 GB takes an hour, and holds what one of 1 GB holds.
    let modes: &[&str] = if name == "4 GB" { &["fast"] } else { &["fast", "balanced"] };
    let set = Set { name: name.to_string(), kind: Kind::Hip, dir: images.to_path_buf(), modes };
    let mut entries = Vec::new();
    for mode in set.modes {
        let (entry, file) = ours::pack(tool, &set, (mode, dir))?;
        std::fs::remove_file(file)?;
        entries.push(entry);
    }
    entries.extend(peers.packaged(&set)?);
    match free_memory() {
        Some(free) if free < BUNDLER * set.size()? => {
            println!("{name}: too little memory for clang-offload-bundler");
        }
        _ => entries.push(peers.joined(&set)?),
    }
    Ok(entries)
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
