//! Servers whose workers come to a scheduler, each of other people: what one of them understands otherwise shows here.

use super::alone::{self, Server};
use super::machine::Machine;
use super::project::Package;
use super::rows::{Check, Rows};
use super::servers::{Buildgrid, INSTANCE, Nativelink};
use super::tiers::Compared;
use offload_tests::error::Result;

/// BuildGrid, with workers of ours.
pub(super) fn buildgrid(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let buildgrid = Buildgrid::start(&machine.buildgrid()?, dir.path(), 2)?;
    executes(machine, &Server { name: "BuildGrid", url: &buildgrid.url(), instance: INSTANCE }, rows)
}

/// NativeLink, with its own workers.
pub(super) fn nativelink(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let nativelink = Nativelink::start(&machine.nativelink()?, dir.path(), 2)?;
    executes(machine, &Server { name: "NativeLink", url: &nativelink.url(), instance: INSTANCE }, rows)
}

/// A build that the empty server executes, and one that takes everything from it.
fn executes(machine: &Machine<'_>, server: &Server<'_>, rows: &mut Rows) -> Result<()> {
    let small = Compared::prepare(machine, Package::SMALL, rows)?;
    alone::compile(server, rows)?;
    let Server { name, url, instance } = server;
    let remote = format!("url = \"{url}\", instance = \"{instance}\", execute = true");
    let remote = format!("{remote}, platform = {{ cpu_count = \"1\" }}");
    let same = Check::Same(&small.local);
    let built = small.build(&remote)?;
    rows.build(("executed", name), &built, &[same, Check::Fewer(&small.local), Check::Silent]);
    let built = small.build(&remote)?;
    rows.build(("takes all of it", name), &built, &[same, Check::NoCompiler, Check::Silent]);
    Ok(())
}
