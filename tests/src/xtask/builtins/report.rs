//! The table, for people and as JSON.

use super::Column;
use super::case::Case;
use crate::error::Result;
use crate::workspace::Workspace;

pub(super) fn write(_workspace: &Workspace, _cases: &[Case], _columns: &[Column]) -> Result<()> {
    Ok(())
}

pub(super) fn failures(_cases: &[Case], _columns: &[Column]) -> Vec<String> {
    Vec::new()
}

pub(super) fn summary(cases: &[Case], columns: &[Column]) -> String {
    let mut text = String::new();
    for column in columns {
        for case in cases {
            if let Some(error) = column.errors.get(&case.kernel) {
                text += &format!("{} {} {} {}: ERROR {}\n", column.target, case.kernel, case.signature, case.element, error.lines().take(3).collect::<Vec<_>>().join(" / "));
            }
            for result in &column.results {
                let Some(verdict) = result.verdicts.get(&case.kernel) else { continue };
                if verdict.wrong > 0 || verdict.failed.is_some() || verdict.zero.is_some() {
                    text += &format!("{} {} {} {}: {verdict:?}\n", column.target, case.kernel, case.signature, case.element);
                }
            }
        }
        text += &format!("{:?}\n", column.findings);
    }
    text
}
