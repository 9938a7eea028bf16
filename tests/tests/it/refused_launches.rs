//! Launches that do not fit their kernel: the compiler refuses each, and says why.
//! `SNAPSHOTS=overwrite` accepts other words of the compiler.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use serde_json::Value;
use snapbox::{Data, assert_data_eq};

/// What the cases use. With all features, so that messages name all types that are buffers.
const CRATES: [&str; 3] = ["offload_format", "offload_rt", "tempfile"];

#[test]
fn launches_that_do_not_fit_their_kernel_do_not_compile() {
    let crates = crates();
    let directory = support::root().join("offload-rt/tests/typed/fail");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let cases: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect();
    assert!(cases.len() >= 10, "{cases:?}");
    for case in cases {
        let snapshot = Data::read_from(&case.with_extension("txt"), Some(snapbox::data::DataFormat::Text));
        assert_data_eq!(refusal(&case, &crates), snapshot.raw());
    }
}

/// The options by which rustc finds the crates.
fn crates() -> Vec<String> {
    let messages = support::build_of_workspace("cargo-offload").output().unwrap();
    assert!(messages.status.success(), "{}", String::from_utf8_lossy(&messages.stderr));
    let messages = String::from_utf8(messages.stdout).unwrap();
    let files = CRATES.map(|name| {
        let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut of_crate = messages
            .filter(|message| message["target"]["name"] == name && message["target"]["kind"][0] == "lib");
        let file = of_crate.next_back().unwrap()["filenames"][0].as_str().unwrap().to_string();
        assert!(file.ends_with(".rlib"), "{file}");
        file
    });
    let dependencies = Path::new(&files[0]).parent().unwrap().display();
    let externs = CRATES.iter().zip(&files).map(|(name, file)| format!("--extern={name}={file}"));
    externs
        .chain([format!("-Ldependency={dependencies}/deps"), format!("-Ldependency={dependencies}")])
        .collect()
}

/// What rustc says of `case`, which must not compile.
fn refusal(case: &Path, crates: &[String]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--error-format=json", "--emit=metadata", "--out-dir"]);
    let output = rustc.arg(directory.path()).args(crates).arg(case).output().unwrap();
    let output_text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{} compiles: {output_text}", case.display());
    let messages = output_text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    messages.filter(|message| !message["spans"].as_array().unwrap().is_empty()).map(|it| shown(&it)).collect()
}

/// A message of the compiler's, with the places that it names; in other files than the case they have no line, because
/// those files change for other reasons.
fn shown(message: &Value) -> String {
    let mut text = String::new();
    let code = message["code"]["code"].as_str().map(|code| format!("[{code}]")).unwrap_or_default();
    let output_text = message["message"].as_str().unwrap();
    writeln!(text, "{}{code}: {output_text}", message["level"].as_str().unwrap()).unwrap();
    for span in message["spans"].as_array().unwrap() {
        let file = Path::new(span["file_name"].as_str().unwrap());
        let name = file.file_name().unwrap().to_str().unwrap();
        let is_case = file.parent().is_some_and(|parent| parent.ends_with("fail"));
        let at = if is_case {
            format!("{name}:{}:{}", span["line_start"], span["column_start"])
        } else {
            name.to_string()
        };
        let label =
            [&span["label"], &span["suggested_replacement"]].map(|it| it.as_str().unwrap_or_default());
        writeln!(text, "    {at}: {}", label.concat()).unwrap();
    }
    for child in message["children"].as_array().unwrap() {
        text.push_str(&shown(child));
    }
    text
}
