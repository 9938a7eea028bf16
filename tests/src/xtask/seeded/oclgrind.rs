//! The same bugs in Oclgrind, for comparison.

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

use super::tests::{Project, Test};
use super::{BUGS, KINDS, Kind};

/// Results of the kernels with a bug and of their twins.
pub(super) enum Oclgrind {
    Run(Vec<Test>),
    NotInstalled,
    LeftOut,
}

impl Oclgrind {
    pub(super) fn run(workspace: &Workspace, project: &Project<'_>) -> Result<Oclgrind> {
        match workspace.program("oclgrind") {
            Some(_) => Ok(Oclgrind::Run(project.run_in_oclgrind()?)),
            None => Ok(Oclgrind::NotInstalled),
        }
    }

    /// How many bugs of the kind it has found.
    pub(super) fn cell(&self, kind: &Kind) -> String {
        let Oclgrind::Run(tests) = self else { return "-".to_string() };
        let bugs: Vec<&Test> = tests.iter().filter(|test| test.kind == kind.name && test.is_seeded).collect();
        match bugs.len() {
            0 => "-".to_string(),
            all => format!("{} of {all}", bugs.iter().filter(|test| is_found(kind, test)).count()),
        }
    }

    /// A line about all kinds.
    pub(super) fn summary(&self) -> String {
        let tests = match self {
            Oclgrind::Run(tests) => tests,
            Oclgrind::NotInstalled => {
                return "Oclgrind is not installed (Debian's package `oclgrind`)".to_string();
            }
            Oclgrind::LeftOut => return "Oclgrind was left out".to_string(),
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
