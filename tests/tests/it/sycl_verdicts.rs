//! `verify` beside what Intel's runtimes do: a file that runs has no problem, and one that is refused has one.
//!
//! What the runtimes do with each file was found by running them; `cargo xtask sycl` does so again.

#[path = "../../examples/sycl/cases.rs"]
mod cases;

use std::path::Path;
use std::process::Command;

use crate::support::cargo_offload;
use crate::support::script::said;

/// Where `verify` says otherwise: what the runtime did on the CPU of the test, the file, and why.
const OTHERWISE: [(&str, &str, &str); 9] = [
    (
        "refused",
        "importer",
        "a warning: whoever loads an object may link it with a file that exports what it needs",
    ),
    ("refused", "stranger", "exports of files that are linked are not compared with each other"),
    ("refused", "input", "it is sound, and was opened in another state than its own"),
    ("right", "gpus-input", "its native images are no code; only GPUs would take them"),
    ("right", "gpus-object", "the same"),
    ("right", "gpus-executable", "the same"),
    ("right", "native-object", "the same, for CPUs, which compile the SPIR-V in this state"),
    ("right", "no-triple", "its native image is for no device, and nobody takes it"),
    ("right", "typed-ptx", "its IR says that it is PTX, and is SPIR-V"),
];

fn is_known(outcome: &str, file: &str) -> bool {
    let stem = Path::new(file).file_stem().unwrap();
    OTHERWISE.iter().any(|(of, name, _)| *of == outcome && stem == *name)
}

/// What `verify` says of the first of `files`, which is linked with the others.
fn verified(files: &[&str]) -> (bool, String) {
    let mut command = Command::new(cargo_offload());
    command.args(["verify", "--for", "sycl-2026.2", files[0]]);
    for other in &files[1..] {
        command.args(["--linked-with", other]);
    }
    let output = command.current_dir("/").output().unwrap();
    assert!(output.status.code().is_some_and(|code| code <= 1), "{files:?}: {}", said(&output));
    (output.status.success(), said(&output))
}

#[test]
fn verdicts_are_those_of_the_runtime() {
    let directory = tempfile::tempdir().unwrap();
    let (mut wrong, mut tried, mut otherwise) = (Vec::new(), 0, 0);
    for case in cases::write_all(directory.path()) {
        let words: Vec<&str> = case.split('\t').collect();
        let [outcome, _state, _kernel, files @ ..] = words.as_slice() else { panic!("{case}") };
        let (is_well, text) = verified(files);
        tried += 1;
        let expected = match *outcome {
            "right" => is_well,
            "refused" => !is_well,
            // The kernel is for other devices than that of the test.
            _ => true,
        };
        if !expected && is_known(outcome, files[0]) {
            otherwise += 1;
        } else if !expected {
            wrong.push(format!("{case}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    let found = format!("0 verdicts other than the runtime's, but for {otherwise} that are known");
    offload_tests::figure(format!("{tried} SYCLBIN files"), found);
}
