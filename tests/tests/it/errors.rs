//! Errors of builds: one message with the cause and the next step, no panic.

use crate::support::{self, Project};
use offload_containers::ocloc::{self, OclocImage};

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}

/// These stand one after another, after what cargo says.
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let (_, after) =
            rest.split_once(part).unwrap_or_else(|| panic!("no {part:?} behind others in:\n{text}"));
        rest = after;
    }
}

#[test]
fn a_missing_clang() {
    let mut project = Project::with_fake_tools("two-files");
    project.set("OFFLOAD_CLANG", "/nonexistent/clang");
    contains(
        &project.fail(),
        &["clang of LLVM 19 or later was not found", "/nonexistent/clang", "OFFLOAD_CLANG", "hint: "],
    );
}

#[test]
fn a_missing_clang_is_a_warning_where_kernels_are_only_checked() {
    let mut project = Project::with_fake_tools("two-files");
    project.set("OFFLOAD_CLANG", "/nonexistent/clang");
    project.set("OFFLOAD_CHECK", "1");
    let checked = project.cargo(&["check", "--offline"]);
    assert!(checked.success, "{}", checked.text);
    contains(
        &checked.text,
        &["kernels were not checked: ", "clang of LLVM 19 or later was not found", "hint: "],
    );
    // rust-analyzer, while it reads a project.
    project.set("OFFLOAD_CHECK", "0");
    project.fail();
    project.set("RA_RUSTC_WRAPPER", "1");
    let read = project.cargo(&["check", "--offline"]);
    assert!(read.success && !read.text.contains("warning"), "{}", read.text);
}

#[test]
fn a_release_that_lacks_a_target_makes_the_others() {
    let mut project = Project::with_fake_tools("two-files");
    project.fault("clang", "llvm-19");
    for (target, first) in [
        ("spirv64", "has no SPIR-V back end: LLVM 20 is the first"),
        ("nvptx:sm_120", "has no processor `sm_120`: LLVM 20 is the first"),
        ("amdgcn:gfx1251", "has no processor `gfx1251`: LLVM 22 is the first"),
    ] {
        project.set("OFFLOAD_TARGETS", &format!("{target},opencl-c"));
        project.set("OFFLOAD_OPTIONAL", "0");
        contains(&project.fail(), &[&format!("for `{target}`"), "LLVM 19 (`", first, "hint: "]);
        project.set("OFFLOAD_OPTIONAL", "1");
        let built = project.cargo(&["build", "--offline"]);
        assert!(built.success, "{}", built.text);
        contains(&built.text, &[&format!("optional target `{target}` is left out"), first]);
        assert!(!built.text.contains("`opencl-c` is left out"), "{}", built.text);
    }
}

#[test]
fn a_clang_that_is_too_old() {
    let project = Project::with_fake_tools("two-files");
    project.fault("clang", "old");
    contains(
        &project.fail(),
        &["LLVM 15, too old: 19 is the oldest", "tools/clang", "override: set OFFLOAD_CLANG", "hint: "],
    );
}

#[test]
fn a_missing_ocloc() {
    let mut project = Project::with_fake_tools("two-files");
    project.set("OFFLOAD_OCLOC", "/nonexistent/ocloc");
    in_order(
        &project.fail(),
        &[
            "error: cannot compile kernel module `two` for `intel:pvc`\n  ocloc was not found\n",
            "/nonexistent/ocloc",
            "override: set OFFLOAD_OCLOC",
            "hint: ",
        ],
    );
}

