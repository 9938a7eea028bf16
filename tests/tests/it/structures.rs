//! The sizes of structures: what a launch gives is compared with what the compiler knows, whatever image runs.

use std::process::Command;

use crate::support::Project;

fn project() -> Project {
    let mut project = Project::with_shared_cache("structures");
    project.set("OFFLOAD_TARGETS", "host,opencl-c");
    project
}

#[test]
fn values_and_strides_of_another_size_are_refused_for_every_image() {
    if !offload_tests::is_nightly() {
        return;
    }
    let mut project = project();
    for (targets, devices) in [("host,opencl-c", 2), ("opencl-c", 1)] {
        project.set("OFFLOAD_TARGETS", targets);
        let mut command = Command::new(project.program());
        command.env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{targets}: {output:?}");
        assert_eq!(text.lines().count(), devices * 6, "{targets}: {text}");
        for line in text.lines() {
            let (case, result) = line.rsplit_once(": ").unwrap();
            let case = case.rsplit_once(": ").unwrap().1;
            let expected = match case {
                "typed" => "[2.0, 4.0]",
                "samples as bytes" => "[0.0, 0.0]",
                "points of 16 bytes" => "[3.0, 3.0]",
                _ => "refused",
            };
            assert_eq!(result, expected, "{targets}: {line}");
        }
    }
}

#[test]
fn a_structure_of_another_size_does_not_compile() {
    let project = project();
    let main = std::fs::read_to_string(project.path("src/main.rs")).unwrap();
    for (line, argument) in [("    padding: [i32; 2],\n", "value"), ("    next: i32,\n", "pointer")] {
        assert!(main.contains(line));
        project.write("src/main.rs", &main.replace(line, ""));
        let outcome = project.cargo(&["build", "--offline"]);
        assert!(!outcome.success && outcome.text.contains("E0080"), "{}", outcome.text);
        assert!(outcome.text.contains(argument), "{}", outcome.text);
    }
}
