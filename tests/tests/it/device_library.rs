//! Device libraries: functions that one crate exports and kernels of another call, linked when the kernels are compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Project;

/// The devices of this machine that need no GPU, each by the driver that the OpenCL loader finds alone.
fn drivers() -> Vec<Vec<(&'static str, PathBuf)>> {
    let pocl = vec![("OCL_ICD_VENDORS", PathBuf::from("/etc/OpenCL/vendors/pocl.icd"))];
    let intel = offload_tests::require_intel_runtime().map(|root| {
        let lib = root.join("lib");
        vec![("OCL_ICD_FILENAMES", lib.join("libintelocl.so")), ("LD_LIBRARY_PATH", lib)]
    });
    [Some(pocl), intel].into_iter().flatten().collect()
}

/// What `program`, which succeeds, prints with each of the drivers.
pub(crate) fn said_with_each_driver(program: &Path) -> Vec<String> {
    drivers()
        .into_iter()
        .map(|driver| {
            let mut command = Command::new(program);
            command.env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
            let output = command.envs(driver).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
            text
        })
        .collect()
}

pub(crate) fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

/// The files of all images for `target`.
fn images(project: &Project, targets: &str) -> Vec<Vec<u8>> {
    let mut project_images = Vec::new();
    let program = project.program();
    let folder = project.path("images");
    let _ = fs::remove_dir_all(&folder);
    let args = ["extract", program.to_str().unwrap(), "--output", folder.to_str().unwrap()];
    let outcome = project.offload(&args);
    assert!(outcome.success, "{}", outcome.text);
    for entry in fs::read_dir(&folder).unwrap() {
        project_images.push(fs::read(entry.unwrap().path()).unwrap());
    }
    assert_eq!(project_images.len(), targets.split(',').count(), "{}", outcome.text);
    project_images
}

pub(crate) fn holds(image: &[u8], bytes: &[u8]) -> bool {
    image.windows(bytes.len()).any(|window| window == bytes)
}

#[test]
fn kernels_call_functions_of_another_crate_on_every_device() {
    let mut project = Project::new("imports");
    project.set("OFFLOAD_TARGETS", "host,spirv64,opencl-c");
    let program = project.program();
    for text in said_with_each_driver(&program) {
        assert!(text.contains("OpenCL device"), "{text}");
        assert!(text.ends_with("2 of 2 devices are right\n"), "{text}");
    }
    // Without debug information kernels are optimised in another way.
    let manifest = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let optimized = format!("{manifest}\n[profile.dev.package.{}]\ndebug = false\n", project.name());
    project.write("Cargo.toml", &optimized);
    contains(&project.run(&[]), &["host CPU", "): right"]);
}

/// Whether the function that only a changed kernel calls is in an image.
fn has_unused(image: &[u8]) -> bool {
    let code = 0x5eed_c0de_u32;
    holds(image, &code.to_le_bytes()) || holds(image, code.to_string().as_bytes())
}

#[test]
fn code_for_every_kind_of_target_has_what_it_calls_and_no_more() {
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    let mut project = Project::new("imports");
    let targets = "host,spirv64,nvptx:sm_75,amdgcn:gfx90a,amdgcn:gfx1100";
    project.set("OFFLOAD_TARGETS", targets);
    let found = images(&project, targets);
    assert!(!found.iter().any(|image| has_unused(image)), "an unused function is in an image");
    // Nothing tells where the crates are.
    let directory = project.path("").display().to_string();
    let directory = directory.trim_end_matches('/').as_bytes();
    assert!(!found.iter().any(|image| holds(image, directory)), "a path of this machine is in an image");
    let kernel = fs::read_to_string(project.path("kernels/app.cl")).unwrap();
    project.write("kernels/app.cl", &kernel.replace("y[i] = ", "y[i] = vec_unused(x[i]) + "));
    let found = images(&project, targets).into_iter().filter(|image| has_unused(image)).count();
    assert_eq!(found, targets.split(',').count(), "images lack what they call");
}

#[test]
fn a_change_of_a_library_changes_the_images_of_who_imports_it() {
    let mut project = Project::new("imports");
    project.set("OFFLOAD_TARGETS", "host");
    contains(&project.run(&[]), &["): right"]);
    let base = fs::read_to_string(project.path("base/device/base.cl")).unwrap();
    project.write("base/device/base.cl", &base.replace("+ 7", "+ 8"));
    contains(&project.run(&[]), &["): wrong"]);
    project.write("base/device/base.cl", &base);
    contains(&project.run(&[]), &["): right"]);
    project.write("vec/device/private.h", "#define BITS 16\n");
    contains(&project.run(&[]), &["): wrong"]);
    project.write("vec/device/private.h", "#define BITS 8\n");
    let header = fs::read_to_string(project.path("vec/include/vec.h")).unwrap();
    project.write("vec/include/vec.h", &header.replace("(x != 0)", "(x == 0)"));
    contains(&project.run(&[]), &["): wrong"]);
}

fn kernel(body: &str) -> String {
    format!(
        "{body}\n__kernel void combine(__global const int *x, __global int *y) {{\n  y[0] = vec_scale(x[0], 3);\n}}\n"
    )
}