/// A compiler that never ends would block a build for ever, and its output would be lost.
#[test]
fn a_tool_that_hangs() {
    let mut project = Project::with_fake_tools("two-files");
    project.set("OFFLOAD_TOOL_TIMEOUT", "1");
    project.fault("ocloc", "hang");
    in_order(
        &project.fail(),
        &[
            "error: cannot compile kernel module `two` for `intel:pvc`\n  made to hang\n",
            "stopped, because it ran for more than 1 s (",
            "/tools/ocloc ",
            "hint: OFFLOAD_TOOL_TIMEOUT=SECONDS allows more, OFFLOAD_TOOL_TIMEOUT=0 any time",
        ],
    );
    project.set("OFFLOAD_TOOL_TIMEOUT", "soon");
    contains(
        &project.fail(),
        &[
            "the value `soon` of `OFFLOAD_TOOL_TIMEOUT` is not understood",
            "hint: write OFFLOAD_TOOL_TIMEOUT=3600",
        ],
    );
}

/// The module and the target, what the tool says; the command, unless it is a source that is wrong.
#[test]
fn a_failing_tool() {
    let output_text = "kernels/a.cl:3:5: error: made to fail\n";
    for (tool, targets, command) in [
        ("clang", "`spirv64`, `intel:pvc` and `opencl-c`", "-o"),
        ("ocloc", "`intel:pvc`", "compile -spirv_input -device pvc"),
    ] {
        let project = Project::with_fake_tools("two-files");
        project.fault(tool, "fail");
        let heading = format!("error: cannot compile kernel module `two` for {targets}\n  {output_text}");
        let whole = [heading.as_str(), "  exit status: 1 (", &format!("/tools/{tool} "), command, ")\n"];
        for how in [&["build", "--offline"], &["check", "--offline"]] {
            let text = project.offload(how).text;
            // Nothing but a front end runs to check.
            if how[0] == "check" && tool == "ocloc" {
                assert!(!text.contains("cannot compile"), "{text}");
                continue;
            }
            in_order(&text, if tool == "clang" { &whole[..1] } else { &whole });
            assert_eq!(text.contains("  exit status: 1 ("), tool == "ocloc", "{text}");
        }
        in_order(&project.offload(&["build", "--offline", "--verbose"]).text, &whole);
    }
}

#[test]
fn an_assembler_that_is_missing_or_fails() {
    let mut project = Project::with_fake_tools("two-files");
    let ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry alpha()\n{\n\tnonsense;\n}\n";
    project.write("kernels/a.ptx", ptx);
    project.write("offload.toml", "targets = [\"cubin:sm_80\"]\n");
    project.write(
        "build.rs",
        "fn main() { offload_build::Build::new().file(\"kernels/a.ptx\").compile(\"two\"); }\n",
    );
    let heading = "error: cannot compile kernel module `two` for `cubin:sm_80`\n  ";
    project.set("OFFLOAD_PTXAS", "/nonexistent/ptxas");
    in_order(&project.fail(), &[heading, "ptxas was not found", "/nonexistent/ptxas", "hint: "]);
    project.fake_tool("ptxas", "OFFLOAD_PTXAS", b"");
    project.fault("ptxas", "fail");
    in_order(
        &project.fail(),
        &[heading, "made to fail\n  exit status: 1 (", "/tools/ptxas -v -O3 -arch=sm_80", ")\n"],
    );
}

#[test]
fn a_kernel_that_one_processor_does_not_take() {
    let project = Project::new("two-files");
    project.write("offload.toml", "targets = [\"amdgcn:gfx90a\", \"amdgcn:gfx1030\"]\n");
    project.write(
        "kernels/b.cl",
        "#ifdef __gfx1030__\n#error not for this one\n#endif\n__kernel void beta(__global int *x) {\n}\n",
    );
    in_order(
        &project.fail(),
        &[
            "error: cannot compile kernel module `two` for `amdgcn:gfx1030`\n  kernels/b.cl:2:2: error: not for this one\n",
        ],
    );
}

#[test]
fn an_optional_target_that_cannot_be_built_is_left_out_loudly() {
    let mut project = Project::with_fake_tools("two-files");
    project.set("OFFLOAD_OCLOC", "/nonexistent/ocloc");
    project.write("offload.toml", "targets = [\"spirv64\", { name = \"intel:pvc\", optional = true }]\n");
    let outcome = project.cargo(&["run", "--offline"]);
    assert!(outcome.success, "{}", outcome.text);
    contains(&outcome.text, &["optional target `intel:pvc` is left out: ocloc was not found", "spirv64 "]);
}

