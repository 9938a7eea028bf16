//! Build scripts without a compiler: an installed `cargo-offload` compiles for them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::script::{self, Places, Script};
use crate::support::{self, Project};

/// The fixture `two-files` with fake compilers.
fn project() -> Project {
    let mut project = Project::with_fake_tools("two-files");
    project.set("OFFLOAD_CARGO_OFFLOAD", support::cargo_offload().to_str().unwrap());
    project
}

/// The same whose build script has no compiler.
fn delegating() -> Project {
    let project = project();
    remove_compiler(&project);
    project
}

fn remove_compiler(project: &Project) {
    let manifest = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let without = manifest.replace("offload-build\" }", "offload-build\", default-features = false }");
    assert_ne!(without, manifest);
    project.write("Cargo.toml", &without);
}

fn places(project: &Project, below: &Path) -> Places {
    Places { package: project.path(""), out: below.join("out"), cache: below.join("cache") }
}

fn run(project: &Project, places: &Places) -> Output {
    Script::for_project(project).command(places).output().unwrap()
}

/// The lines for cargo without those that name the two places, or what compiled.
fn directives(output: &Output, below: &Path) -> Vec<String> {
    let below = below.to_str().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace(below, "BELOW");
    let own = ["OFFLOAD_CARGO_OFFLOAD", "changed=PATH", support::cargo_offload().to_str().unwrap()];
    let lines = text.lines().filter(|line| !own.iter().any(|own| line.contains(own)));
    lines.map(str::to_string).collect()
}

#[test]
fn images_and_directives_are_those_of_a_build_script_that_compiles() {
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    // One project after the other, in the same directory.
    let project = project();
    let here = run(&project, &places(&project, first.path()));
    assert!(here.status.success(), "{}", script::output_text(&here));
    remove_compiler(&project);
    let there = run(&project, &places(&project, second.path()));
    assert!(there.status.success(), "{}", script::output_text(&there));
    let [one, other] = [&first, &second].map(|below| script::of_programs(&below.path().join("out")));
    assert!(one.len() >= 3, "{:?}", one.keys());
    assert_eq!(script::differences(&one, &other), [""; 0]);
    assert_eq!(directives(&here, first.path()), directives(&there, second.path()));
    let text = String::from_utf8_lossy(&there.stdout).into_owned();
    let compiler = format!("cargo::rerun-if-changed={}", support::cargo_offload().display());
    assert!(text.lines().any(|line| line == compiler), "{text}");
}

#[test]
fn the_program_runs_and_is_built_again_after_an_edit() {
    let project = delegating();
    // Cargo takes a file that is missing for changed.
    project.write("flags.txt", "");
    let before = project.run(&[]);
    let unchanged = project.cargo(&["build", "--offline", "--verbose"]);
    assert!(unchanged.success && !unchanged.text.contains("Running"), "{}", unchanged.text);
    let source = fs::read_to_string(project.path("kernels/a.cl")).unwrap();
    project.write("kernels/a.cl", &format!("{source}\n// edited\n"));
    project.calls();
    // The image for drivers is the source.
    assert_ne!(project.run(&[]), before);
    assert!(project.calls().iter().any(|call| call.contains("a.cl")));
}

#[test]
fn errors_are_those_of_a_build_script_that_compiles() {
    let mut texts = Vec::new();
    for project in [project(), delegating()] {
        project.fault("clang", "old");
        let text = project.fail();
        let error = &text[text.find("\n  error: ").expect(&text)..];
        texts.push(error.replace(project.path("").to_str().unwrap(), "PROJECT"));
    }
    assert!(texts[0].contains("hint: "), "{}", texts[0]);
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn a_missing_cargo_offload_is_named_with_the_command_that_installs_it() {
    let mut project = delegating();
    project.set("OFFLOAD_CARGO_OFFLOAD", "/nonexistent/cargo-offload");
    let text = project.fail();
    let install = format!("hint: cargo install cargo-offload@{} --locked", env!("CARGO_PKG_VERSION"));
    assert!(text.contains("/nonexistent/cargo-offload") && text.contains(&install), "{text}");
}

#[test]
fn a_cargo_offload_that_knows_no_build_scripts_is_an_error_with_its_output() {
    let mut project = delegating();
    project.set("OFFLOAD_CARGO_OFFLOAD", "/bin/cat");
    let text = project.fail();
    assert!(
        text.contains("/bin/cat offload build-script` failed") && text.contains("No such file"),
        "{text}"
    );
}

/// What another version sends.
#[test]
fn requests_of_other_versions_are_refused() {
    let mut command = Command::new(support::cargo_offload());
    let request = tempfile::NamedTempFile::new().unwrap();
    fs::write(request.path(), "version = \"9.8.7\"\nrequest = \"package\"\n").unwrap();
    command.args(["offload", "build-script"]).stdin(fs::File::open(request.path()).unwrap());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("cargo install cargo-offload@9.8.7 --locked"), "{text}");
}