/// A kernel that declares a function and calls it.
fn calling(name: &str) -> String {
    kernel("").replace("vec_scale(x[0], 3)", &format!("{name}(x[0])")).replacen(
        '\n',
        &format!("int {name}(int x);\n"),
        1,
    )
}

#[test]
fn what_does_not_fit_names_both_crates() {
    let mut project = Project::new("imports");
    let app = format!("crate `{}` 0.1.0", project.name());
    project.set("OFFLOAD_TARGETS", "host,spirv64,nvptx:sm_75");
    // Another type than the library's.
    project.write("kernels/app.cl", &kernel("int vec_scale(int x, float by);"));
    contains(
        &project.fail(),
        &[
            &format!(
                "{app} declares the function `vec_scale` as `i32 (i32, float)`, and crate `vec` 0.2.1 defines it as `i32 (i32, i32)`"
            ),
            "hint: include the header of crate `vec` in place of a declaration",
        ],
    );
    // Two of one name.
    project.write("kernels/app.cl", &kernel("int vec_scale(int x, int by) { return x + by; }"));
    contains(
        &project.fail(),
        &[
            &format!("{app} and crate `vec` 0.2.1 both define the function `vec_scale`"),
            "hint: rename that of crate",
        ],
    );
    // One that no crate has, one that a header alone has, one that no header has.
    project.write("kernels/app.cl", &calling("vec_none"));
    contains(
        &project.fail(),
        &[
            &format!(
                "`vec_none` has no definition for `host`, `spirv64`, `nvptx:sm_75`; kernel `combine` calls it; {app} imports `vec` of crate `vec` 0.2.1 and `base` of crate `base` 0.3.0, without such a function"
            ),
            "hint: see with `cargo tree -i vec` which version",
        ],
    );
    project.write("kernels/app.cl", &calling("helper"));
    contains(
        &project.fail(),
        &[
            "crate `vec` 0.2.1 has it for itself: no header of its names it",
            "hint: call what the headers of crate `vec` declare",
        ],
    );
    let header = fs::read_to_string(project.path("vec/include/vec.h")).unwrap();
    project.write("vec/include/vec.h", &format!("{header}int vec_none(int x);\n"));
    project.write("kernels/app.cl", &calling("vec_none"));
    contains(&project.fail(), &["a header of crate `vec` 0.2.1 names it, and no source of it defines it"]);
}

#[test]
fn an_export_that_nobody_could_import_is_an_error() {
    if !offload_tests::is_nightly() {
        return;
    }
    let mut project = Project::new("imports");
    project.set("OFFLOAD_TARGETS", "host");
    let manifest = fs::read_to_string(project.path("base/Cargo.toml")).unwrap();
    project.write("base/Cargo.toml", &manifest.replace("links = \"base-device\"\n", ""));
    // Without that key cargo does not wait for it.
    let alone = project.cargo(&["build", "--offline", "--package", "base"]);
    contains(
        &alone.text,
        &[
            "crate `base` exports the device library `base`, and its manifest has no key `links`",
            "hint: write `links = \"base-device\"` below [package] in Cargo.toml",
        ],
    );
    assert!(!alone.success);
    project.write("base/Cargo.toml", &manifest);
    let script = fs::read_to_string(project.path("base/build.rs")).unwrap();
    project.write("base/build.rs", &script.replace("\"base\", \"include\"", "\"base\", \"headers\""));
    contains(&project.fail(), &["base/headers` does not exist", "hint: name the folder with the headers"]);
    project.write("base/build.rs", &script.replace("export(\"base\"", "export(\"other\""));
    contains(
        &project.fail(),
        &[
            "crate `vec` imports the device library `base`, which none of its dependencies exports; they export `other` of crate `base` 0.3.0",
            "hint: add the crate that exports it to [dependencies]",
        ],
    );
    project.write("base/build.rs", &script);
    // The error has the location of the mistake.
    let base = fs::read_to_string(project.path("base/device/base.cl")).unwrap();
    project.write("base/device/base.cl", &base.replace("+ 7", "+ seven"));
    contains(&project.fail(), &["cannot compile the device library `base` for `host`", "'seven'"]);
    project.write(
        "base/device/base.cl",
        &base.replace("int base_add", "static int base_sum").replace("#include \"base.h\"", ""),
    );
    contains(&project.fail(), &["names a function of the device library", "hint: declare in a header"]);
}

/// The command line that ends with `file`.
fn command_line<'t>(lines: &'t [String], file: &str) -> &'t str {
    let found = lines.iter().find(|line| line.ends_with(&format!(" {file}")));
    found.unwrap_or_else(|| panic!("{file}: {lines:#?}"))
}

