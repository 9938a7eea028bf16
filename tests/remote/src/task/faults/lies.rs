//! Servers with corrupt responses.

use super::super::machine::Machine;
use super::super::rows::{Check, Rows};
use super::super::servers::Standin;
use super::super::tiers::Compared;
use super::{executes, stores};
use offload_tests::error::Result;

/// Faults with their descriptions.
const LIES: [(&str, &str); 2] =
    [("exchanged", "the result of another action or architecture"), ("truncated", "half of each blob")];

pub(super) fn run((small, machine): (&Compared, &Machine<'_>), rows: &mut Rows) -> Result<()> {
    for settings in [stores, executes] {
        let standin = machine.standin(&[])?;
        let remote = settings(&standin);
        // Fills it.
        let built = small.build(&remote)?;
        rows.build(("fills the server", "stand-in"), &built, &[Check::Same(&small.local), Check::Silent]);
        changed((small, &standin), &remote, rows)?;
    }
    Ok(())
}

/// Builds with a full server whose answers are changed, and then with the same server again: what was damaged on the way
/// must not have become damaged here or there.
pub(in super::super) fn changed(
    (small, standin): (&Compared, &Standin),
    remote: &str,
    rows: &mut Rows,
) -> Result<()> {
    let how = if remote.contains("execute") { "stand-in, executing" } else { "stand-in" };
    for (fault, what) in LIES {
        standin.set_faults(fault)?;
        standin.forget()?;
        let built = small.build(remote)?;
        let counts = standin.counts()?;
        let row = rows.build((what, how), &built, &[Check::Same(&small.local), Check::Warned]);
        row.found(&super::figures(&counts));
        // A fault that no download met shows nothing.
        row.refuse((counts.hits == 0).then(|| "nothing was taken".to_string()));
        standin.set_faults("")?;
        let built = small.build(remote)?;
        rows.build(("the truth again", how), &built, &[Check::Same(&small.local), Check::Silent]);
    }
    Ok(())
}
