//! `offload.toml` is found however cargo is started.

use std::fs;
use std::process::Command;

use crate::support::{Outcome, Project};

/// A package whose own default is one target, without a setting for cargo.
fn project() -> Project {
    let project = Project::with_fake_tools("two-files");
    fs::remove_file(project.path(".cargo/config.toml")).unwrap();
    // While it is missing, cargo runs the build script each time.
    project.write("flags.txt", "");
    let manifest = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    project
        .write("Cargo.toml", &format!("{manifest}\n[package.metadata.offload]\ntargets = [\"opencl-c\"]\n"));
    project
}

/// Runs the program with a cargo that is started in the root of the file system.
fn run(project: &Project) -> Outcome {
    let manifest = project.path("Cargo.toml");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--offline", "--manifest-path"]).arg(manifest).env("PWD", "/");
    let outcome = project.command_in("/", &mut cargo);
    assert!(outcome.success, "{}", outcome.text);
    outcome
}

/// The targets of the images in the program.
fn targets(project: &Project) -> Vec<String> {
    let text = run(project).text;
    let lines = text.lines().filter(|line| line.ends_with(" bytes"));
    lines.map(|line| line.split(' ').next().unwrap().to_string()).collect()
}

#[test]
fn from_another_directory_and_when_it_appears_or_goes() {
    let project = project();
    assert_eq!(targets(&project), ["spirv64", "intel:pvc", "opencl-c"]);
    fs::rename(project.path("offload.toml"), project.path("other.toml")).unwrap();
    assert_eq!(targets(&project), ["opencl-c"]);
    // Waiting for the file costs no build.
    assert!(!run(&project).text.contains("Compiling"));
    project.write("offload.toml", "targets = [\"spirv64\"]\n");
    assert_eq!(targets(&project), ["spirv64"]);
    assert!(!run(&project).text.contains("Compiling"));
}

#[test]
fn names_of_modules_that_are_not_there() {
    let project = project();
    project.write("offload.toml", "targets = [\"opencl-c\"]\n[modules.tow]\nstrip = true\n");
    let text = run(&project).text;
    assert!(text.contains("offload.toml`: no kernel module is called `tow`; did you mean `two`?"), "{text}");
    project.write("offload.toml", "targets = [\"opencl-c\"]\n[modules.other]\nstrip = true\n");
    let text = run(&project).text;
    assert!(
        text.contains(&format!("no kernel module is called `other`; {} compiles two", project.name())),
        "{text}"
    );
    // Nor is one for which the program asks.
    let main = fs::read_to_string(project.path("src/main.rs")).unwrap();
    project.write("src/main.rs", &main.replace("\"two\"", "\"tow\""));
    let text = project.fail();
    assert!(text.contains("build.rs compiles no kernel module `tow`; there are: two"), "{text}");
}

#[test]
fn a_member_has_one_of_its_own_unless_a_variable_names_another() {
    let mut project = project();
    let member = project.path("member");
    fs::create_dir(&member).unwrap();
    for name in ["build.rs", "flags.txt", "Cargo.toml", "kernels", "src"] {
        fs::rename(project.path(name), member.join(name)).unwrap();
    }
    let manifest = fs::read_to_string(member.join("Cargo.toml")).unwrap().replace("[workspace]\n", "");
    let (package, profiles) = manifest.split_once("# As").unwrap();
    let metadata = "[package.metadata.offload]\ntargets = [\"opencl-c\"]\n";
    fs::write(member.join("Cargo.toml"), format!("{package}{metadata}")).unwrap();
    let profiles = profiles.split_once('\n').unwrap().1.replace(metadata, "");
    project
        .write("Cargo.toml", &format!("[workspace]\nmembers = [\"member\"]\nresolver = \"3\"\n{profiles}"));
    assert_eq!(targets(&project), ["spirv64", "intel:pvc", "opencl-c"]);
    project.write("member/offload.toml", "targets = [\"spirv64\"]\n");
    assert_eq!(targets(&project), ["spirv64"]);
    project.set("OFFLOAD_CONFIG", project.path("offload.toml").to_str().unwrap());
    let text = run(&project).text;
    assert!(
        text.contains("intel:pvc ") && text.contains("member/offload.toml` is not read: OFFLOAD_CONFIG"),
        "{text}"
    );
}
