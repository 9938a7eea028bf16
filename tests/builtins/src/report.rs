//! The table, for people and as JSON, and what in it is a failure.

mod rows;
mod versions;

use std::fmt::Write;

use serde_json::{Value, json};

use self::rows::{Cell, Notes, Row};
use super::Column;
use super::case::{Case, ORDERED, SUB_GROUPS};
use super::known;
use super::results::Verdict;
use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

const SECTIONS: [(&str, &str); 15] = [
    ("work-item", "Work-item functions (6.12.1)"),
    ("math", "Mathematical functions (6.12.2)"),
    ("integer", "Integer functions (6.12.3)"),
    ("common", "Common functions (6.12.4)"),
    ("geometric", "Geometric functions (6.12.5)"),
    ("relational", "Relational functions (6.12.6)"),
    ("vector", "Vector data loads and stores (6.12.7)"),
    ("synchronization", "Synchronization and fences (6.12.8, 6.12.9)"),
    ("async", "Asynchronous copies and prefetch (6.12.10)"),
    ("atomic", "Atomic functions (6.12.11)"),
    ("atomic64", "64-bit atomic functions (`cl_khr_int64_base_atomics`, `cl_khr_int64_extended_atomics`)"),
    (
        ORDERED,
        "Atomic functions, fences and barriers with orders and scopes (OpenCL C 3.0, 6.15.8 and 6.15.12)",
    ),
    (SUB_GROUPS, "Sub-groups (`cl_khr_subgroups` and its extensions, OpenCL C 3.0, 6.15.19)"),
    ("misc", "Shuffles and printf (6.12.12, 6.12.13)"),
    ("image", "Images (6.12.14)"),
];

const INTRODUCTION: &str = "# The built-in functions of OpenCL C, by target

Every built-in function of OpenCL C 1.2, the 64-bit atomic functions of two extensions, the atomic functions of
OpenCL C 3.0 (`std = \"3.0\"`), with its fences and barriers, and those of sub-groups. `spirv64` and `intel:` are
SPIR-V 1.2, which has no shuffles, ballots and non-uniform functions: `spirv64:v1.3` has them.

Made by `cargo xtask builtins`, which compiles one kernel for each built-in and element type, with calls of all vector
widths, as a build script does. What a target lacks is an error that names the built-in and the target. No image has
anything unresolved: `spirv-dis`, `llvm-readelf` and a scan for `.extern` look at every image.

