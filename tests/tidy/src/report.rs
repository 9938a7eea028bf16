//! The figures as tables, and what is held against them.

use std::fmt::Write;

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

use crate::ceilings::{CEILINGS, Ceiling};
use crate::dependencies::{self, Dependencies};
use crate::figures::{self, Figures};

/// One crate, measured.
#[derive(Debug)]
pub struct Row {
    /// What it may have.
    pub ceiling: Ceiling,
    /// What its source has.
    pub figures: Figures,
    /// What it depends on.
    pub dependencies: Dependencies,
}

/// Measures all published crates.
///
/// # Errors
/// If source cannot be read, or cargo fails.
pub fn measure(workspace: &Workspace) -> Result<Vec<Row>> {
    let row = |ceiling: Ceiling| {
        let figures = figures::of_package(&workspace.root.join(ceiling.name))?;
        Ok(Row { ceiling, figures, dependencies: dependencies::of_crate(workspace, ceiling.name)? })
    };
    CEILINGS.into_iter().map(row).collect()
}

/// The table of dependencies as `ARCHITECTURE.md` has it.
pub fn dependency_table(rows: &[Row]) -> String {
    let mut text = String::from("| crate | direct | linked | compiled | goal |\n|---|---|---|---|---|\n");
    for row in rows {
        let Dependencies { direct, linked, total } = row.dependencies;
        let goal = row.ceiling.dependencies.map_or_else(|| "-".to_string(), |goal| goal.to_string());
        let _ = writeln!(text, "| `{}` | {direct} | {linked} | {total} | {goal} |", row.ceiling.name);
    }
    text
}

/// All figures, and the names behind those that are not 0.
pub fn text(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<20}{:>7}{:>7}{:>8}{:>6}{:>6}{:>8}{:>10}{:>8}{:>6}{:>8}{:>8}{:>10}\n",
        "crate",
        "lines",
        "files",
        "unsafe",
        "long",
        "many",
        "tuples",
        "circular",
        "across",
        "docs",
        "direct",
        "linked",
        "compiled"
    );
    for Row { ceiling, figures, dependencies } in rows {
        let _ = writeln!(
            text,
            "{:<20}{:>7}{:>7}{:>8}{:>6}{:>6}{:>8}{:>10}{:>8}{:>6}{:>8}{:>8}{:>10}",
            ceiling.name,
            figures.lines,
            figures.files,
            figures.unsafe_files,
            figures.long.len(),
            figures.many.len(),
            figures.tuples.len(),
            circular(&figures.cycles),
            circular(&figures.across),
            figures.undocumented.len(),
            dependencies.direct,
            dependencies.linked,
            dependencies.total
        );
    }
    text.push_str(LEGEND);
    rows.iter().for_each(|row| details(&mut text, row));
    text
}

const LEGEND: &str = "
unsafe: files with unsafe code; long: functions over 60 lines; many: functions over 4 parameters beside `self`, tuples
counted as what is in them; tuples: functions with a tuple as parameter; circular: modules that use each other in
circles; across: the same without uses of their own parents; docs: public items without documentation; direct, linked,
compiled: dependencies with default features that the manifest names, that are in a program, and that cargo compiles,
with what build scripts and macros are made of
";

fn details(text: &mut String, row: &Row) {
    let figures = &row.figures;
    let circles: Vec<String> = figures.cycles.iter().map(|group| group.join(" <-> ")).collect();
    let lists = [
        ("long", &figures.long),
        ("many", &figures.many),
        ("tuples", &figures.tuples),
        ("circular", &circles),
        ("docs", &figures.undocumented),
    ];
    for (what, names) in lists {
        for name in names {
            let _ = writeln!(text, "{} {what}: {name}", row.ceiling.name);
        }
    }
}

fn circular(groups: &[Vec<String>]) -> usize {
    groups.iter().map(Vec::len).sum()
}

/// What differs from the ceilings, in words.
pub fn complaints(row: &Row) -> Vec<String> {
    let Row { ceiling, figures, .. } = row;
    let pairs = [
        ("long", figures.long.len(), ceiling.long),
        ("many", figures.many.len(), ceiling.many),
        ("tuples", figures.tuples.len(), ceiling.tuples),
        ("circular", circular(&figures.cycles), ceiling.circular),
        ("across", circular(&figures.across), ceiling.across),
        ("undocumented", figures.undocumented.len(), ceiling.undocumented),
    ];
    let differ = pairs.into_iter().filter(|(_, has, may)| has != may);
    let name = ceiling.name;
    differ
        .map(|(what, has, may)| match has > may {
            true => {
                format!("{name}: {what} is {has}, above the ceiling of {may}: `cargo xtask tidy` names them")
            }
            false => {
                format!("{name}: {what} is {has}: lower the ceiling of {may} in tests/tidy/src/ceilings.rs")
            }
        })
        .collect()
}
