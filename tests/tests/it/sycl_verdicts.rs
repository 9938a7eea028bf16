//! `verify` beside what Intel's runtimes do: a file that runs has no problem, and one that is refused has one.
//!
//! What the runtimes do with each file was found by running them; `cargo xtask sycl` does so again.

#[path = "../../examples/sycl/cases.rs"]
mod cases;

use std::path::Path;
use std::process::Command;

use crate::support::cargo_offload;
use crate::support::script::output_text;

/// Where `verify` says otherwise: what the runtime did on the CPU of the test, the file, and why.
const OTHERWISE: [(&str, &str, &str); 6] = [
    (
        "refused",
        "importer",
        "a warning: a program that loads an object may link it with a file that exports what it needs",
    ),
    ("refused", "stranger", "exports of files that are linked are not compared with each other"),
    ("refused", "input", "it is sound, and was opened in another state than its own"),
    ("right", "native-object", "its native image is no code; CPUs compile the SPIR-V in this state"),
    ("right", "no-triple", "its native image is for no device, and no runtime takes it"),
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
    assert!(output.status.code().is_some_and(|code| code <= 1), "{files:?}: {}", output_text(&output));
    (output.status.success(), output_text(&output))
}

#[test]
fn verdicts_are_those_of_the_runtime() {
    let directory = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut tried = 0;
    let mut otherwise = 0;
    let mut damaged = 0u64;
    for case in cases::write_all(directory.path()) {
        let words: Vec<&str> = case.split('\t').collect();
        let [outcome, _state, _kernel, files @ ..] = words.as_slice() else { panic!("{case}") };
        let (is_well, text) = verified(files);
        tried += 1;
        match *outcome {
            // It is damaged, and runs all the same: both verdicts are true.
            "tolerated" => damaged += u64::from(!is_well),
            "right" | "elsewhere" if is_well => {}
            "refused" | "absent" if !is_well => {}
            _ if is_known(outcome, files[0]) => otherwise += 1,
            _ => wrong.push(format!("{case}: {text}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
    let found = format!(
        "0 verdicts other than the runtime's, but for {otherwise} that are known and {damaged} damaged files that run"
    );
    offload_tests::figure(format!("{tried} SYCLBIN files"), found);
}
