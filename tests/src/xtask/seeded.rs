//! `seeded`: which bugs `cargo offload test --sanitize` finds, and whether it finds any that are none.

mod examples;
mod oclgrind;
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Instant;

use self::examples::Example;
use self::oclgrind::Oclgrind;
use self::tests::{Checks, Profile, Project, Test};
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::table::Table;
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "seeded [--quick]  count detected bugs and false alarms of `test --sanitize` on 40 seeded bugs

For each kind of bug: how many were found, with the line and what is wrong there, how many mended twins were called
wrong, and how many of the same bugs Oclgrind finds, for comparison. Then twelve kernels that are measured elsewhere, with
the results of plain Rust, the examples, and the slowdown of the mended kernels and the twelve in release builds. Fails
below 36 bugs found, or at a false alarm. --quick leaves out Oclgrind, the examples and the release builds.";

/// So many of the bugs have to be found.
const WANTED: usize = 36;
/// Fewer tests than these would prove less.
const BUGS: usize = 40;
const KERNELS: usize = 12;

/// A kind of bug: the module that its tests are in, and words that a report of it has.
struct Kind {
    name: &'static str,
    title: &'static str,
    words: &'static [&'static str],
}

const OUTSIDE: &[&str] = &["behind the end of", "before the start of"];

const KINDS: [Kind; 14] = [
    kind("global_by_one", "a buffer, by one", OUTSIDE),
    kind("global_by_far", "a buffer, by far", OUTSIDE),
    kind("local_by_one", "local memory, by one", OUTSIDE),
    kind("local_by_far", "local memory, by far", OUTSIDE),
    kind("private", "private arrays", OUTSIDE),
    kind("local_race", "races on local memory", &["no barrier separates them"]),
    kind(
        "global_race",
        "races on buffers",
        &["no barrier separates them", "groups do not wait for each other"],
    ),
    kind("unwritten", "uninitialized local memory", &["which no work-item of the group has written"]),
    kind("divergent", "barriers that some do not reach", &["waits at a barrier that"]),
    kind("misaligned", "misaligned accesses", &["that is no multiple of"]),
    kind("freed", "buffers that were freed", &["that was freed"]),
    kind("overflow", "indices that overflow", &["which overflows `int`"]),
    kind("grid", "grids larger than the data", OUTSIDE),
    kind("twelve", "twelve kernels without a bug", &[]),
];

