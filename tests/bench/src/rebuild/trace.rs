//! Counting the device compilers of a build.

use std::collections::BTreeMap;

use super::measure::{self, Scenario, Side};
use offload_tests::error::Result;
use offload_tests::processes::{self, Processes};

/// All counts, by scenario and name of the side.
#[derive(Debug, Default)]
pub(super) struct Counts(BTreeMap<(Scenario, &'static str), Processes>);

impl Counts {
    pub(super) fn add(&mut self, scenario: Scenario, side: &dyn Side, processes: Processes) {
        self.0.insert((scenario, side.name()), processes);
    }

    pub(super) fn get(&self, scenario: Scenario, side: &str) -> Option<Processes> {
        self.0
            .iter()
            .find(|((other, name), _)| *other == scenario && *name == side)
            .map(|(_, counts)| *counts)
    }
}

/// Runs the build of a scenario under strace.
pub(super) fn processes(side: &dyn Side, scenario: Scenario) -> Result<Processes> {
    let log = tempfile::NamedTempFile::new()?;
    measure::run(&mut processes::traced(&side.build(scenario.profile()), log.path()))?;
    Ok(processes::count(&std::fs::read_to_string(log.path())?))
}
