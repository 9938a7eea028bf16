//! `cargo offload test`: every way in which a kernel test can end, on the host CPU, PoCL and Intel's CPU runtime.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::{Outcome, Project, program};

/// The package, with the drivers for the CPU that there are; how many devices they show beside the host CPU.
pub fn project() -> (Project, usize) {
    let mut project = Project::with_shared_cache("kernel-tests");
    project.set("OCL_ICD_FILENAMES", "");
    match offload_tests::require_intel_runtime() {
        Some(prefix) => {
            let lib = prefix.join("lib");
            project.set("OCL_ICD_FILENAMES", &lib.join("libintelocl.so").display().to_string());
            project.set("LD_LIBRARY_PATH", &lib.display().to_string());
            (project, 2)
        }
        None => (project, 1),
    }
}

/// The objects with this reason.
pub fn objects(text: &str, reason: &str) -> Vec<Value> {
    let objects = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    objects.filter(|object| object["reason"] == reason).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

/// How a test ended on each device.
fn ends(text_of_run: &str, test: &str) -> BTreeMap<String, String> {
    let name = format!("tests::{test}");
    let rows = objects(text_of_run, "test").into_iter().filter(|row| row["test"] == *name);
    rows.map(|row| (text(&row["device"]).to_string(), text(&row["outcome"]).to_string())).collect()
}

/// The same outcome on the host CPU and on all others.
fn everywhere(drivers: usize, on_host: &str, elsewhere: &str) -> BTreeMap<String, String> {
    let others = (0..drivers).map(|number| (format!("opencl:{number}"), elsewhere.to_string()));
    others.chain([("host".to_string(), on_host.to_string())]).collect()
}

fn once(outcome: &str) -> BTreeMap<String, String> {
    [("-".to_string(), outcome.to_string())].into()
}

/// How each test ends that runs.
fn all_ends(drivers: usize) -> Vec<(&'static str, BTreeMap<String, String>)> {
    vec![
        ("right", everywhere(drivers, "right", "right")),
        ("right_everywhere", everywhere(drivers, "right", "right")),
        ("launches_of_nothing", everywhere(drivers, "right", "right")),
        ("seeded_wrong", everywhere(drivers, "wrong", "wrong")),
        ("seeded_other_than_host", everywhere(drivers, "right", "wrong")),
        ("seeded_panic", everywhere(drivers, "failed", "failed")),
        ("seeded_crash", everywhere(drivers, "crashed", "right")),
        ("seeded_exit", everywhere(drivers, "crashed", "crashed")),
        ("seeded_exit_behind_the_device", everywhere(drivers, "crashed", "crashed")),
        ("seeded_plain_exit", once("crashed")),
        ("seeded_exit_of_a_thread", once("crashed")),
        ("seeded_exit_at_once", once("crashed")),
        ("seeded_exit_as_a_failure", once("crashed")),
        ("seeded_hang", everywhere(drivers, "hung", "hung")),
        ("seeded_failure_behind_the_device", everywhere(drivers, "failed", "failed")),
        ("refused_but_on_host", everywhere(drivers, "right", "refused")),
        ("seeded_refusal", everywhere(drivers, "refused", "refused")),
        ("plain", once("passed")),
        ("seeded_plain", once("failed")),
    ]
}

/// The problem of a test on a device.
fn problem<'t>(rows: &'t [Value], test: &str, device: &str) -> &'t str {
    let row = rows.iter().find(|row| row["test"] == format!("tests::{test}") && row["device"] == device);
    text(&row.unwrap()["problem"])
}

