//! Quick run of less than a minute: a package on the stand-in, and four faults.

use super::alone::{self, Server};
use super::faults;
use super::machine::Machine;
use super::project::Package;
use super::rows::{Check, Rows};
use super::tiers::Compared;
use offload_tests::error::Result;

pub(super) fn run(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    let small = Compared::prepare(machine, Package::SMALL, rows)?;
    let standin = machine.standin(&[])?;
    let server = Server { name: "stand-in", url: &standin.url(), instance: "" };
    alone::compile(&server, rows)?;
    small.fill_and_take("stand-in", &format!("url = \"{}\"", standin.url()), rows)?;
    faults::changed((&small, &standin), &faults::stores(&standin), rows)?;

    let mut standin = machine.standin(&[])?;
    let executes = faults::executes(&standin);
    let built = small.build(&executes)?;
    let counts = standin.counts()?;
    let row = rows.build(
        ("executed on an empty server", "stand-in"),
        &built,
        &[Check::Same(&small.local), Check::Fewer(&small.local), Check::Silent],
    );
    row.found(&faults::figures(&counts)).refuse(faults::idle(&counts));
    faults::full((&small, machine), rows)?;
    standin = machine.standin(&[&format!("dies={}", counts.calls / 2)])?;
    faults::death((&small, &mut standin), counts.calls / 2, rows)
}
