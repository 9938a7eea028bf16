//! Snapshots of the output of `cargo offload` for builds, runs, checks and vendoring.
//! `SNAPSHOTS=overwrite cargo test -p offload-tests --test it snapshots` accepts changes.

use std::path::Path;

use crate::support::Project;
use snapbox::{Data, assert_data_eq};

fn snapshot(name: &str) -> Data {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    // What is printed has backslashes that are no separators of paths.
    Data::read_from(&path, Some(snapbox::data::DataFormat::Text)).raw()
}

/// What commands say, each after its command line and with its exit code if it fails. What depends on the machine, on
/// the release of cargo and on what was built before is left out.
fn session(project: &Project, steps: &[&[&str]]) -> String {
    let mut text = String::new();
    for args in steps {
        let outcome = project.offload(args);
        let code = if outcome.success { String::new() } else { format!("[exit code {}]\n", outcome.code) };
        let lines = outcome.text.lines().filter_map(|line| shown(line, &project.name()));
        let lines: String = lines.map(|line| line + "\n").collect();
        text.push_str(&format!("$ cargo offload {}\n{lines}{code}\n", args.join(" ")));
    }
    let target = project.target_dir().display().to_string();
    let directory = project.path("").display().to_string();
    let text = text.replace(directory.trim_end_matches('/'), "[DIR]").replace(&target, "[TARGET]");
    without_chance(&text.replace(&project.name(), "fixture"))
}

/// A line, if it is none of cargo's about the crates of this checkout, which other tests may have built already. Cargo's
/// own messages are its concern: of those it is shown which there are.
fn shown(line: &str, package: &str) -> Option<String> {
    let verbs = ["Compiling", "Checking", "Locking", "Adding", "Blocking"];
    let words: Vec<&str> = line.split_whitespace().collect();
    let of_others = verbs.iter().any(|verb| words.starts_with(&[verb])) && !line.contains(package)
        || line == "warning: build failed, waiting for other jobs to finish...";
    if of_others || line.starts_with("note: To improve backtraces") {
        return None;
    }
    let message: serde_json::Value = match serde_json::from_str(line) {
        Ok(message) => message,
        Err(_) => return Some(line.to_string()),
    };
    let Some(of) = message["package_id"].as_str() else { return Some(line.to_string()) };
    let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
    of.contains(package).then(|| format!("[cargo: {} {kind}]", message["reason"].as_str().unwrap()))
}

/// The same without times, names of temporary files and cargo's hashes.
fn without_chance(text: &str) -> String {
    text.lines()
        .map(|line| match line.split_once(" target(s) in ") {
            Some((before, _)) => format!("{before} target(s) in [time]\n"),
            None => format!("{}\n", without_word(&without_word(line, ".offload-"), "/build/fixture-")),
        })
        .collect()
}

/// What follows `start`, up to what is no letter and no digit, made `[..]`.
fn without_word(line: &str, start: &str) -> String {
    let mut parts = line.split(start);
    let first = parts.next().unwrap().to_string();
    parts.fold(first, |text, part| {
        format!("{text}{start}[..]{}", part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()))
    })
}

#[test]
fn a_package_is_built_run_and_checked() {
    let project = Project::with_fake_tools("two-files");
    let text = session(
        &project,
        &[
            &["check", "--offline"],
            &["build", "--offline"],
            &["run", "--offline"],
            &["run", "--offline", "--quiet"],
            &["build", "--offline", "--message-format", "json"],
            &["check", "--offline", "--message-format", "json"],
            &["run", "--offline", "--message-format", "json"],
        ],
    );
    assert_data_eq!(text, snapshot("build.txt"));
}

#[test]
fn a_kernel_does_not_compile() {
    let project = Project::with_fake_tools("two-files");
    project.fault("clang", "fail");
    let text = session(
        &project,
        &[
            &["check", "--offline"],
            &["build", "--offline"],
            &["run", "--offline"],
            &["build", "--offline", "--quiet"],
            &["build", "--offline", "--json"],
            &["vendor", "--offline"],
            &["inspect", "--offline"],
        ],
    );
    assert_data_eq!(text, snapshot("build-fails.txt"));
}

#[test]
fn images_are_vendored() {
    let project = Project::with_fake_tools("two-files");
    let mut text = session(
        &project,
        &[
            &["vendor", "--offline"],
            &["vendor", "--offline", "--json"],
            &["vendor", "--offline", "--verify"],
            &["vendor", "--offline", "--verify", "--json", "--sbom", "bom.json"],
        ],
    );
    project.write("kernels/common.h", "#define COMMON 7\n");
    text += &session(
        &project,
        &[&["vendor", "--offline", "--verify"], &["vendor", "--offline", "--verify", "--json"]],
    );
    assert_data_eq!(text, snapshot("vendor.txt"));
}