#[test]
fn a_test_ends_on_each_device_in_its_own_way() {
    let (project, drivers) = project();
    let args = [
        "test",
        "--no-nextest",
        "--offline",
        "--json",
        "--timeout",
        "10",
        "--junit",
        "tests.xml",
        "--test-threads",
        "4",
    ];
    let run = project.offload(&args);
    assert_eq!(run.code, 1, "{}", run.text);
    let mut expected = all_ends(drivers);
    expected.push(("not_run", once("ignored")));
    expected.push(("starts_processes", once("ignored")));
    for (test, expected) in &expected {
        assert_eq!(&ends(&run.text, test), expected, "{test}\n{}", run.text);
    }
    let rows = objects(&run.text, "test");
    assert_eq!(rows.len(), expected.iter().map(|(_, ends)| ends.len()).sum::<usize>());
    assert_eq!(objects(&run.text, "test-device").len(), drivers + 1);
    for row in rows.iter().filter(|row| row["test"] == "tests::seeded_wrong") {
        let difference = &row["difference"];
        assert_eq!(difference["index"], 17, "{row}");
        assert_eq!((text(&difference["got"]), text(&difference["expected"])), ("5.25", "5.0"));
        assert_eq!((&difference["ulps"], &difference["differing"]), (&524_288.into(), &2.into()));
        assert!(text(&difference["location"]).starts_with("src/lib.rs:"), "{row}");
        assert!(text(&row["output"]).contains("wrong: element 17 is 5.25"), "{row}");
    }
    assert!(
        problem(&rows, "seeded_other_than_host", "opencl:0").contains("element 17 is 5.25, host says 5.0")
    );
    let seeded = rows
        .iter()
        .find(|row| row["test"] == "tests::seeded_other_than_host" && row["device"] == "opencl:0")
        .unwrap();
    let location = seeded["difference"]["location"].clone();
    assert!(text(&location).starts_with("src/lib.rs:"), "{location}");
    assert!(problem(&rows, "seeded_panic", "host").contains("a panic of the test"));
    assert!(problem(&rows, "seeded_crash", "host").contains("SIGABRT"));
    assert_eq!(problem(&rows, "seeded_hang", "opencl:0"), "timed out after 10 s");
    assert_eq!(problem(&rows, "refused_but_on_host", "opencl:0"), "it is for the CPU alone");
    let summary = objects(&run.text, "summary").pop().unwrap();
    assert_eq!(summary["wrong"], 1 + 2 * drivers, "{summary}");
    assert_eq!(summary["problems"][0]["problem"], "no device has run tests::seeded_refusal");
    let document = fs::read_to_string(project.path("tests.xml")).unwrap();
    assert_eq!(document.matches("<testcase ").count(), rows.len());
    assert_eq!(document.matches("type=\"wrong\"").count(), 1 + 2 * drivers);
    assert!(document.contains("on opencl:0\" tests=\"13\""), "{document}");
}

fn is_right(text: &str, device: &str) -> bool {
    text.lines().any(|line| line.split_whitespace().take(3).eq(["tests::right", device, "right"]))
}

#[test]
fn what_is_well_is_a_success_and_a_table() {
    let (project, drivers) = project();
    let run = project.offload(&["test", "--no-nextest", "--offline", "right"]);
    assert!(run.success, "{}", run.text);
    assert!(
        is_right(&run.text, "host")
            && (0..drivers).all(|number| is_right(&run.text, &format!("opencl:{number}"))),
        "{}",
        run.text
    );
    assert!(run.text.contains(&format!("\n{} right\n", 2 * (drivers + 1))), "{}", run.text);
    let quiet = project.offload(&["test", "--no-nextest", "--offline", "--quiet", "right"]);
    assert!(quiet.success && quiet.text.is_empty(), "{}", quiet.text);
    let host =
        project.offload(&["test", "--no-nextest", "--offline", "right", "--device", "host", "--", "--exact"]);
    assert!(!host.success && host.text.contains("none of 0 tests used a device"), "{}", host.text);
    let args = ["test", "--no-nextest", "--offline", "tests::right", "--device", "host", "--", "--exact"];
    let exact = project.offload(&args);
    assert!(exact.success && exact.text.contains("\n1 right\n"), "{}", exact.text);
}

#[test]
fn a_wrong_kernel_is_told_with_the_first_difference() {
    let (project, _) = project();
    let run = project.offload(&["test", "--no-nextest", "--offline", "seeded_wrong", "--device", "host"]);
    assert_eq!(run.code, 1, "{}", run.text);
    let table = run.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "element 17 is 5.25, expected 5.0: 524288 ULP apart, allowed are 2; 2 of 64 differ, by up to 524288 ULP";
    assert!(table.contains("tests::seeded_wrong host wrong") && table.contains(why), "{}", run.text);
    assert!(run.text.contains("tests::seeded_wrong on host, wrong\n"), "{}", run.text);
}

#[test]
fn devices_that_are_not_there_are_no_success() {
    let (project, _) = project();
    let missing = project.offload(&["test", "--no-nextest", "--offline", "--require", "cuda"]);
    assert_eq!(missing.code, 1, "{}", missing.text);
    assert!(missing.text.starts_with("error: required device `cuda` not found: "), "{}", missing.text);
    assert!(missing.text.contains("hint: available devices: host, opencl:0"), "{}", missing.text);
    let unknown = project.offload(&["test", "--no-nextest", "--offline", "--device", "H9000"]);
    assert_eq!(unknown.code, 2, "{}", unknown.text);
    // It is there, and no test runs on it.
    let idle =
        project.offload(&["test", "--no-nextest", "--offline", "refused_but_on_host", "--require", "opencl"]);
    assert_eq!(idle.code, 1, "{}", idle.text);
    assert!(idle.text.contains("error: no test ran on the required device `opencl`\n"), "{}", idle.text);
    let there =
        project.offload(&["test", "--no-nextest", "--offline", "refused_but_on_host", "--require", "host"]);
    assert!(there.success, "{}", there.text);
}

