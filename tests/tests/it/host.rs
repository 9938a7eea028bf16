//! OpenCL C on the program's own CPU: kernels that are hard to call.

use crate::support::Project;

/// A kernel that is called like a function of OpenCL C and waits, and pointers to vectors.
const KERNEL: &str = "
__kernel void shuffle(__global const int4 *from, __global int4 *to, __local int4 *tile) {
  size_t i = get_local_id(0);
  tile[i] = from[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  to[i] = tile[get_local_size(0) - 1 - i].wzyx;
}
";

const MAIN: &str = r#"//! Reverses numbers on the CPU.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let device = Device::host();
    let program = device.open(&square::module().load(&device).unwrap()).unwrap();
    let from: Vec<[i32; 4]> = (0..8).map(|i| [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3]).collect();
    let mut to = vec![[0i32; 4]; 8];
    let range = NdRange::new(&[8], &[8]).unwrap();
    let args = &mut [Arg::input(&from), Arg::in_out(&mut to), Arg::local::<[i32; 4]>(8)];
    // SAFETY: each of the eight work-items uses an element of its own.
    unsafe { program.launch("shuffle", &range, args) }.unwrap();
    assert!(to.as_flattened().iter().copied().eq((0..32).rev()), "{to:?}");
    println!("{:?}", program.kernels()[0].has_barrier);
}
"#;

#[test]
fn names_of_functions_and_pointers_to_vectors_work() {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", KERNEL);
    project.write("src/main.rs", MAIN);
    let output = std::process::Command::new(project.program()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out == "true\n", "{out}{err}");
}

/// Functions that are called for several work-items at once.
const MATHEMATICS: &str = "
__kernel void powers(__global const float *x, __global float *y) {
  size_t i = get_global_id(0);
  y[i] = pow(x[i], 2.5f) * exp(-x[i]) + log(x[i]);
}
";

const POWERS: &str = r#"//! Compares powers with Rust's.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let device = Device::host();
    let program = device.open(&square::module().load(&device).unwrap()).unwrap();
    let x: Vec<f32> = (1..=64).map(|i| i as f32 / 8.0).collect();
    let mut y = vec![0f32; 64];
    let range = NdRange::new(&[64], &[64]).unwrap();
    // SAFETY: both have an element for each work-item.
    unsafe { program.launch("powers", &range, &mut [Arg::input(&x), Arg::in_out(&mut y)]) }.unwrap();
    for (x, y) in x.iter().zip(&y) {
        let wanted = x.powf(2.5) * (-x).exp() + x.ln();
        assert!((y - wanted).abs() <= 1e-4 * (1.0 + wanted.abs()), "{x}: {y}, {wanted}");
    }
    println!("right");
}
"#;

/// Arguments of calls have attributes with parentheses then: `nofpclass(nan inf)`.
#[test]
fn mathematics_may_be_relaxed() {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", MATHEMATICS);
    project.write("src/main.rs", POWERS);
    for flag in ["-cl-finite-math-only", "-cl-fast-relaxed-math"] {
        let builder = format!(".file(\"kernels/square.cl\").flag({flag:?}).compile(\"square\")");
        project.write("build.rs", &format!("fn main() {{\n    offload_build::Build::new(){builder};\n}}\n"));
        let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
        // Without debug information kernels are optimised.
        let optimized = format!("{manifest}\n[profile.dev.package.{}]\ndebug = false\n", project.name());
        project.write("Cargo.toml", if manifest.contains("debug = false") { &manifest } else { &optimized });
        assert_eq!(said(&project), "right\n", "{flag}");
    }
}

/// Where work-items wait under every shape of control flow, both as a debugger wants it and optimised.
#[test]
fn barriers_work_in_every_shape() {
    let project = Project::new("barriers");
    let first = said(&project);
    assert!(first.starts_with("item 0\nitem 1\n"), "{first}");
    assert!(first.contains("kernel `parts`: the barrier in line "), "{first}");
    assert!(first.contains("was not reached by all work-items of a group"), "{first}");
    // Without debug information kernels are optimised.
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let optimized = format!("{manifest}\n[profile.dev.package.{}]\ndebug = false\n", project.name());
    project.write("Cargo.toml", &optimized);
    let second = said(&project);
    assert!(second.starts_with("item 0\nitem 1\n"), "{second}");
    assert!(second.contains("kernel `parts`: a barrier was not reached by all work-items"), "{second}");
}

fn said(project: &Project) -> String {
    let output = std::process::Command::new(project.program()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}