- `ok`: it compiles. Nothing here can run it. (For `intel:` targets element-wise functions are called in widths 1 and 4.)
- a number: the largest error in units in the last place (ULP), in bold if it is above the bound. The bound is that of
  table 7.4 of [OpenCL 1.2](https://registry.khronos.org/OpenCL/specs/opencl-1.2.pdf), or where that has none, of
  [OpenCL C 3.0](https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#relative-error-as-ulps).
  n is the width of the vector, ε the distance from 1 to the next number, max the largest operand; `any` means that the
  specification sets no bound.
- `right`: the results are those of the specification, bit for bit where there is no NaN.
- **wrong**, **crash**: see the note. A number in square brackets is that of a note at the end.
- `z`: all results are within the bound, but a zero has the wrong sign.
- `f`: subnormal numbers of `float` are taken for zero, which the specification allows.

Each of 256 work-items calls an atomic function on a cell of its own, and with others on cells that they share; functions
of OpenCL C 3.0 also as `_explicit`, with several orders and scopes. `right` means that the results of all calls on a cell,
and the value at the end, are those of some order of the calls.

A kernel compares a function of sub-groups with what the values of the sub-group in local memory say.

Errors are measured at 138240 points for each function against 113-bit arithmetic (libquadmath): special values in all
combinations, random bit patterns, all exponents, and points where the function is hard, such as multiples of π/2. Errors of
`native_` functions are those for moderate arguments (angles within a half turn, exponents up to 10).
";

/// Writes `docs/BUILTINS.md` and the JSON beside the programs.
pub(super) fn write(workspace: &Workspace, cases: &[Case], columns: &[Column]) -> Result<()> {
    let mut notes = Notes::default();
    let tables = tables(cases, columns, &mut notes);
    let text = format!(
        "{INTRODUCTION}\n## Where\n\n{}\n{}{tables}\n## Notes\n\n{}",
        versions::list(workspace, columns)?,
        summary_table(cases, columns),
        notes.list()
    );
    workspace.shell.write_file(workspace.root.join("docs/BUILTINS.md"), text)?;
    let json = workspace.target_dir.join("builtins/builtins.json");
    workspace.shell.write_file(&json, json_rows(cases, columns).to_string())?;
    println!("docs/BUILTINS.md, {}", json.display());
    Ok(())
}

/// The sections that have some of `cases`.
fn tables(cases: &[Case], columns: &[Column], notes: &mut Notes) -> String {
    let headings = headings(columns);
    let mut tables = String::new();
    for (section, title) in SECTIONS {
        let rows = rows::section(cases, columns, (section, notes));
        if !rows.is_empty() {
            let _ = write!(tables, "\n## {title}\n\n{}", markdown(&headings, &rows));
        }
    }
    tables
}

/// The rows of some built-ins, with their notes.
pub(super) fn part(cases: &[Case], columns: &[Column]) -> String {
    let mut notes = Notes::default();
    let tables = tables(cases, columns, &mut notes);
    format!("{tables}\n{}\n", notes.list())
}

/// One column for each target that only compiles, and one for each device.
fn headings(columns: &[Column]) -> Vec<String> {
    let mut headings = Vec::new();
    for column in columns {
        if column.results.is_empty() {
            headings.push(format!("`{}`", column.target));
        }
        for result in &column.results {
            headings.push(format!("`{}` on {}", column.target, result.device));
        }
    }
    headings
}

fn markdown(headings: &[String], rows: &[Row]) -> String {
    let mut text = format!("| built-in | for | bound | {} |\n", headings.join(" | "));
    text.push_str(&format!("|---|---|---|{}\n", "---|".repeat(headings.len())));
    for row in rows {
        let cells: Vec<&str> = row.cells.iter().map(Cell::text).collect();
        let _ =
            writeln!(text, "| `{}` | {} | {} | {} |", row.built_in, row.labels, row.bound, cells.join(" | "));
    }
    text
}

/// How many kernels compile, and how many of those that ran are right.
fn summary_table(cases: &[Case], columns: &[Column]) -> String {
    let mut text = String::from(
        "| target | kernels | compile | fail | run | outside of the specification |\n|---|---|---|---|---|---|\n",
    );
    for column in columns {
        let ran: Vec<&Verdict> = column.results.iter().flat_map(|result| result.verdicts.values()).collect();
        let wrong = ran.iter().filter(|verdict| verdict.wrong > 0 || verdict.failed.is_some()).count();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} |",
            column.target,
            cases.len(),
            cases.len() - column.errors.len(),
            column.errors.len(),
            ran.len(),
            if ran.is_empty() { "-".to_string() } else { wrong.to_string() },
        );
    }
    text
}

/// What must not be: unresolved names in images, errors that do not say enough, wrong results without a known cause.
pub(super) fn failures(cases: &[Case], columns: &[Column]) -> Vec<String> {
    let mut failures = Vec::new();
    for column in columns {
        failures.extend(column.findings.iter().map(|finding| format!("{}: {finding}", column.target)));
        for case in cases {
            let called = format!("{}: {} for {}", column.target, case.signature, case.element);
            if let Some(error) = column.errors.get(&case.kernel)
                && !says_enough(error, case, &column.target)
            {
                failures
                    .push(format!("{called}: the error does not name the built-in and the target: {error}"));
            }
            let verdicts = column.results.iter().filter_map(|result| result.verdicts.get(&case.label()));
            let wrong = verdicts.filter(|verdict| verdict.wrong > 0 || verdict.failed.is_some());
            let unknown = wrong.filter(|_| known::cause(&column.target, case).is_none());
            failures.extend(unknown.map(|verdict| format!("{called}: {}", problem(verdict))));
        }
    }
    failures
}

