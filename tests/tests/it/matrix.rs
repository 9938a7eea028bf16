//! `report --matrix`: one package with several compilers, of which some cannot build everything.

use crate::support::{Outcome, Project};
use serde_json::Value;

fn messages(outcome: &Outcome, reason: &str) -> Vec<Value> {
    let objects = outcome.text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    objects.filter(|object| object["reason"] == reason).collect()
}

/// The image for `target` that `build` lacks.
fn of_build<'a>(missing: &'a [Value], build: &str, target: &str) -> &'a Value {
    let found = missing.iter().find(|image| image["builds"][0] == build && image["target"] == target);
    found.unwrap_or_else(|| panic!("{build} lacks nothing for {target}: {missing:?}"))
}

fn lines_of<'t>(lines: &'t [Value], target: &str) -> Vec<&'t Value> {
    lines.iter().filter(|line| line["target"] == target).collect()
}

/// Whether the build with this place in a line has more than its label.
fn has_numbers(line: &Value, build: usize) -> bool {
    line["builds"][build].as_object().unwrap().len() > 1
}

#[test]
fn what_one_compiler_cannot_build_the_others_show() {
    let project = Project::with_fake_tools("two-files");
    project.fake_llvm("older", "llvm-19");
    project.fake_llvm("broken", "fail");
    let matrix = "clang=tools/clang,older/clang,broken/clang,gone/clang";
    let args = ["report", "--offline", "--json", "--html", "page.html", "--matrix", matrix];
    let outcome = project.offload(&args);
    assert!(outcome.success, "{}", outcome.text);
    check_page(&std::fs::read_to_string(project.path("page.html")).unwrap());

    let lines = messages(&outcome, "comparison");
    for target in ["spirv64", "intel:pvc", "opencl-c"] {
        let labels: Vec<&str> = lines_of(&lines, target)[0]["builds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|b| b["label"].as_str().unwrap())
            .collect();
        assert_eq!(labels, ["tools", "older", "broken", "gone"], "{target}");
    }
    assert!(
        lines_of(&lines, "intel:pvc").iter().all(|line| has_numbers(line, 0) && !has_numbers(line, 1)),
        "{lines:?}"
    );
    assert!(
        lines_of(&lines, "opencl-c").iter().all(|line| has_numbers(line, 1) && !has_numbers(line, 2)),
        "{lines:?}"
    );

    let missing = messages(&outcome, "missing");
    for (build, target, part) in [
        ("older", "spirv64", "has no SPIR-V back end: LLVM 20 is the first release with it"),
        ("older", "intel:pvc", "has no SPIR-V back end: LLVM 20 is the first release with it"),
        ("broken", "", "a.cl:3:5: error: made to fail"),
        ("gone", "", "clang of LLVM 19 or later was not found"),
    ] {
        let image = of_build(&missing, build, target);
        assert!(image["problem"].as_str().unwrap().contains(part), "{image}");
        assert_eq!(image["builds"].as_array().unwrap().len(), 1, "{image}");
    }
    // The files of the user's own builds stay as they are.
    let own = project.target_dir().join("debug").join(project.name());
    assert!(!own.exists(), "{} was built", own.display());
}

/// The page shows the first build whole, all of them side by side, and what is missing.
fn check_page(page: &str) {
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!((&data["build"], data["images"].as_array().unwrap().len()), (&"tools".into(), 3));
    assert_eq!(data["beside"][0]["builds"].as_array().unwrap().len(), 4);
    let missing: Vec<&str> =
        data["missing"].as_array().unwrap().iter().map(|image| image.as_str().unwrap()).collect();
    let broken = "not built by broken: module all, target all: ";
    assert!(missing.iter().any(|image| image.starts_with(broken)), "{missing:?}");
}

#[test]
fn a_file_and_a_comment_go_with_a_matrix() {
    let project = Project::with_fake_tools("two-files");
    let before = project.program().display().to_string();
    let beside = format!("before={before}");
    let args = ["report", "--offline", "--matrix", "clang=tools/clang", "--beside", &beside];
    let comment = project.offload(&[&args[..], &["--format", "markdown"]].concat());
    assert!(comment.success, "{}", comment.text);
    assert!(comment.text.contains("registers: tools&#47;clang &#47; before"), "{}", comment.text);
    assert!(comment.text.contains("| alpha | two | intel:pvc | 128 &#47; 128 |"), "{}", comment.text);
}

#[test]
fn a_matrix_without_any_kernel_fails() {
    let project = Project::with_fake_tools("two-files");
    let outcome = project.offload(&["report", "--offline", "--matrix", "clang=gone/clang"]);
    assert!(!outcome.success, "{}", outcome.text);
    for part in ["not built by", "gone/clang", "all", "clang of LLVM 19 or later was not found"] {
        assert!(outcome.text.contains(part), "no {part:?} in {}", outcome.text);
    }
}
