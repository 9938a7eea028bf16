//! Load of many concurrent actions through one client: its cost, and the speed-up of many workers.

mod client;

use std::time::Duration;

use self::client::Client;
use super::machine::Machine;
use super::rows::Rows;
use offload_tests::error::Result;

/// The duration of an action, about that of code generation for a kernel file and a target.
const ACTION: Duration = Duration::from_millis(100);
/// The required share of the ideal speed-up.
const SHARE: f64 = 0.8;

/// Workers, and actions for them: with few workers fewer, so that each takes seconds.
const LOADS: [(usize, usize); 4] = [(1, 50), (10, 500), (100, 10_000), (1000, 10_000)];
/// The number of workers for which the share is required.
const LIMITED: usize = 100;

pub(super) fn run(machine: &Machine<'_>, rows: &mut Rows) -> Result<()> {
    for (workers, actions) in LOADS {
        let milliseconds = ACTION.as_millis().to_string();
        let standin = machine.standin(&["--sleep", &milliseconds, "--slots", &workers.to_string()])?;
        let client = Client::start(machine, &standin, workers)?;
        let load = client.run(workers, actions)?;
        let ideal = ACTION.as_secs_f64() * actions as f64;
        let speedup = ideal / load.time.as_secs_f64();
        let share = speedup / workers as f64;
        let found = format!(
            "x {speedup:.1}, {:.0} % of the ideal; client {:.2} s of processors, {} MiB",
            100.0 * share,
            load.processors,
            load.memory >> 20
        );
        let worked = standin.counts()?.worked;
        let what = format!("{actions} actions, {workers} workers");
        let row = rows.measured((&what, "stand-in"), load.time, found);
        let is_all = load.executed == actions && worked == actions as u64;
        row.refuse(
            (!is_all)
                .then(|| format!("{} were executed, {worked} by workers: {}", load.executed, load.declined)),
        );
        let is_low = workers == LIMITED && share < SHARE;
        row.refuse(is_low.then(|| format!("{share:.2} of the ideal, not {SHARE}")));
    }
    Ok(())
}
