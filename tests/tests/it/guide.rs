//! The five-minute guide of the README, done as it says, and what an unchanged build starts after it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{self, Project, blocks};

/// A project that has only what the guide says, with this checkout in place of the published crates.
fn follow_the_guide() -> Project {
    let readme = fs::read_to_string(support::root().join("README.md")).unwrap();
    let project = Project::new("guide");
    let dependencies = &blocks(&readme, "toml")[0];
    let path = |name: &str| format!("path = \"{}\"", support::root().join(name).display());
    let dependencies = dependencies
        .replace("offload-build = \"0.1\"", &format!("offload-build = {{ {} }}", path("offload-build")))
        .replace("version = \"0.1\"", &path("offload-rt"));
    let manifest = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    project.write("Cargo.toml", &format!("{manifest}\n{dependencies}"));
    project.write("build.rs", &blocks(&readme, "rust")[0]);
    let (include, body) = blocks(&readme, "rust,ignore")[0]
        .split_once("\n\n")
        .map(|(a, b)| (a.to_string(), b.to_string()))
        .unwrap();
    let report = "println!(\"{:?}\", program.kernels().iter().map(|k| k.name.as_str()).collect::<Vec<_>>());";
    let main =
        format!("{include}\n\nfn main() -> Result<(), offload_rt::Error> {{\n{body}\n{report}\nOk(())\n}}\n");
    project.write("src/main.rs", &main);
    for file in ["blas.cl", "common.h"] {
        let from = support::root().join("example-app/kernels").join(file);
        fs::copy(from, project.path("kernels").join(file)).unwrap();
    }
    project
}

#[test]
fn the_guide_works_as_written() {
    let project = follow_the_guide();
    assert_eq!(project.run(&[]).trim(), "[\"saxpy\", \"matmul\"]");

    let Some(strace) = offload_tests::require("strace") else { return };
    assert_eq!(started_by_a_build(&project, &strace), [""; 0]);
    // The count sees compilers where there are some.
    project.write("kernels/common.h", "#define TILE 8\n");
    let started = started_by_a_build(&project, &strace);
    assert!(started.iter().any(|path| path.contains("clang")), "{started:?}");
}

/// The programs that `cargo build` starts, beside itself and rustc, whatever their names.
fn started_by_a_build(project: &Project, strace: &Path) -> Vec<String> {
    let log = project.path("execs.txt");
    let output = Command::new(strace)
        .args(["-f", "-qq", "-e", "trace=execve", "-e", "status=successful", "-o"])
        .arg(&log)
        .args([env!("CARGO"), "build", "--offline"])
        .current_dir(project.path(""))
        .env("CARGO_TARGET_DIR", project.target_dir())
        .env("OFFLOAD_CACHE_DIR", project.path("cache"))
        .envs([support::LESS_DEBUG_INFO])
        .env_remove("OFFLOAD_CONFIG")
        .env_remove("CLIPPY_ARGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(log).unwrap();
    let started = log.lines().filter_map(|line| line.split('"').nth(1)).map(str::to_string);
    started.filter(|path| !path.ends_with("/cargo") && !path.ends_with("/rustc")).collect()
}
