//! A generated module of many kernels for the target `host`, which is compiled in parts.

use std::fmt::Write;
use std::process::Command;

use offload_tests::kernel_module::{GROUP, KernelModule, Shape};

use crate::support::Project;

/// Runs each kernel of the module once, and prints what it writes.
const MAIN: &str = r#"//! Prints the results of all kernels.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let program = square::module().load(&Device::host()).unwrap();
    let x: Vec<u32> = (0..@LENGTH@).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    for number in 0..@KERNELS@ {
        let name = format!("k{number}");
        let mut y = vec![0u32; x.len()];
        let args = &mut [Arg::input(&x), Arg::in_out(&mut y)];
        // SAFETY: each work-item writes an element of its own.
        unsafe { program.launch(&name, NdRange::new([x.len()], [@GROUP@]), args) }.unwrap();
        println!("{name}: {y:?}");
    }
}
"#;

/// Work-items of two groups.
const LENGTH: usize = 2 * GROUP;

fn main_of(shape: Shape) -> String {
    let main = MAIN.replace("@LENGTH@", &LENGTH.to_string()).replace("@GROUP@", &GROUP.to_string());
    main.replace("@KERNELS@", &shape.kernels.to_string())
}

/// What the program prints if the kernels are right.
fn right(module: &KernelModule) -> String {
    let x: Vec<u32> = (0..LENGTH as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let mut text = String::new();
    for kernel in 0..module.kernels() {
        writeln!(text, "k{kernel}: {:?}", module.run(kernel, &x)).unwrap();
    }
    text
}

fn printed(project: &Project) -> String {
    let output = Command::new(project.program()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn assert_right(project: &Project, module: &KernelModule) {
    for (found, wanted) in printed(project).lines().zip(right(module).lines()) {
        assert_eq!(found, wanted);
    }
    assert_eq!(printed(project).lines().count(), module.kernels());
}

/// The image for `host`.
fn image(project: &Project) -> Vec<u8> {
    let to = project.path("image");
    let program = project.program();
    let args = ["export", "--force", "--format", "raw", "--module", "square", "-o"];
    let exported = project.offload(&[&args[..], &[to.to_str().unwrap(), program.to_str().unwrap()]].concat());
    assert!(exported.success, "{}", exported.text);
    std::fs::read(to).unwrap()
}

fn is_right_and_the_same_from_an_empty_cache(shape: Shape, manifest: &str) {
    let mut project = Project::new("debugged");
    let known = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let manifest = manifest.replace("@NAME@", &project.name());
    project.write("Cargo.toml", &format!("{known}{manifest}"));
    project.write("src/main.rs", &main_of(shape));
    let mut module = KernelModule::generate(shape);
    project.write("kernels/square.cl", &module.source());
    assert_right(&project, &module);
    let before = project.blobs().len();
    module.edit(shape.kernels / 2);
    project.write("kernels/square.cl", &module.source());
    assert_right(&project, &module);
    // A part, and not all of them.
    let added = project.blobs().len() - before;
    assert!(added * 3 < before, "{added} results beside {before}");
    if !offload_tests::is_nightly() {
        return;
    }
    let edited = image(&project);
    let empty = project.path("another-cache");
    project.set("OFFLOAD_CACHE_DIR", empty.to_str().unwrap());
    assert_right(&project, &module);
    assert_eq!(image(&project), edited);
}

#[test]
fn modules_are_right_in_parts() {
    let shape = Shape { seed: 1, kernels: 200, statements: 2, barriers: 1, calls: 1 };
    is_right_and_the_same_from_an_empty_cache(shape, "\n[profile.dev.package.@NAME@]\ndebug = false\n");
}

#[test]
fn modules_with_debug_information_are_right_in_parts() {
    if !offload_tests::is_nightly() {
        return;
    }
    let shape = Shape { seed: 2, kernels: 200, statements: 3, barriers: 1, calls: 1 };
    is_right_and_the_same_from_an_empty_cache(shape, "");
}
