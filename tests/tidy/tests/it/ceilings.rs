//! The crates keep to their ceilings, and ARCHITECTURE.md has the table of dependencies.

use std::sync::OnceLock;

use offload_tests::workspace::Workspace;
use offload_tidy::ceilings::CEILINGS;
use offload_tidy::report::{self, Row};

fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| report::measure(&Workspace::find().unwrap()).unwrap())
}

#[test]
fn every_crate_keeps_to_its_ceilings() {
    let complaints: Vec<String> = rows().iter().flat_map(report::complaints).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_table_of_dependencies_is_right() {
    let table = report::dependency_table(rows());
    let text = std::fs::read_to_string(offload_tests::workspace_root().join("ARCHITECTURE.md")).unwrap();
    assert!(text.contains(&table), "ARCHITECTURE.md lacks this table:\n{table}");
}

#[test]
fn figures_are_of_something() {
    for row in rows() {
        assert!(row.figures.files > 2 && row.figures.lines > 200, "{row:?}");
    }
    assert!(rows().iter().any(|row| row.figures.unsafe_files > 5));
    assert!(rows().iter().all(|row| row.dependencies.total >= row.dependencies.direct));
    assert_eq!(rows().len(), CEILINGS.len());
}
