//! Tensors that NumPy takes, and gives, through DLPack.

use std::process::Command;

use serde_json::Value;

use crate::support::script::succeed;
use crate::support::{self, Project};

#[test]
fn numpy_has_buffers_and_gives_arrays_without_a_copy() {
    let Some(python) = offload_tests::require("python3") else { return };
    let Some(packages) = offload_tests::require_numpy() else { return };
    let project = Project::new("numpy");
    let outcome = project.cargo(&["build", "--offline", "--message-format=json-render-diagnostics"]);
    assert!(outcome.success, "{}", outcome.text);
    let messages = outcome.text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut libraries = messages.filter(|message| message["target"]["kind"][0] == "cdylib");
    let library = libraries.next().unwrap()["filenames"][0].as_str().unwrap().to_string();
    let script = support::root().join("tests/fixtures/numpy/exchange.py");
    let mut command = Command::new(python);
    command.arg("-B").arg(script).arg(library).env("PYTHONPATH", packages);
    assert_eq!(succeed(&mut command).trim(), "exchanged");
}
