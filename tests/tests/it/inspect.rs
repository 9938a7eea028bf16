//! The subcommand on real programs: stripped, without section headers, and with a crate that is not linked.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::carried::sidecar;
use crate::support::{self, Project};

/// Runs `cargo offload` of this checkout.
fn offload(dir: &Path, args: &[&str]) -> Output {
    Command::new(support::cargo_offload()).arg("offload").args(args).current_dir(dir).output().unwrap()
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

fn inspect(path: &Path) -> String {
    let output = offload(path.parent().unwrap(), &["inspect", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn stripped(program: &Path, tool: &str, flag: &str) -> PathBuf {
    let path = program.with_extension(flag.trim_start_matches('-'));
    let status = Command::new(tool).arg(flag).arg(program).arg(&path).status().unwrap();
    assert!(status.success());
    path
}

#[test]
fn a_stripped_program_shows_the_same_images() {
    let project = Project::with_fake_tools("two-files");
    let program = project.program();
    let whole = inspect(&program);
    for target in ["spirv64", "intel:pvc", "opencl-c"] {
        assert!(whole.contains(target), "{whole}");
    }
    for (tool, flag) in [("objcopy", "--strip-all"), ("llvm-objcopy-22", "--strip-sections")] {
        let Some(_) = offload_tests::require(tool) else { continue };
        assert_eq!(inspect(&stripped(&program, tool, flag)), whole, "{flag}");
    }
    // The program agrees with what was read from its file.
    assert_eq!(project.run(&[]).lines().count(), whole.lines().count() - 1);
}

/// What the subcommand prints, which succeeds.
fn ok(project: &Project, args: &[&str]) -> String {
    let outcome = project.offload(&[args, &["--offline"]].concat());
    assert!(outcome.success, "{args:?}: {}", outcome.text);
    outcome.text
}

#[test]
fn commands_build_a_package_with_kernels_and_look_at_its_program() {
    let project = Project::with_fake_tools("two-files");
    assert!(ok(&project, &["asm", "--for", "opencl-c"]).contains("kernel"));
    // For a package with kernels, the selection for each device is printed; only there a build pays.
    assert!(ok(&project, &["devices"]).contains("  two "));
    let tried = ok(&project, &["compression", "--profile", "dev"]);
    assert!(tried.contains("balanced") && tried.contains("3 images of"), "{tried}");
    let less = project.path("less");
    let beside = project.path("beside");
    ok(&project, &["prune", "--keep", "spirv64", "-o", less.to_str().unwrap()]);
    ok(&project, &["repack", "--sidecar", "-o", beside.to_str().unwrap()]);
    assert!(!inspect(&less).contains("opencl-c "));
    assert!(inspect(&beside).contains(&sidecar(&project.path(""), "beside")));
    let raw = project.path("two.cl");
    ok(&project, &["export", "--format", "raw", "--target", "opencl-c", "-o", raw.to_str().unwrap()]);
    assert!(raw.exists());
}

#[test]
fn verify_names_a_crate_that_nobody_mentions() {
    let project = Project::with_fake_tools("unmentioned");
    let program = project.program();
    let manifest = project.path("Cargo.toml");
    let args = ["verify", program.to_str().unwrap(), "--manifest-path", manifest.to_str().unwrap()];
    let output = offload(&project.path(""), &args);
    let output_text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{output_text}");
    assert!(
        output_text.contains("the kernels of package kern-forgotten are not linked into the program"),
        "{output_text}"
    );
    assert!(output_text.contains("`use kern_forgotten as _;`"), "{output_text}");
    assert!(!output_text.contains("package kern-mentioned"), "{output_text}");

    // With the mention it is linked.
    let main = std::fs::read_to_string(project.path("src/main.rs")).unwrap();
    project.write(
        "src/main.rs",
        &main.replace("use kern_mentioned as _;", "use kern_mentioned as _;\nuse kern_forgotten as _;"),
    );
    let program = project.program();
    let output = offload(&project.path(""), &args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(inspect(&program).contains("kern-forgotten"));
}

fn asm(file: &str, kernel: &str) -> String {
    let output = offload(&support::root().join("tests/data"), &["asm", file, kernel]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    text(&output)
}

#[test]
fn machine_code_of_one_kernel_is_shown() {
    if offload_tests::require("llvm-objdump-22").is_some() {
        let code = asm("saxpy-reduce-gfx90a.co", "saxpy");
        assert!(code.contains("<saxpy>:") && code.contains("s_endpgm"), "{code}");
        assert!(!code.contains("<reduce>:") && !code.contains("file format"), "{code}");
    }
    // Debian has the library of this disassembler under another name than ocloc asks for.
    if offload_tests::require("ocloc").is_some() {
        let code = asm("saxpy-reduce.zebin", "saxpy");
        assert!(code.contains("send.ugm") && code.lines().count() < 100, "{code}");
    }
    if offload_tests::require("spirv-dis").is_some() {
        let code = asm("saxpy-reduce.spv", "saxpy");
        assert!(code.contains("%saxpy = OpFunction") && code.contains(" fma "), "{code}");
        assert!(!code.contains("%reduce = OpFunction"), "{code}");
    }
}
