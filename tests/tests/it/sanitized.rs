//! `cargo offload test --sanitize`: accesses outside of buffers are found, and nothing else is.

use std::process::Command;

use serde_json::Value;

use crate::support::Project;

/// Kernel, and its report.
const FOUND: [(&str, &[&str]); 8] = [
    (
        "behind",
        &[
            "kernels/bugs.cl:7: work-item 63 of group 3 writes 4 bytes that end 4 behind the end of argument 1, `y`, which has 256 bytes",
        ],
    ),
    (
        "before",
        &[
            "kernels/bugs.cl:16: work-item 0 of group 0 reads 4 bytes that begin 4 before the start of argument 0, `x`, which has 256 bytes",
        ],
    ),
    (
        "helped",
        &[
            "kernels/helper.h:3: work-item 63 of group 3 reads 4 bytes that end 4 behind the end of argument 0, `x`, which has 256 bytes",
        ],
    ),
    (
        "waiting",
        &[
            "kernels/bugs.cl:37: work-item 63 of group 3 reads 4 bytes that end 4 behind the end of argument 0, `x`, which has 256 bytes",
        ],
    ),
    (
        "vectors",
        &[
            "kernels/bugs.cl:53: work-item 16 of group 1 reads 16 bytes that end 16 behind the end of argument 0, `x`, which has 256 bytes",
            "kernels/bugs.cl:53: work-item 16 of group 1 writes 16 bytes that end 16 behind the end of argument 1, `y`, which has 256 bytes",
        ],
    ),
    (
        "rows",
        &[
            "kernels/bugs.cl:63: work-item (0, 7) of group (0, 3) reads 4 bytes that end 4 behind the end of argument 0, `x`, which has 256 bytes; 8 accesses there are outside",
        ],
    ),
    (
        "atomics",
        &[
            "kernels/bugs.cl:72: work-item 63 of group 3 writes 4 bytes that end 4 behind the end of argument 1, `bins`, which has 256 bytes",
        ],
    ),
    (
        "shifted",
        &[
            "kernels/declared.cl:5: work-item 62 of group 3 writes 4 bytes that end 4 behind the end of argument 0, `x`, which has 252 bytes",
        ],
    ),
];

/// The tests of the run, each with its outcome and the problem.
fn tests(messages: &str) -> Vec<(String, String, String)> {
    let objects = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests = objects.filter(|object| object["reason"] == "test");
    tests.map(|test| (text(&test["test"]), text(&test["outcome"]), text(&test["problem"]))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// What a run with the checks says: of each kernel with a bug what it does, of its twin nothing.
fn assert_found(project: &Project) {
    let arguments = ["test", "--no-nextest", "--offline", "--sanitize", "--device", "host", "--json"];
    let run = project.offload(&arguments);
    assert_eq!(run.code, 1, "{}", run.text);
    let tests = tests(&run.text);
    assert_eq!(tests.len(), 2 * FOUND.len(), "{}", run.text);
    for (kernel, expected) in FOUND {
        let (outcome, problem) = end(&tests, kernel);
        assert_eq!(outcome, "failed", "{kernel}: {problem}");
        let output_text = problem.strip_prefix(&format!("kernel `{kernel}`: "));
        assert_eq!(
            output_text.map(|output_text| output_text.lines().collect::<Vec<_>>()).as_deref(),
            Some(expected),
            "{problem}"
        );
        assert_eq!(end(&tests, &format!("{kernel}_mended")), ("right", ""), "{kernel}");
    }
}

/// The outcome and the problem of a test.
fn end<'t>(tests: &'t [(String, String, String)], name: &str) -> (&'t str, &'t str) {
    let test = tests.iter().find(|(test, ..)| test.rsplit("::").next() == Some(name));
    test.map(|(_, outcome, problem)| (outcome.as_str(), problem.as_str())).unwrap()
}

#[test]
fn accesses_outside_of_buffers_are_found_in_development_and_release_builds() {
    let project = Project::new("sanitized");
    assert_found(&project);
    project.optimize();
    assert_found(&project);
    // Without it the same tests succeed: what lies behind the buffers is the program's own.
    let other = project.offload(&["test", "--no-nextest", "--offline", "--sanitize", "--device", "opencl"]);
    assert_eq!(other.code, 2, "{}", other.text);
    assert!(
        other.text.contains("error: --sanitize supports `host`, `oclgrind` and `cuda`, not `opencl`\n"),
        "{}",
        other.text
    );
}

/// Barriers in loops and branches, copies of work-groups, locks and every atomic function: only the kernel with a divergent
/// barrier is reported.
#[test]
fn right_kernels_of_every_shape_are_silent() {
    let mut project = Project::new("barriers");
    project.set("OFFLOAD_SANITIZE", "1");
    let output = Command::new(project.program()).env("OFFLOAD_SANITIZE", "1").output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}{err}");
    let parted = out.lines().last().unwrap_or_default();
    let [start, end] = [
        "kernel `parts`: kernels/shapes.cl:",
        "waits at a barrier that work-item 0 of group 0 does not come to",
    ];
    assert!(parted.starts_with(start) && parted.ends_with(end), "{out}");
}