#[test]
fn tests_that_take_no_device_are_no_success() {
    let (project, _) = project();
    let run = project.offload(&["test", "--no-nextest", "--offline", "tests::plain"]);
    assert_eq!(run.code, 1, "{}", run.text);
    assert!(
        run.text.contains("error: none of 1 test used a device\nhint: a kernel test calls"),
        "{}",
        run.text
    );
}

#[test]
fn a_device_that_no_image_is_for_is_refused_with_the_reason() {
    let (mut project, _) = project();
    project.set("OFFLOAD_TARGETS", "spirv64");
    let refused =
        project.offload(&["test", "--no-nextest", "--offline", "tests::right", "--device", "host", "--json"]);
    assert_eq!(refused.code, 1, "{}", refused.text);
    assert_eq!(ends(&refused.text, "right"), everywhere(0, "refused", "-"));
    let why = text(&objects(&refused.text, "test")[0]["problem"]).to_string();
    assert!(why.starts_with("no image of kernel module `blas` fits host CPU"), "{why}");
    assert!(why.contains("hint: add a target that fits, as with `cargo offload targets add host`"), "{why}");
    // What the hint says helps.
    fs::write(project.path("offload.toml"), "targets = [\"spirv64\"]\n").unwrap();
    assert!(project.offload(&["targets", "add", "host"]).success);
    let targets = fs::read_to_string(project.path("offload.toml")).unwrap();
    assert!(targets.contains("\"host\""), "{targets}");
    project.set("OFFLOAD_TARGETS", "spirv64,host");
    assert!(
        project.offload(&["test", "--no-nextest", "--offline", "tests::right", "--device", "host"]).success
    );
}

#[test]
fn cargo_test_alone_runs_all_devices_in_one_process() {
    let (mut project, drivers) = project();
    let run = project.cargo(&["test", "--offline", "--", "--nocapture", "tests::right"]);
    assert!(run.success, "{}", run.text);
    assert_eq!(run.text.matches(": right\n").count(), 2 * (drivers + 1), "{}", run.text);
    let wrong = project.cargo(&["test", "--offline", "seeded_other"]);
    assert!(
        wrong.text.contains(&format!("failed on {drivers} of {} devices\n", drivers + 1)),
        "{}",
        wrong.text
    );
    assert!(
        !wrong.success && wrong.text.contains("differ, by up to 524288 ULP (at src/lib.rs:"),
        "{}",
        wrong.text
    );
    let nowhere = project.cargo(&["test", "--offline", "seeded_refusal"]);
    assert!(!nowhere.success && nowhere.text.contains("the test has run on no device\n"), "{}", nowhere.text);
    project.set("OFFLOAD_TEST_DEVICE", "host");
    let host = project.cargo(&["test", "--offline", "seeded_other"]);
    assert!(host.success, "{}", host.text);
    project.set("OFFLOAD_TEST_DEVICE", "cuda");
    let cuda = project.cargo(&["test", "--offline", "tests::right"]);
    let why = "cuda: refused: the program is built without the feature `cuda` of offload-rt";
    assert!(!cuda.success && cuda.text.contains(why), "{}", cuda.text);
}

/// What `cargo nextest` asks of cargo and of programs with tests. It stops a test that takes longer than the variable says, and
/// tries each one that fails twice.
const NEXTEST: &str = r#"#!/usr/bin/env python3
import json, os, subprocess, sys

args = sys.argv[2:]
if args == ["--version"]:
    sys.exit(0)
assert args.pop(0) == "run", args
own, rest = (args[:args.index("--")], args[args.index("--") + 1:])
for option in ["--no-tests", "--failure-output", "--success-output", "--final-status-level", "--status-level"]:
    del own[own.index(option):own.index(option) + 2]