#[test]
fn an_unknown_target() {
    let project = Project::with_fake_tools("two-files");
    project.write("offload.toml", "targets = [\"intel:pcv\"]\n");
    contains(
        &project.fail(),
        &["unknown target `intel:pcv`", "hint: the nearest names are intel:pvc", "offload.toml"],
    );
    assert!(project.calls().is_empty());
}

#[test]
fn a_missing_source() {
    let project = Project::with_fake_tools("two-files");
    std::fs::remove_file(project.path("kernels/b.cl")).unwrap();
    in_order(
        &project.fail(),
        &[
            "error: cannot compile kernel module `two` for `spirv64`, `intel:pvc` and `opencl-c`\n",
            "kernels/b.cl` does not exist",
            "hint: ",
        ],
    );
}

#[test]
fn tools_that_lie_about_success() {
    for (tool, fault, message) in [
        ("clang", "empty", "its output is empty"),
        ("clang", "missing", "wrote no output"),
        ("ocloc", "empty", "its output is empty"),
        ("ocloc", "truncated", "its output is not usable"),
        ("ocloc", "missing", "wrote no output"),
    ] {
        let project = Project::with_fake_tools("two-files");
        project.fault(tool, fault);
        let text = project.fail();
        contains(&text, &["exited with success", message, tool]);
        // Nothing bad was kept: the repaired tool is asked again.
        project.fault(tool, "");
        assert_eq!(project.run(&[]).lines().count(), 3, "{tool} {fault}");
    }
}

#[test]
fn a_kernel_that_does_not_compile() {
    let project = Project::new("two-files");
    project.write("offload.toml", "targets = [\"spirv64\", \"opencl-c\", \"host\"]\n");
    project.write("kernels/b.cl", "__kernel void beta(__global int *x) {\n  x[0] = nonsense;\n}\n");
    let text = project.fail();
    contains(
        &text,
        &["kernels/b.cl:2:10: error: use of undeclared identifier 'nonsense'", "x[0] = nonsense;"],
    );
    assert_eq!(text.matches("use of undeclared identifier").count(), 1, "{text}");
    // The line says it all.
    assert!(!text.contains("-cl-std"), "{text}");
}

/// What Cargo prints in a directory of the project.
fn cargo_in(project: &Project, directory: &str, args: &[&str]) -> String {
    project.command_in(directory, std::process::Command::new(env!("CARGO")).args(args)).text
}

/// Each once, whatever the number of targets, with paths that lead to the files from where cargo was started.
#[test]
fn all_broken_files_of_a_module_are_told_at_once() {
    let project = Project::new("two-files");
    project.write("offload.toml", "targets = [\"spirv64\", \"opencl-c\", \"host\"]\n");
    project.write("kernels/a.cl", "__kernel void alpha(__global int *x) {\n  x[0] = nonsense;\n}\n");
    project.write("kernels/b.cl", "__kernel void beta(__global int *x) {\n  x[0] = rubbish;\n}\n");
    let first = "kernels/a.cl:2:10: error: use of undeclared identifier 'nonsense'";
    let second = "kernels/b.cl:2:10: error: use of undeclared identifier 'rubbish'";
    let text = project.fail();
    in_order(&text, &[&format!("\n  {first}\n"), &format!("\n  {second}\n")]);
    assert!(!text.contains("generated."), "{text}");
    std::fs::create_dir(project.path("elsewhere")).unwrap();
    let text = cargo_in(&project, "elsewhere", &["build", "--offline", "--manifest-path", "../Cargo.toml"]);
    let root = project.path("").canonicalize().unwrap();
    in_order(&text, &[&format!("\n  {}/{first}\n", root.display())]);
    let coloured = cargo_in(&project, "", &["build", "--offline", "--color", "always"]);
    contains(&coloured, &["\x1b[1;31merror: \x1b[0m\x1b[1muse of undeclared identifier 'nonsense'"]);
    // A warning of three front ends.
    for (file, kernel) in [("a", "alpha"), ("b", "beta")] {
        let text = format!("__kernel void {kernel}(__global int *x) {{\n  char c = 300;\n  x[0] = c;\n}}\n");
        project.write(&format!("kernels/{file}.cl"), &text);
    }
    let text = project.cargo(&["build", "--offline"]).text;
    assert_eq!(text.matches(".cl:2:12: warning: ").count(), 2, "{text}");
    assert!(text.contains(": kernels/b.cl:2:12: warning: ") && text.matches("| ").count() == 4, "{text}");
    assert!(!text.contains("stdin") && !text.contains("generated."), "{text}");
}

