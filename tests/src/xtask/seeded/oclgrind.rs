//! The same bugs in Oclgrind, for comparison.

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

use super::tests::{Project, Test};
use super::{BUGS, KINDS, Kind};

/// How the kernels with a bug and their twins ended there; none where it is not installed.
pub(super) struct Oclgrind(Option<Vec<Test>>);

impl Oclgrind {
    pub(super) fn run(workspace: &Workspace, project: &Project<'_>) -> Result<Oclgrind> {
        let is_there = workspace.program("oclgrind").is_some();
        Ok(Oclgrind(is_there.then(|| project.run_in_oclgrind()).transpose()?))
    }

    /// How many bugs of the kind it has found.
    pub(super) fn cell(&self, kind: &Kind) -> String {
        let Some(tests) = &self.0 else { return "-".to_string() };
        let bugs: Vec<&Test> = tests.iter().filter(|test| test.kind == kind.name && test.is_seeded).collect();
        match bugs.len() {
            0 => "-".to_string(),
            all => format!("{} of {all}", bugs.iter().filter(|test| is_found(kind, test)).count()),
        }
    }

    /// A line about all kinds.
    pub(super) fn summary(&self) -> String {
        let Some(tests) = &self.0 else {
            return "Oclgrind is not installed (Debian's package `oclgrind`)".to_string();
        };
        let found = KINDS.iter().map(|kind| {
            tests
                .iter()
                .filter(|test| test.kind == kind.name && test.is_seeded && is_found(kind, test))
                .count()
        });
        let of_twins =
            |outcome: &str| tests.iter().filter(|test| !test.is_seeded && test.outcome == outcome).count();
        let wrong = of_twins("failed").saturating_add(of_twins("crashed"));
        format!(
            "Oclgrind: {} of {BUGS} bugs found, {wrong} false alarms, {} mended twins refused",
            found.sum::<usize>(),
            of_twins("refused")
        )
    }
}

/// Whether its report names the kernel, a line of it, and what is wrong there.
fn is_found(kind: &Kind, test: &Test) -> bool {
    let start = format!("kernel `{}`: kernels/", test.kernel);
    let has_words = kind.words.iter().any(|words| test.problem.contains(words));
    test.outcome == "failed" && test.problem.starts_with(&start) && has_words
}
