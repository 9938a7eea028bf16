//! Servers that die, hang, are slow or full, lie, or are not who they should be. Whatever they do, the build succeeds with
//! the bytes of a build without them, and says why.

mod lies;
mod network;
mod strangers;

use std::process::Command;
use std::time::Duration;

use super::machine::{Machine, skip};
use super::project::Package;
use super::rows::{Check, Rows};
use super::servers::{Buildbox, Standin};
use super::tiers::Compared;
use offload_remote_tests::standin::Counts;
use offload_tests::error::Result;

pub(super) use self::lies::changed;

/// At so many of the calls of a build the server dies.
const DEATHS: u64 = 20;
/// A server that says nothing holds up a build no longer than this: its own timeout is 2 s here, three requests fail
/// before it is left alone, and two front ends run here meanwhile.
const HELD_UP: Duration = Duration::from_secs(60);

pub(super) fn run(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let mut small = Compared::prepare(machine, Package::SMALL, rows)?;
    deaths((&small, machine), rows)?;
    slow((&small, machine), rows)?;
    full((&small, machine), rows)?;
    full_disk((&small, machine), rows)?;
    lies::run((&small, machine), rows)?;
    network::run((&mut small, machine), rows)?;
    strangers::run((&small, machine), rows)
}

/// Settings that only store.
pub(super) fn stores(standin: &Standin) -> String {
    format!("url = \"{}\", timeout = 2", standin.url())
}

/// Settings that execute.
pub(super) fn executes(standin: &Standin) -> String {
    format!("{}, execute = true", stores(standin))
}

/// The counters of a stand-in, for the table.
pub(super) fn figures(counts: &Counts) -> String {
    let Counts { calls, gets, hits, worked, received, sent, .. } = counts;
    format!("{calls} calls, {hits} of {gets} hits, {worked} executed, {received} B in, {sent} B out")
}

/// The failure of a row of execution without any remote action.
pub(super) fn idle(counts: &Counts) -> Option<String> {
    (counts.worked == 0).then(|| "no worker did anything".to_string())
}

fn deaths((small, machine): (&Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    let standin = machine.standin(&[])?;
    let built = small.build(&executes(&standin))?;
    let counts = standin.counts()?;
    let checks = [Check::Same(&small.local), Check::Fewer(&small.local), Check::Silent];
    let row = rows.build(("executed on an empty server", "stand-in"), &built, &checks);
    row.found(&figures(&counts)).refuse(idle(&counts));
    for point in 0..DEATHS {
        let call = 1 + point * counts.calls.saturating_sub(1) / DEATHS;
        let mut standin = machine.standin(&[&format!("dies={call}")])?;
        death((small, &mut standin), call, rows)?;
    }
    Ok(())
}

/// A build whose server dies at a call.
pub(super) fn death((small, standin): (&Compared, &mut Standin), call: u64, rows: &mut Rows) -> Result<()> {
    let built = small.build(&executes(standin))?;
    // Which calls there are depends on which worker is free: some builds have fewer.
    let expected = if standin.lives()? { Check::Silent } else { Check::Warned };
    let what = format!("the server dies at call {call}");
    rows.build((&what, "stand-in"), &built, &[Check::Same(&small.local), expected, Check::Within(HELD_UP)]);
    Ok(())
}

fn slow((small, machine): (&Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    let standin = machine.standin(&["delay=500"])?;
    for what in ["500 ms for each call", "500 ms for each call, warm"] {
        let built = small.build(&executes(&standin))?;
        let checks = [Check::Same(&small.local), Check::Silent, Check::Within(HELD_UP)];
        rows.build((what, "stand-in"), &built, &checks);
    }
    Ok(())
}

/// Nothing can be uploaded: results neither stored nor made there.
pub(super) fn full((small, machine): (&Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    let standin = machine.standin(&["full"])?;
    for (what, remote) in [("full, stores", stores(&standin)), ("full, executes", executes(&standin))] {
        let built = small.build(&remote)?;
        rows.build((what, "stand-in"), &built, &[Check::Same(&small.local), Check::Warned]);
    }
    Ok(())
}

/// buildbox on a file system of half a megabyte.
fn full_disk((small, machine): (&Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    if !machine.workspace.is_root() {
        return skip("a full disk needs root, who may mount one");
    }
    let dir = tempfile::tempdir()?;
    let disk = Disk::mount(dir.path())?;
    let server = Buildbox::start(machine.buildbox()?, &dir.path().join("cas"), 2)?;
    for (what, more) in [("full disk, stores", ""), ("full disk, executes", ", execute = true")] {
        let built = small.build(&format!("url = \"{}\", timeout = 2{more}", server.url()))?;
        rows.build((what, "buildbox"), &built, &[Check::Same(&small.local), Check::Warned]);
    }
    drop(server);
    drop(disk);
    Ok(())
}

/// A small file system in memory.
struct Disk(std::path::PathBuf);

impl Disk {
    fn mount(dir: &std::path::Path) -> Result<Disk> {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=512k", "tmpfs"]).arg(dir).status()?;
        if !mounted.success() {
            return Err(offload_tests::error::Error::new("a file system in memory cannot be mounted"));
        }
        Ok(Disk(dir.to_path_buf()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--lazy", "--recursive"]).arg(&self.0).status();
    }
}