#[test]
fn a_function_without_definition() {
    let project = Project::new("two-files");
    let declared =
        "float missing(float x);\n__kernel void beta(__global float *x) {\n  x[0] = missing(x[1]);\n}\n";
    project.write("kernels/b.cl", declared);
    for target in ["host", "spirv64"] {
        project.write("offload.toml", &format!("targets = [\"{target}\"]\n"));
        let text =
            format!("kernels/b.cl:3: `missing` has no definition for `{target}`; kernel `beta` calls it\n");
        contains(&project.fail(), &[&text]);
    }
}

#[test]
fn a_variable_that_no_spirv_can_have() {
    let project = Project::new("two-files");
    let table = "__constant char *__constant titles[] = {\"a\", \"bcd\"};\n\
                 __kernel void beta(__global char *x, int i) {\n  x[0] = titles[i][0];\n}\n";
    project.write("kernels/b.cl", table);
    project.write("offload.toml", "targets = [\"spirv64\"]\n");
    contains(&project.fail(), &["not valid SPIR-V", "`titles`", "hint: ", "char titles[]["]);
}

#[test]
fn one_kernel_name_in_two_files() {
    let project = Project::with_fake_tools("two-files");
    project.write("kernels/b.cl", "__kernel void alpha(__global int *x) {\n}\n");
    contains(&project.fail(), &["kernel `alpha` is defined in `kernels/a.cl` and in `kernels/b.cl`"]);
}

#[test]
fn a_damaged_image_in_the_program() {
    let project = Project::with_fake_tools("two-files");
    let program = project.program();
    support::damage(&program, "spirv64");
    let output = std::process::Command::new(&program).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("spirv64")).unwrap();
    assert!(!line.contains("bytes") && line.contains("spirv64"), "{text}");
    // Its neighbours are as they were.
    assert_eq!(text.lines().filter(|line| line.ends_with(" bytes")).count(), 2, "{text}");
    contains(&text, &["hint: ", "`cargo offload verify PROGRAM` names every damaged image"]);
    let verified = project.offload(&["verify", program.to_str().unwrap()]);
    assert_eq!(verified.code, 1, "{}", verified.text);
    contains(&verified.text, &["spirv64"]);
}

#[test]
fn ready_made_code_that_no_target_fits() {
    let project = Project::with_fake_tools("two-files");
    project.write("kernels/a.hsaco", "");
    project.write(
        "build.rs",
        "fn main() { offload_build::Build::new().file(\"kernels/a.hsaco\").compile(\"two\"); }\n",
    );
    let text = project.fail();
    contains(
        &text,
        &[
            "none of the targets `spirv64`, `intel:pvc`, `opencl-c` fits the kernel module `two`, which is an AMD code object",
            "hint: `cargo offload targets add amdgcn:gfx90a`",
        ],
    );
    project.follow(&text);
    assert!(!project.fail().contains("none of the targets"));
}