const fn kind(name: &'static str, title: &'static str, words: &'static [&'static str]) -> Kind {
    Kind { name, title, words }
}

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let is_quick = match args {
        [] => false,
        [quick] if quick == "--quick" => true,
        _ => return Err(Error::new("`seeded` takes `--quick`")),
    };
    let start = Instant::now();
    setup::ensure(workspace, &[setup::BUILD])?;
    let project = Project::prepare(workspace)?;
    let tests = project.run(Checks::On, Profile::Dev)?;
    let oclgrind = if is_quick { Oclgrind::LeftOut } else { Oclgrind::run(workspace, &project)? };
    let mut tally = Tally::from_tests(&tests, &oclgrind)?;
    tally.print();
    if !is_quick {
        tally.examples(&examples::run(workspace, &project)?);
        slowdown(&project)?;
    }
    println!("{}", oclgrind.summary());
    println!(
        "seeded: {} of {BUGS} bugs found, {} false alarms, in {}",
        tally.found,
        tally.alarms.len(),
        seconds(start.elapsed())
    );
    Ok(if tally.found >= WANTED && tally.alarms.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came of all tests.
#[derive(Default)]
struct Tally {
    rows: Vec<[String; 5]>,
    found: usize,
    /// Undetected bugs, with the output of the run.
    missed: Vec<String>,
    alarms: Vec<String>,
}

impl Tally {
    fn from_tests(tests: &[Test], oclgrind: &Oclgrind) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut bugs = BTreeSet::new();
        let mut twins = BTreeSet::new();
        for kind in &KINDS {
            let of_kind: Vec<&Test> = tests.iter().filter(|test| test.kind == kind.name).collect();
            let (seeded, others): (Vec<&Test>, Vec<&Test>) = of_kind.iter().partition(|test| test.is_seeded);
            let found = seeded.iter().filter(|test| tally.is_found(kind, test)).count();
            let wrong = others.iter().filter(|test| tally.is_alarm(test)).count();
            tally.found = tally.found.saturating_add(found);
            bugs.extend(seeded.iter().map(|test| (kind.name, test.kernel.as_str())));
            twins.extend(others.iter().map(|test| (kind.name, test.kernel.as_str())));
            let of =
                |part: usize, all: usize| if all == 0 { "-".to_string() } else { format!("{part} of {all}") };
            tally.rows.push([
                kind.title.to_string(),
                of(found, seeded.len()),
                of(wrong, others.len()),
                oclgrind.cell(kind),
                seconds_of(&of_kind),
            ]);
        }
        let lone = bugs.iter().filter(|bug| !twins.contains(*bug)).count();
        match (bugs.len() == BUGS, twins.len() == BUGS + KERNELS, lone) {
            (true, true, 0) => Ok(tally),
            _ => Err(Error::new(format!(
                "{} kernels with a bug and {} without one were tested, instead of {BUGS} and {}",
                bugs.len(),
                twins.len(),
                BUGS + KERNELS
            ))),
        }
    }

    /// Whether the report of a kernel with a bug says where it is, and what.
    fn is_found(&mut self, kind: &Kind, test: &Test) -> bool {
        let start = format!("kernel `{}`: kernels/", test.kernel);
        let problem = test.problem.as_str();
        let is_line = problem.starts_with(&start) && problem.contains(": work-item ");
        let found = is_line && kind.words.iter().any(|words| problem.contains(words));
        if !found {
            self.missed.push(format!("{} {}: {}: {problem}", kind.name, test.kernel, test.outcome));
        }
        found
    }

    fn is_alarm(&mut self, test: &Test) -> bool {
        let is_wrong = test.outcome != "right";
        if is_wrong {
            self.alarms.push(format!("{} {}: {}: {}", test.kind, test.kernel, test.outcome, test.problem));
        }
        is_wrong
    }

    fn examples(&mut self, examples: &[Example]) {
        let mut table = Table::new(["example", "verdict", "time"]);
        for Example { name, problem, time } in examples {
            let verdict = if problem.is_none() { "right" } else { "FALSE ALARM" };
            table.row([name.clone(), verdict.to_string(), seconds(*time)]);
            self.alarms.extend(problem.iter().map(|problem| format!("{name}: {problem}")));
        }
        println!("{table}");
    }

    fn print(&self) {
        let mut table = Table::new(["kind", "found", "false alarms", "found by Oclgrind", "time"]);
        for row in &self.rows {
            table.row(row.clone());
        }
        println!("{table}");
        for missed in &self.missed {
            println!("not found: {missed}");
        }
        for alarm in &self.alarms {
            println!("false alarm: {alarm}");
        }
    }
}

fn seconds_of(tests: &[&Test]) -> String {
    format!("{:.1} s", tests.iter().map(|test| test.seconds).sum::<f64>())
}

/// Prints how much longer kernels without a bug take with checks, with the start of a process for each test.
fn slowdown(project: &Project<'_>) -> Result<()> {
    let mut times: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for (at, checks) in [Checks::Off, Checks::On].into_iter().enumerate() {
        for test in project.run(checks, Profile::Release)?.into_iter().filter(|test| test.kind == "twelve") {
            let both = times.entry(test.kernel).or_default();
            both.iter_mut().skip(at).take(1).for_each(|time| *time = test.seconds);
        }
    }
    let mut table = Table::new(["kernel", "without", "with checks", "times"]);
    let mut product = 0.0;
    let mut count = 0.0;
    for (kernel, [without, with]) in &times {
        let ratio = with / without.max(1e-6);
        (product, count) = (product + ratio.ln(), count + 1.0);
        table.row([kernel.clone(), ms(*without), ms(*with), format!("{ratio:.1}")]);
    }
    let mean = if count > 0.0 { f64::exp(product / count) } else { 0.0 };
    println!("{table}slowdown of whole tests, geometric mean: {mean:.1}");
    Ok(())
}

fn ms(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1e3)
}