#[test]
fn libraries_are_compiled_with_flags_of_their_own_and_linked_as_needed() {
    let mut project = Project::with_fake_tools("imports");
    project.set("OFFLOAD_TARGETS", "spirv64");
    // The stand-in for clang tells no arguments.
    let main = "//! Has the module.\n\noffload_rt::include_kernels!(\"app\");\n\nfn main() {\n    println!(\"{}\", app::module().name());\n}\n";
    project.write("src/main.rs", main);
    let _ = project.program();
    let lines = project.command_lines();
    let vec = project.path("vec").display().to_string();
    for part in [format!(" -I{vec}/include "), format!(" -ffile-prefix-map={vec}=/{{library vec}} ")] {
        assert!(
            command_line(&lines, "kernels/app.cl").contains(&part),
            "{part}: {}",
            command_line(&lines, "kernels/app.cl")
        );
    }
    assert!(
        !command_line(&lines, "kernels/app.cl").contains("FACTOR"),
        "{}",
        command_line(&lines, "kernels/app.cl")
    );
    assert!(
        command_line(&lines, "device/vec.cl").contains("-Iinclude -DFACTOR=2"),
        "{}",
        command_line(&lines, "device/vec.cl")
    );
    assert!(
        !command_line(&lines, "device/base.cl").contains("{library"),
        "{}",
        command_line(&lines, "device/base.cl")
    );
    // The module, the library, what the library imports.
    let link = "llvm-link -S --only-needed -o out in0.ll in1.ll in2.ll";
    assert_eq!(lines.iter().filter(|line| *line == link).count(), 1, "{lines:#?}");
    // Each file once, though two build scripts read those of libraries.
    assert_eq!(lines.iter().filter(|line| line.ends_with(" device/base.cl")).count(), 1, "{lines:#?}");
    project.write("build.rs", &fs::read_to_string(project.path("build.rs")).unwrap());
    let _ = project.program();
    assert_eq!(project.calls(), Vec::<String>::new());
}

/// Has what `before` imports linked at load.
fn link_at_load(project: &Project, file: &str, before: &str) {
    let script = fs::read_to_string(project.path(file)).unwrap();
    project.write(file, &script.replace(before, &format!("{before}.link(offload_build::Link::Load)")));
}

#[test]
fn a_library_that_is_linked_at_load_is_one_image_for_all_modules() {
    let mut project = Project::new("imports");
    project.set("OFFLOAD_TARGETS", "host,spirv64,opencl-c");
    link_at_load(&project, "build.rs", ".import(\"vec\")");
    contains(
        &project.fail(),
        &[
            "links `vec_scale` of the device library `vec` at load, and crate `vec` 0.2.1 exports it without images",
            "hint: have crate `vec` export it with `.link(Link::Load)`",
        ],
    );
    link_at_load(&project, "vec/build.rs", ".import(\"base\")");
    let alone = project.cargo(&["run", "--quiet", "--offline"]);
    assert!(!alone.success, "{}", alone.text);
    contains(&alone.text, &["Library { image: \"app for host\"", "library: \"vec\"", "refused: []"]);
    let main = fs::read_to_string(project.path("src/main.rs")).unwrap();
    project.write("src/main.rs", &main.replace("use offload_rt", "use vec as _;\nuse offload_rt"));
    let program = project.program();
    for text in said_with_each_driver(&program) {
        assert!(text.ends_with("2 of 2 devices are right\n"), "{text}");
    }
    assembled_alone(&mut project);
    // Without debug information kernels are optimised in another way.
    let manifest = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let optimized = format!(
        "{manifest}\n[profile.dev.package.{}]\ndebug = false\n\n[profile.dev.package.vec]\ndebug = false\n",
        project.name()
    );
    project.write("Cargo.toml", &optimized);
    contains(&project.run(&[]), &["host CPU", "): right"]);
    // Work-items are known to the image of a kernel alone.
    let vec = fs::read_to_string(project.path("vec/device/vec.cl")).unwrap();
    project.write("vec/device/vec.cl", &vec.replace("x ^ 0x5eedc0de", "x ^ (int)get_global_id(0)"));
    contains(
        &project.fail(),
        &["the device library `vec` calls `get_global_id`", "hint: pass the value to its function"],
    );
}

/// For CUDA's linker kernels declare what the library's image defines, and NVIDIA's assembler takes each alone.
fn assembled_alone(project: &mut Project) {
    let targets = "host,nvptx:sm_75,nvptx:sm_90";
    project.set("OFFLOAD_TARGETS", targets);
    let both = format!("{targets},{targets}");
    let ptx: Vec<String> =
        images(project, &both).into_iter().filter_map(|image| String::from_utf8(image).ok()).collect();
    project.set("OFFLOAD_TARGETS", "host,spirv64,opencl-c");
    assert_eq!(
        (ptx.len(), count_linked(&ptx, ".extern .func"), count_linked(&ptx, ".visible .func")),
        (4, 2, 2)
    );
    let Some(ptxas) = offload_tests::require_ptxas() else { return };
    for text in &ptx {
        let file = project.path("alone.ptx");
        fs::write(&file, text).unwrap();
        let object = project.path("alone.o");
        let output = Command::new(&ptxas).args(["-c", "-arch=sm_90", "-o"]).args([&object, &file]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// How many have `vec_scale` with this linkage.
fn count_linked(ptx: &[String], linkage: &str) -> usize {
    ptx.iter()
        .filter(|text| text.lines().any(|line| line.starts_with(linkage) && line.contains(" vec_scale")))
        .count()
}