#[test]
fn ready_made_ptx_for_another_architecture() {
    let project = Project::with_fake_tools("two-files");
    project.write(
        "kernels/a.ptx",
        ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry alpha() { ret; }\n",
    );
    let build = "fn main() { offload_build::Build::new().file(\"kernels/a.ptx\").compile(\"two\"); }\n";
    project.write("build.rs", build);
    project.write("offload.toml", "targets = [\"nvptx:sm_75\"]\n");
    contains(
        &project.fail(),
        &[
            "no file is for it: `kernels/a.ptx` is for `nvptx:sm_90`",
            "hint: PTX does not run on older architectures, and with a suffix on no other: compile it again with `-arch=sm_75`",
        ],
    );
    project.write("offload.toml", "targets = [\"nvptx:sm_100\"]\n");
    let text = project.fail();
    contains(&text, &["hint: `cargo offload targets add nvptx:sm_90` takes it as it is"]);
    project.follow(&text);
    contains(&project.fail(), &["for `nvptx:sm_100`"]);
    project.offload(&["targets", "remove", "nvptx:sm_100"]);
    assert!(project.run(&[]).starts_with("nvptx:sm_90 "));
}

#[test]
fn ready_made_images_of_ocloc_for_another_device() {
    let project = Project::with_fake_tools("two-files");
    let zebin = std::fs::read(offload_tests::workspace_root().join("tests/data/saxpy-reduce.zebin")).unwrap();
    let member = OclocImage { device: "64.12.60.7".parse().unwrap(), bytes: &zebin };
    let archive = ocloc::write(&[member], None).unwrap();
    for (name, image) in [("a.ar", &archive), ("a.zebin", &zebin)] {
        std::fs::write(project.path("kernels").join(name), image).unwrap();
        project.write(
            "build.rs",
            &format!(
                "fn main() {{ offload_build::Build::new().file(\"kernels/{name}\").compile(\"two\"); }}\n"
            ),
        );
        project.write("offload.toml", "targets = [\"intel:pvc\", \"intel:acm-g10\"]\n");
        contains(
            &project.fail(),
            &[
                "cannot compile kernel module `two` for `intel:acm-g10`",
                "no file is for it: `kernels/",
                name,
                "`: the ",
                "hint: add a file for this target",
            ],
        );
        // Of the archive, the member for the device is described.
        project.write("offload.toml", "targets = [\"intel:pvc\"]\n");
        let program = project.program();
        contains(
            &project.offload(&["inspect", "--kernels", program.to_str().unwrap()]).text,
            &["intel:pvc", "saxpy", "reduce"],
        );
    }
}

#[test]
fn a_built_in_that_targets_lack() {
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    let project = Project::new("two-files");
    // A name of LLVM's SPIR-V back end.
    let source = "// __spirv_AtomicIAdd(0)\n__kernel void quiet(__global int *x) {\n  x[0] = 1;\n}\n\
                  __attribute__((overloadable)) int __spirv_AtomicIAdd(volatile __global int *, int, int, int);\n\
                  __kernel void alpha(__global int *x) {\n  __spirv_AtomicIAdd(x, 1, 0, 1);\n}\n";
    project.write("kernels/a.cl", source);
    let targets = "targets = [\"spirv64\", \"nvptx:sm_75\", \"amdgcn:gfx90a\"]\n";
    project.write("offload.toml", targets);
    let text = project.fail();
    in_order(
        &text,
        &[
            "cannot compile kernel module `two` for `nvptx:sm_75` and `amdgcn:gfx90a`\n",
            "kernels/a.cl:7: `__spirv_AtomicIAdd` has no definition for `nvptx:sm_75`, `amdgcn:gfx90a`; kernel `alpha` calls it\n",
            "hint: leave it out there with `#ifndef __AMDGCN__` and `#ifndef __NVPTX__`, or `cargo offload targets remove nvptx:sm_75 amdgcn:gfx90a`",
        ],
    );
    project.follow(&text);
    assert!(project.run(&[]).starts_with("spirv64 "));
    project.write("offload.toml", targets);
    // A function of one's own that is nowhere.
    let source = "int helper(int x);\n__kernel void alpha(__global int *x) {\n  x[0] = helper(1);\n}\n";
    project.write("kernels/a.cl", source);
    let text = project.fail();
    contains(
        &text,
        &["`helper` has no definition for `spirv64`, `nvptx:sm_75`, `amdgcn:gfx90a`; kernel `alpha`"],
    );
    contains(&text, &["hint: if it is yours, add the file that defines it with `.file(...)`"]);
    images_are_refused_where_no_driver_passes_them(&project);
    // LLVM's SPIR-V back end mistakes the memory of a format that stands before a function with images.
    let source = "__kernel void alpha(__global int *x) {\n  printf(\"%d\\n\", x[0]);\n}\n\
                  __kernel void width(read_only image2d_t image, __global int *x) {\n  x[0] = get_image_width(image);\n}\n";
    project.write("kernels/a.cl", source);
    project.write("offload.toml", "targets = [\"spirv64\"]\n");
    let module = project.run(&[]);
    assert!(module.starts_with("spirv64 ") && module.trim_end().ends_with(" bytes"), "{module}");
}