own = [arg for arg in own if arg not in ("--no-fail-fast", "--cargo-quiet")]
made = subprocess.run(["cargo", "test", "--no-run", "--message-format=json", *own], stdout=subprocess.PIPE, check=True)
messages = [json.loads(line) for line in made.stdout.splitlines()]
programs = [it["executable"] for it in messages if it.get("executable") and it["profile"]["test"]]
runner = next(value for name, value in os.environ.items() if name.endswith("_RUNNER") and name.startswith("CARGO_TARGET_"))
limit = float(os.environ["STAND_IN_LIMIT"])
outcome = 0
for program in programs:
    def ask(*more):
        listed = subprocess.run([*runner.split(), program, "--list", "--format", "terse", *more], stdout=subprocess.PIPE, check=True)
        return [line.removesuffix(": test") for line in listed.stdout.decode().splitlines()]
    ignored = ask("--ignored")
    for test in ask():
        if test in ignored or not all(word in test for word in rest):
            continue
        for attempt in range(2):
            started = subprocess.Popen([*runner.split(), program, "--exact", test, "--nocapture"])
            try:
                code = started.wait(limit)
            except subprocess.TimeoutExpired:
                started.kill()
                code = started.wait()
            print(test, attempt, code, file=sys.stderr)
            if code == 0:
                break
            outcome = 100
sys.exit(outcome)
"#;

/// A directory with a stand-in for nextest, in front of all others.
fn with_stand_in(project: &mut Project, limit: &str) {
    program::write(&project.path("tools/cargo-nextest"), NEXTEST);
    let tools = [project.path("tools")];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::join_paths(tools.into_iter().chain(std::env::split_paths(&path))).unwrap();
    project.set("PATH", all.to_str().unwrap());
    project.set("STAND_IN_LIMIT", limit);
}

/// Ends as without nextest, which runs no ignored test.
fn check_ends(run: &Outcome, drivers: usize) {
    assert_eq!(run.code, 1, "{}", run.text);
    let expected = all_ends(drivers);
    for (test, expected) in &expected {
        assert_eq!(&ends(&run.text, test), expected, "{test}\n{}", run.text);
    }
    let rows = objects(&run.text, "test");
    assert_eq!(rows.len(), expected.iter().map(|(_, ends)| ends.len()).sum::<usize>(), "{}", run.text);
}

const WITH_NEXTEST: [&str; 5] = ["test", "--offline", "--json", "--timeout", "10"];

#[test]
fn nextest_starts_the_tests_where_it_is_installed() {
    if !offload_tests::is_nightly() {
        return;
    }
    let (mut project, drivers) = project();
    fs::create_dir_all(project.path("tools")).unwrap();
    with_stand_in(&mut project, "600");
    let run = project.offload(&WITH_NEXTEST);
    check_ends(&run, drivers);
    // It was there, and each failure was tried twice.
    assert!(run.text.contains("tests::right 0 0\n") && run.text.contains("tests::seeded_wrong 1 1\n"));
    let one = project.offload(&["test", "--offline", "tests::right", "--device", "host", "--", "--exact"]);
    assert!(!one.success, "the stand-in knows no `--exact`: {}", one.text);
    let quiet = project.offload(&["test", "--offline", "--quiet", "tests::right", "--device", "host"]);
    assert!(quiet.success && quiet.text.is_empty(), "{}", quiet.text);
    let without = project.offload(&["test", "--offline", "tests::right", "--no-nextest"]);
    assert!(without.success && !without.text.contains("tests::right 0 0"), "{}", without.text);
    // What nextest ends by itself has no end of its own.
    with_stand_in(&mut project, "3");
    let stopped = project.offload(&["test", "--offline", "--json", "seeded_hang", "--device", "host"]);
    assert_eq!(ends(&stopped.text, "seeded_hang"), once("hung"), "{}", stopped.text);
    assert!(stopped.text.contains("terminated by nextest"), "{}", stopped.text);
}

/// The real one, on machines that have it.
#[test]
fn an_installed_nextest_starts_the_tests() {
    if !offload_tests::is_nightly() {
        return;
    }
    let (project, drivers) = project();
    if !project.cargo(&["nextest", "--version"]).success {
        offload_tests::figure("no cargo-nextest is installed", "a stand-in for it runs in another test");
        return;
    }
    let run = project.offload(&WITH_NEXTEST);
    check_ends(&run, drivers);
    assert!(run.text.contains("Nextest run ID"), "{}", run.text);
    let exact = ["test", "--offline", "tests::right", "--device", "host", "--", "--exact"];
    let exact = project.offload(&exact);
    assert!(exact.success && exact.text.contains("\n1 right\n"), "{}", exact.text);
    let none = project.offload(&["test", "--offline", "no_such_test"]);
    assert!(none.code == 1 && none.text.contains("none of 0 tests used a device"), "{}", none.text);
    let profile =
        ["test", "--offline", "tests::right", "--device", "host", "--profile", "dev", "--jobs", "2"];
    let profile = project.offload(&profile);
    assert!(profile.success, "{}", profile.text);
}
