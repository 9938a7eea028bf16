//! Packs whose compression takes longer than anything else: frames are shared through the remote cache.

use super::faults;
use super::machine::Machine;
use super::project::Package;
use super::rows::{Check, Rows};
use super::tiers::Compared;
use offload_tests::error::Result;

pub(super) fn run(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let tables = Compared::prepare(machine, Package::Tables, rows)?;
    let standin = machine.standin(&[])?;
    let remote = faults::executes(&standin);
    let checks = [Check::Same(&tables.local), Check::Silent];
    let built = tables.build(&remote)?;
    let counts = standin.counts()?;
    let row = rows.build(("compressed on an empty server", "stand-in"), &built, &checks);
    row.found(&faults::figures(&counts));

    standin.forget()?;
    let built = tables.build(&remote)?;
    let counts = standin.counts()?;
    let row = rows.build(("frames from the server", "stand-in"), &built, &checks);
    let again = (counts.hits == 0).then(|| "it is compressed again".to_string());
    row.found(&faults::figures(&counts)).refuse(again);
    faults::changed((&tables, &standin), &remote, rows)
}