/// The error names the kernel and its line once, and its hint is a line of offload.toml that helps for all targets.
fn images_are_refused_where_no_driver_passes_them(project: &Project) {
    let source = "__kernel void quiet(__global int *x) {\n  x[0] = 1;\n}\n\n\
                  __kernel void width(sampler_t sampler, read_only image2d_t image, __global int *x) {\n\
                  \x20 x[0] = read_imagei(image, sampler, (int2)(0, 0)).x;\n}\n";
    project.write("kernels/a.cl", source);
    let targets = "targets = [\"host\", \"spirv64\", \"nvptx:sm_75\", \"amdgcn:gfx90a\"]\n";
    project.write("offload.toml", targets);
    let text = project.fail();
    in_order(
        &text,
        &[
            "cannot compile kernel module `two` for `nvptx:sm_75`\n",
            "kernels/a.cl:5: kernel `width` takes the sampler `sampler`",
            "hint: write `kernels.width.targets = [\"host\", \"opencl-c\", \"spirv64\", \"intel\"]` below `[modules.two]`",
        ],
    );
    assert_eq!(text.matches("kernels/a.cl:5").count(), 1, "{text}");
    let (_, line) = text.split_once("hint: write `").unwrap();
    let line = line.split('`').next().unwrap();
    project.write("offload.toml", &format!("{targets}[modules.two]\n{line}\n"));
    let images = project.run(&[]);
    assert!(images.contains("host ") && images.contains("nvptx:sm_75 "), "{images}");
}

/// A build script whose second call compiles `second`.
fn two_calls(second: &str) -> String {
    let first = "offload_build::Build::new().file(\"kernels/a.cl\").compile(\"one\");";
    format!(
        "fn main() {{\n    {first}\n    offload_build::Build::new().file(\"{second}\").compile(\"two\");\n}}\n"
    )
}

/// Of a build script that ends with an exit code cargo shows all that it has printed.
#[test]
fn a_second_call_that_fails_shows_its_error_alone() {
    let project = Project::with_fake_tools("two-files");
    project.write("build.rs", &two_calls("kernels/nothing.cl"));
    // Cargo does not keep the output of the first call: the second build runs the script again.
    for _ in 0..2 {
        let text = project.fail();
        in_order(
            &text,
            &[
                "@0.1.0: cannot compile kernel module `two` for ",
                "@0.1.0: kernel source `",
                "kernels/nothing.cl` does not exist\n",
                "@0.1.0: hint: paths given to `Build::file` are relative",
                "error: build script logged errors",
            ],
        );
        assert!(!text.contains("cargo::"), "{text}");
    }
    project.write("build.rs", &two_calls("kernels/b.cl"));
    let mended = project.cargo(&["build", "--offline"]);
    assert!(mended.success, "{}", mended.text);
}
