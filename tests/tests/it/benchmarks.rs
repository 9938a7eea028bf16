//! `cargo offload bench`: times of kernels on the host CPU, PoCL and Intel's CPU runtime.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::kernel_tests::{objects, project};
use crate::support::Project;

const NAMES: [&str; 2] = ["saxpy, 4096", "wrong, 4096"];

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_string()
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap()
}

#[test]
fn kernels_have_a_time_on_each_device() {
    if !offload_tests::is_nightly() {
        return;
    }
    let (mut project, drivers) = project();
    let run = project.offload(&["bench", "--offline", "--json"]);
    assert!(run.success, "{}", run.text);
    let rows = objects(&run.text, "kernel-time");
    let mut expected = BTreeSet::new();
    for name in NAMES {
        expected.insert((name.to_string(), "host".to_string()));
        for number in 0..drivers {
            expected.insert((name.to_string(), format!("opencl:{number}")));
        }
    }
    let found: BTreeSet<_> = rows.iter().map(|row| (text(&row["name"]), text(&row["device"]))).collect();
    assert_eq!((found, rows.len()), (expected, NAMES.len() * (drivers + 1)), "{}", run.text);
    for row in &rows {
        let sorted = [0.0, number(row, "min"), number(row, "median"), number(row, "most")];
        assert!(sorted.is_sorted() && number(row, "count") >= 10.0 && number(row, "min") > 0.0, "{row}");
    }
    // Other harnesses run on each device too, with the given filters.
    assert_eq!(run.text.matches("own harness on ").count(), drivers + 1, "{}", run.text);

    let one = project.offload(&["bench", "--offline", "saxpy", "--device", "host", "--bench", "kernels"]);
    assert!(one.success && !one.text.contains("wrong") && !one.text.contains("own harness"), "{}", one.text);
    let mut lines = one.text.lines();
    let row = lines.find(|line| line.starts_with("saxpy, 4096 ") && line.contains(" host ")).unwrap();
    assert!(row.trim_end().ends_with(" 1.00"), "{row}");

    project.set("SEEDED_FAILURE", "1");
    let failed = project.offload(&["bench", "--offline", "--device", "host", "--bench", "kernels"]);
    assert_eq!(failed.code, 1, "{}", failed.text);
    assert!(failed.text.contains("error: host: failed: a seeded failure"), "{}", failed.text);
    let alone = project.cargo(&["bench", "--offline", "--bench", "kernels", "--", "saxpy"]);
    assert!(!alone.success && alone.text.contains(": failed: a seeded failure"), "{}", alone.text);
    assert_eq!(alone.text.matches("saxpy, 4096 on ").count(), drivers + 1, "{}", alone.text);
}

#[test]
fn a_package_without_benchmarks_is_told() {
    let project = Project::with_fake_tools("two-files");
    let none = project.offload(&["bench", "--offline"]);
    assert_eq!(none.code, 2, "{}", none.text);
    assert!(
        none.text.contains("error: the package has no benchmarks\nhint: add one to benches/"),
        "{}",
        none.text
    );
}