/// Types that a target does not have are at fault for all functions on them.
fn says_enough(error: &str, case: &Case, target: &str) -> bool {
    let name = case.built_in.strip_suffix('n').unwrap_or(case.built_in);
    let image = case.section == "image" && error.contains("image");
    let double = case.source.contains("double") && error.contains("Double type is not supported");
    error.contains(target) && (error.contains(name) || image || double)
}

fn problem(verdict: &Verdict) -> String {
    let example = verdict.failed.clone().or_else(|| verdict.example.clone()).unwrap_or_default();
    format!("{} of {} wrong: {example}", verdict.wrong, verdict.compared)
}

/// What the task prints.
pub(super) fn summary(cases: &[Case], columns: &[Column]) -> String {
    let mut text = summary_table(cases, columns);
    for column in columns {
        let _ = writeln!(text, "{}: {}, {}", column.target, column.took, column.program.display());
    }
    text
}

fn json_rows(cases: &[Case], columns: &[Column]) -> Value {
    cases.iter().map(|case| json_row(case, columns)).collect()
}

fn json_row(case: &Case, columns: &[Column]) -> Value {
    let targets = columns.iter().map(|column| {
        let devices = column.results.iter().filter_map(|result| {
            let verdict = result.verdicts.get(&case.label())?;
            Some(json!({
                "device": result.device, "ulp": verdict.ulp, "wrong": verdict.wrong, "compared": verdict.compared,
                "flushed": verdict.flushed, "example": verdict.example, "zero": verdict.zero,
                "failed": verdict.failed,
            }))
        });
        json!({
            "target": column.target, "error": column.errors.get(&case.kernel),
            "devices": devices.collect::<Vec<_>>(),
        })
    });
    json!({
        "section": case.section, "built-in": case.built_in, "signature": case.signature, "for": case.element,
        "bound": case.bound.to_string(), "targets": targets.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::TARGETS;
    use super::super::cases::{self, Widths};
    use super::*;

    #[test]
    fn the_committed_table_has_every_built_in_and_target() {
        let path = offload_tests::workspace_root().join("docs/BUILTINS.md");
        let text = std::fs::read_to_string(path).unwrap();
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
        let listed: BTreeSet<&str> = rows.map(|(name, _)| name).filter(|name| !name.contains(':')).collect();
        let cases = cases::all(Widths::All).unwrap();
        let wanted: BTreeSet<&str> = cases.iter().map(|case| case.built_in).collect();
        let missing: Vec<_> = wanted.difference(&listed).collect();
        assert!(missing.is_empty(), "run `cargo xtask builtins`: the table lacks {missing:?}");
        let heading = text.lines().find(|line| line.starts_with("| built-in |")).unwrap();
        for target in TARGETS {
            assert!(heading.contains(&format!("`{target}`")), "run `cargo xtask builtins`: {heading}");
        }
    }

    #[test]
    fn every_section_has_a_title() {
        for case in cases::all(Widths::All).unwrap() {
            assert!(SECTIONS.iter().any(|(section, _)| *section == case.section), "{}", case.section);
        }
    }

    #[test]
    fn an_error_has_to_name_both() {
        let case = &cases::all(Widths::All).unwrap()[0];
        assert!(says_enough("target `spirv64`: `get_work_dim` has no definition", case, "spirv64"));
        assert!(!says_enough("`get_work_dim` has no definition", case, "spirv64"));
        assert!(!says_enough("target `spirv64`: it has no definition", case, "spirv64"));
    }
}
