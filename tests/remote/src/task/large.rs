//! A large package: build times with a warm server, and with workers on the same processors.

use std::time::Duration;

use super::machine::Machine;
use super::project::Package;
use super::rows::{Check, Rows};
use super::servers::{Buildbox, Nginx, Serves};
use super::tiers::Compared;
use offload_tests::error::Result;

/// From a warm server, on two processors.
const WARM: Duration = Duration::from_secs(5);
/// With workers on the same processors as the build: of the time without them.
const EXECUTED: f64 = 1.25;
/// The rounds, of which the fastest counts: a busy machine adds noise.
const ROUNDS: usize = 3;

pub(super) fn run(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let large = Compared::prepare(machine, Package::LARGE, rows)?;
    executed(machine, &large, rows)?;
    stored(machine, &large, rows)
}

/// In turns, as machines get slower and faster: without servers, and on an empty server that executes, which is then
/// warm.
fn executed(machine: &Machine<'_>, large: &Compared, rows: &mut Rows) -> Result<()> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let checks = [Check::Same(&large.local), Check::Silent];
    let mut here = Duration::MAX;
    let mut there = Duration::MAX;
    for _ in 0..ROUNDS {
        let built = large.time("")?;
        rows.build(("here", "none"), &built, &checks);
        here = here.min(built.time);
        let dir = tempfile::tempdir()?;
        let server = Buildbox::start(machine.buildbox()?, &dir.path().join("cas"), processors)?;
        let remote = format!("url = \"{}\", execute = true", server.url());
        let built = large.time(&remote)?;
        rows.build(("executed on an empty server", "buildbox"), &built, &checks);
        there = there.min(built.time);
        warm((large, "buildbox"), &remote, rows)?;
    }
    let ratio = there.as_secs_f64() / here.as_secs_f64();
    let row = rows.measured(("executed, of the time here", "buildbox"), there, format!("x {ratio:.2}"));
    let wrong = ratio > EXECUTED || !ratio.is_finite();
    row.refuse(wrong.then(|| format!("it takes {ratio:.2} of the time here, not {EXECUTED}")));
    Ok(())
}

/// Servers that only store.
fn stored(machine: &Machine<'_>, large: &Compared, rows: &mut Rows) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let http = Nginx::start(&dir.path().join("http"), &Serves::Folder)?;
    let standin = machine.standin(&[])?;
    let servers = [
        ("folder", format!("url = \"file://{}\"", dir.path().join("folder").display())),
        ("nginx, HTTP", format!("url = \"http://{}\"", http.address())),
        ("stand-in", format!("url = \"{}\"", standin.url())),
    ];
    for (server, remote) in servers {
        let built = large.time(&remote)?;
        rows.build(("fills the server", server), &built, &[Check::Same(&large.local), Check::Silent]);
        warm((large, server), &remote, rows)?;
    }
    Ok(())
}

fn warm((large, server): (&Compared, &str), remote: &str, rows: &mut Rows) -> Result<()> {
    let same = Check::Same(&large.local);
    let built = large.time(remote)?;
    rows.build(("takes all of it", server), &built, &[same, Check::Silent, Check::Within(WARM)]);
    let built = large.build(remote)?;
    rows.build(("takes all of it, watched", server), &built, &[same, Check::NoCompiler, Check::Silent]);
    Ok(())
}
