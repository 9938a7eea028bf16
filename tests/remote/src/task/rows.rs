//! The table of results: a row for each build, with its failures.

use std::process::ExitCode;
use std::time::Duration;

use super::project::Built;
use offload_tests::FIGURE;
use offload_tests::table::Table;
use offload_tests::workspace::seconds;

/// All rows so far.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
}

/// A build, or another measurement.
#[derive(Debug)]
pub(super) struct Row {
    what: String,
    server: String,
    time: Duration,
    compilers: String,
    found: String,
    wrong: Vec<String>,
}

/// An expectation of a build.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Check<'a> {
    /// The program is this one, byte by byte.
    Same(&'a Built),
    /// No compiler runs here.
    NoCompiler,
    /// Fewer run here than in this one: some ran elsewhere.
    Fewer(&'a Built),
    /// One warning says why the server was not used.
    Warned,
    /// There is nothing to tell.
    Silent,
    /// The time limit.
    Within(Duration),
}

impl Rows {
    /// Adds a build on `server`, and prints it.
    pub(super) fn build(
        &mut self,
        (what, server): (&str, &str),
        built: &Built,
        checks: &[Check<'_>],
    ) -> &mut Row {
        let mut wrong: Vec<String> = checks.iter().filter_map(|check| check.wrong(built)).collect();
        if let Some(failure) = &built.failure {
            let lines: Vec<&str> = failure.lines().collect();
            let last = lines.iter().rev().take(8).rev().copied().collect::<Vec<_>>().join("\n  ");
            wrong.insert(0, format!("it failed:\n  {last}"));
        }
        let compilers = built.compilers.as_ref().map_or("-".to_string(), |all| all.len().to_string());
        let found = built.why.join(" | ");
        self.add(Row::new((what, server), built.time, (compilers, found, wrong)))
    }

    /// Adds a measurement.
    pub(super) fn measured(
        &mut self,
        (what, server): (&str, &str),
        time: Duration,
        found: String,
    ) -> &mut Row {
        self.add(Row::new((what, server), time, ("-".to_string(), found, Vec::new())))
    }

    fn add(&mut self, row: Row) -> &mut Row {
        println!("{}: {}: {}", row.what, row.server, seconds(row.time));
        for wrong in &row.wrong {
            println!("  WRONG: {wrong}");
        }
        self.rows.push(row);
        let last = self.rows.len().saturating_sub(1);
        #[expect(clippy::indexing_slicing, reason = "a row was just added")]
        &mut self.rows[last]
    }

    /// Prints all of it.
    pub(super) fn print(&self) -> ExitCode {
        let mut table = Table::new(["", "build", "server", "time", "compilers", "found"]);
        for row in &self.rows {
            let verdict = if row.wrong.is_empty() { "ok" } else { "FAILED" };
            table.row([
                verdict.to_string(),
                row.what.clone(),
                row.server.clone(),
                format!("{:.2} s", row.time.as_secs_f64()),
                row.compilers.clone(),
                row.found.clone(),
            ]);
        }
        print!("{table}");
        let wrong: Vec<_> = self.rows.iter().filter(|row| !row.wrong.is_empty()).collect();
        for row in &wrong {
            println!("FAILED: {}, {}: {}", row.what, row.server, row.wrong.join("; "));
        }
        println!("{FIGURE}{} builds and measurements; {} wrong", self.rows.len(), wrong.len());
        // A task that tried nothing has shown nothing.
        if wrong.is_empty() && !self.rows.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl Row {
    fn new(
        (what, server): (&str, &str),
        time: Duration,
        (compilers, found, wrong): (String, String, Vec<String>),
    ) -> Row {
        Row { what: what.to_string(), server: server.to_string(), time, compilers, found, wrong }
    }

    /// Adds a figure.
    pub(super) fn found(&mut self, text: &str) -> &mut Row {
        let separator = if self.found.is_empty() { "" } else { "; " };
        self.found = format!("{text}{separator}{}", self.found);
        self
    }

    /// Says what else is wrong, if something is.
    pub(super) fn refuse(&mut self, wrong: Option<String>) -> &mut Row {
        if let Some(wrong) = wrong {
            println!("  WRONG: {wrong}");
            self.wrong.push(wrong);
        }
        self
    }
}

impl Check<'_> {
    fn wrong(self, built: &Built) -> Option<String> {
        match self {
            // A build that failed says so itself.
            Check::Same(_) if built.failure.is_some() => None,
            Check::Same(local) => {
                (local.program != built.program).then(|| "the program is another".to_string())
            }
            Check::NoCompiler => match built.compilers.as_deref() {
                Some([]) => None,
                Some([first, ..]) => Some(format!("compilers ran here: {first}")),
                None => Some("the compilers are not counted".to_string()),
            },
            Check::Fewer(local) => {
                let here = built.compilers.as_ref().map(Vec::len);
                let all = local.compilers.as_ref().map(Vec::len);
                (here.is_none() || here >= all)
                    .then(|| format!("{here:?} compilers ran here, and {all:?} without a server"))
            }
            Check::Warned if built.why.is_empty() => Some("there is no warning".to_string()),
            Check::Warned => (built.why.len() > 1).then(|| format!("several warnings: {:?}", built.why)),
            Check::Silent => (!built.why.is_empty()).then(|| format!("a warning: {:?}", built.why)),
            Check::Within(limit) => {
                let is_late = built.time > limit;
                is_late.then(|| format!("it took {}, not {}", seconds(built.time), seconds(limit)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(why: &[&str]) -> Built {
        Built {
            time: Duration::from_secs(2),
            compilers: Some(vec![String::new(); 2]),
            program: vec![1],
            why: why.iter().map(ToString::to_string).collect(),
            failure: None,
        }
    }

    #[test]
    fn each_check_can_fail() {
        let silent = built(&[]);
        let warned = built(&["a"]);
        let twice = built(&["a", "b"]);
        let other = Built { program: vec![2], ..built(&[]) };
        let more = Built { compilers: Some(vec![String::new(); 3]), ..built(&[]) };
        let none = Built { compilers: Some(Vec::new()), ..built(&[]) };
        let unwatched = Built { compilers: None, ..built(&[]) };
        for (check, built, good) in [
            (Check::Same(&silent), &warned, true),
            (Check::Same(&other), &warned, false),
            (Check::NoCompiler, &silent, false),
            (Check::NoCompiler, &none, true),
            (Check::NoCompiler, &unwatched, false),
            (Check::Fewer(&more), &silent, true),
            (Check::Fewer(&warned), &silent, false),
            (Check::Fewer(&more), &unwatched, false),
            (Check::Warned, &silent, false),
            (Check::Warned, &warned, true),
            (Check::Warned, &twice, false),
            (Check::Silent, &silent, true),
            (Check::Silent, &warned, false),
            (Check::Within(Duration::from_secs(3)), &silent, true),
            (Check::Within(Duration::from_secs(1)), &silent, false),
        ] {
            assert_eq!(check.wrong(built).is_none(), good, "{check:?}");
        }
        let mut rows = Rows::default();
        let failed = Built { failure: Some("error: x".to_string()), ..built(&[]) };
        rows.build(("a", "b"), &failed, &[]);
        assert_eq!(rows.rows[0].wrong, ["it failed:\n  error: x"]);
    }
}
