//! The tables, and the file with the samples.

use std::process::ExitCode;

use serde_json::json;

use super::cost::Cost;
use super::limits::Judged;
use super::plan::{Extent, Plan};
use crate::rebuild::report::{cpu, tools};
use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

/// Writes all costs with what they were measured on.
pub(super) fn write(workspace: &Workspace, plan: &Plan, (costs, judged): (&[Cost], &[Judged])) -> Result<()> {
    let text = json!({
        "command": if plan.extent == Extent::Quick { "cargo xtask bench pack --quick" } else { "cargo xtask bench pack" },
        "wheels": plan.wheels,
        "cpu": cpu(),
        "processors": std::thread::available_parallelism().map_or(1, usize::from),
        "tools": tools(workspace, &["clang-offload-bundler", "clang-offload-packager", "clang"]),
        "results": costs.iter().map(Cost::json).collect::<Vec<_>>(),
        "limits": judged.iter().map(Judged::json).collect::<Vec<_>>(),
    });
    let path = workspace.target_dir.join("bench/pack.json");
    for path in [Some(&path), plan.json.as_ref()].into_iter().flatten() {
        workspace.shell.write_file(path, format!("{text:#}\n"))?;
        println!("samples: {}", path.display());
    }
    Ok(())
}

/// Prints everything; fails if a limit is missed.
pub(super) fn print(costs: &[Cost], judged: &[Judged]) -> ExitCode {
    print!("{}", aligned(&measured(costs)));
    println!();
    print!("{}", aligned(&verdicts(judged)));
    let missed = judged.iter().filter(|judged| !judged.is_met()).count();
    println!("limits met: {} of {}", judged.len() - missed, judged.len());
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measured(costs: &[Cost]) -> Vec<Vec<String>> {
    let head = ["set", "who", "images", "bytes", "index", "part", "seconds", "MB/s", "peak MiB"];
    let mut rows = vec![head.map(str::to_string).to_vec()];
    for cost in costs {
        rows.push(vec![
            cost.set.clone(),
            cost.who.clone(),
            cost.raw.to_string(),
            cost.bytes.to_string(),
            if cost.index == 0 { "-".to_string() } else { cost.index.to_string() },
            format!("{:.4}", cost.bytes as f64 / cost.raw as f64),
            format!("{:.4}", cost.seconds),
            format!("{:.1}", cost.throughput() / 1e6),
            format!("{:.1}", cost.peak as f64 / f64::from(1 << 20)),
        ]);
    }
    rows
}

fn verdicts(judged: &[Judged]) -> Vec<Vec<String>> {
    let head = ["what", "measured", "limit", "", "aim", ""];
    let mut rows = vec![head.map(str::to_string).to_vec()];
    for judged in judged {
        let (limit, verdict) = match judged.limit {
            Some(limit) => (format!("{limit:.3}"), if judged.is_met() { "met" } else { "MISSED" }),
            None => ("-".to_string(), "-"),
        };
        let aim = if judged.reaches(judged.aim) { "met" } else { "missed" };
        rows.push(vec![
            judged.what.clone(),
            format!("{:.4}", judged.measured),
            limit,
            verdict.to_string(),
            format!("{:.3}", judged.aim),
            aim.to_string(),
        ]);
    }
    rows
}

/// Rows of one width: words to the left, numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            let number = cell == "-" || cell.parse::<f64>().is_ok();
            if number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::limits;

    fn cost(who: &str, bytes: u64) -> Cost {
        let set = crate::pack::sets::FILES.to_string();
        Cost { set, who: who.into(), raw: 1000, bytes, index: 0, seconds: 0.5, peak: 3 << 20 }
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [["who", "bytes"], ["us", "7"], ["others", "12"]];
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(str::to_string).to_vec()).collect();
        assert_eq!(aligned(&rows), "who     bytes\nus          7\nothers     12\n");
    }

    #[test]
    fn the_tables_say_what_is_missed() {
        for (bytes, verdict, aim, code) in [
            (350, "met", "met", ExitCode::SUCCESS),
            (420, "met", "missed", ExitCode::SUCCESS),
            (421, "MISSED", "missed", ExitCode::FAILURE),
        ] {
            let costs = [cost("offload, archive", bytes), cost("CCOB, default level", 1000)];
            let judged = limits::judge(&limits::all(), &costs);
            let rows = verdicts(&judged);
            let row = rows.last().unwrap();
            assert_eq!((row[3].as_str(), row[5].as_str()), (verdict, aim), "{row:?}");
            assert_eq!(print(&costs, &judged), code);
        }
        let rows = measured(&[cost("us", 250)]);
        assert_eq!(rows[1][2..], ["1000", "250", "-", "0.2500", "0.5000", "0.0", "3.0"]);
    }
}
