//! The programs of the README and of the book, made as they say, and what an unchanged build starts after it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{self, Project, blocks};

/// A project that has only what the first page says, with this checkout in place of the published crates.
fn follow_the_guide() -> Project {
    let readme = fs::read_to_string(support::root().join("README.md")).unwrap();
    let project = Project::new("guide");
    let dependencies = &blocks(&readme, "toml")[0];
    let dependencies = dependencies
        .replace(
            "offload-build = \"0.1\"",
            &format!("offload-build = {{ path = \"{}\" }}", crate_path("offload-build")),
        )
        .replace("version = \"0.1\"", &format!("path = \"{}\"", crate_path("offload-rt")));
    let manifest = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    project.write("Cargo.toml", &format!("{manifest}\n{dependencies}"));
    project.write("kernels/blas.cl", &blocks(&readme, "c")[0]);
    let [build, main] = &blocks(&readme, "rust")[..] else { panic!("build.rs and main.rs") };
    project.write("build.rs", build);
    project.write("src/main.rs", main);
    project
}

/// The directory of a crate of this workspace.
fn crate_path(name: &str) -> String {
    support::root().join(name).display().to_string()
}

/// The programs and build scripts of the book's pages, each with the page's name.
fn programs_of_the_book() -> Vec<(String, String)> {
    let pages = fs::read_dir(support::root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut programs = Vec::new();
    for page in pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let name = page.file_stem().unwrap().to_str().unwrap().to_string();
        let text = fs::read_to_string(&page).unwrap();
        programs.extend(blocks(&text, "rust").into_iter().map(|block| (name.clone(), block)));
    }
    programs
}

#[test]
fn every_program_of_the_book_compiles() {
    let mut project = Project::new("guide");
    project.set("OFFLOAD_SKIP", "1");
    let manifest = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let rt = crate_path("offload-rt");
    let build = crate_path("offload-build");
    let dependencies = format!(
        "[dependencies]\noffload-rt = {{ path = \"{rt}\", features = [\"opencl\", \"cuda\", \"hip\", \"test\", \"futures\", \"dlpack\"] }}\n\
         offload-build = {{ path = \"{build}\" }}\n\n[build-dependencies]\noffload-build = {{ path = \"{build}\" }}\n"
    );
    project.write("Cargo.toml", &format!("{manifest}\n{dependencies}"));
    let calls = ["blas", "attention"]
        .map(|name| format!("offload_build::Build::new().file(\"kernels/blas.cl\").compile(\"{name}\");\n"));
    project.write("build.rs", &format!("fn main() {{\n{}}}\n", calls.concat()));
    let readme = fs::read_to_string(support::root().join("README.md")).unwrap();
    project.write("kernels/blas.cl", &blocks(&readme, "c")[0]);
    fs::create_dir(project.path("src/bin")).unwrap();
    let programs = programs_of_the_book();
    assert!(programs.len() > 7, "{} programs", programs.len());
    for (number, (page, program)) in programs.iter().enumerate() {
        // A library's page has no `main`.
        let main = if program.contains("fn main()") { "" } else { "\nfn main() {}\n" };
        let file = format!("src/bin/{}-{number}.rs", page.to_lowercase());
        fs::write(project.path(&file), format!("#![deny(warnings)]\n{program}{main}")).unwrap();
    }
    let checked = project.cargo(&["check", "--offline", "--bins"]);
    assert!(checked.success, "{}", checked.text);
    // The tests in them too.
    let tested = programs.iter().position(|(page, _)| page == "testing").unwrap();
    let checked =
        project.cargo(&["check", "--offline", "--profile", "test", "--bin", &format!("testing-{tested}")]);
    assert!(checked.success, "{}", checked.text);
}

#[test]
fn the_guide_works_as_written() {
    let project = follow_the_guide();
    assert_eq!(project.run(&[]).trim(), "5");

    let Some(strace) = offload_tests::require("strace") else { return };
    assert_eq!(started_by_a_build(&project, &strace), [""; 0]);
    // The count sees compilers where there are some.
    let kernel = fs::read_to_string(project.path("kernels/blas.cl")).unwrap();
    project.write("kernels/blas.cl", &kernel.replace("+=", "-="));
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
        .envs(support::LESS_TO_COMPILE)
        .env_remove("OFFLOAD_CONFIG")
        .env_remove("CLIPPY_ARGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(log).unwrap();
    let started = log.lines().filter_map(|line| line.split('"').nth(1)).map(str::to_string);
    started.filter(|path| !path.ends_with("/cargo") && !path.ends_with("/rustc")).collect()
}
