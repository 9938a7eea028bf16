//! OpenCL C on the program's own CPU: kernels that are hard to call.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::Project;
use crate::support::script::{succeed, wrapped};

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
    let program = square::module().load(&device).unwrap();
    let from: Vec<[i32; 4]> = (0..8).map(|i| [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3]).collect();
    let mut to = vec![[0i32; 4]; 8];
    let range = NdRange::new([8], [8]);
    let args = &mut [Arg::input(&from), Arg::in_out(&mut to), Arg::local::<[i32; 4]>(8)];
    // SAFETY: each of the eight work-items uses an element of its own.
    unsafe { program.launch("shuffle", range, args) }.unwrap();
    assert!(to.as_flattened().iter().copied().eq((0..32).rev()), "{to:?}");
    println!("{:?}", program.kernels()[0].has_barrier);
}
"#;

#[test]
fn names_of_functions_and_pointers_to_vectors_work() {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", KERNEL);
    project.write("src/main.rs", MAIN);
    let program = project.program();
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{}", text_of(&output));
    assert_eq!(text_of(&output), "true\n");
    images_load_without_proc(&program);
}

/// From a temporary file; where that fails too, the error names both ways out. Only root can have another /proc.
fn images_load_without_proc(program: &Path) {
    if succeed(Command::new("id").arg("-u")).trim() != "0" {
        return;
    }
    let hidden = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$0\""];
    let output = wrapped(&hidden, &Command::new(program)).output().unwrap();
    assert!(output.status.success(), "{}", text_of(&output));
    let mut without_temporary = Command::new(program);
    without_temporary.env("TMPDIR", "/nonexistent");
    let output = wrapped(&hidden, &without_temporary).output().unwrap();
    assert!(!output.status.success());
    let text = text_of(&output);
    assert!(text.contains("/nonexistent") && text.contains("/proc is not mounted"), "{text}");
    assert!(text.contains("TMPDIR"), "{text}");
}

fn text_of(output: &Output) -> String {
    [output.stdout.as_slice(), output.stderr.as_slice()].map(String::from_utf8_lossy).concat()
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
    let program = square::module().load(&device).unwrap();
    let x: Vec<f32> = (1..=64).map(|i| i as f32 / 8.0).collect();
    let mut y = vec![0f32; 64];
    let range = NdRange::new([64], [64]);
    // SAFETY: both have an element for each work-item.
    unsafe { program.launch("powers", range, &mut [Arg::input(&x), Arg::in_out(&mut y)]) }.unwrap();
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
        assert_eq!(output_text(&project), "right\n", "{flag}");
    }
}

/// Functions that are inlined where kernels are optimised, eight results for each number.
const INLINED: &str = "
__kernel void all(__global const float *restrict numbers, __global float *restrict results) {
  size_t i = get_global_id(0), n = get_global_size(0);
  float x = numbers[i];
  results[i] = exp(x);
  results[n + i] = exp2(x);
  results[2 * n + i] = exp10(x);
  results[3 * n + i] = log(x);
  results[4 * n + i] = log2(x);
  results[5 * n + i] = log10(x);
  results[6 * n + i] = tanh(x);
  results[7 * n + i] = erf(x);
}
";

const UNITS: &str = r#"//! Compares functions with Rust's of double precision, in units in the last place.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

/// Functions, each with its bound.
const FUNCTIONS: [(fn(f64) -> f64, f64); 7] = [
    (f64::exp, 3.0),
    (f64::exp2, 3.0),
    (|x| 10f64.powf(x), 3.0),
    (f64::ln, 3.0),
    (f64::log2, 3.0),
    (f64::log10, 3.0),
    (f64::tanh, 5.0),
];

fn error(got: f32, wanted: f64) -> f64 {
    let rounded = wanted as f32;
    if got == rounded || got.is_nan() && rounded.is_nan() {
        return 0.0;
    }
    let exponent = wanted.abs().log2().floor().clamp(-126.0, 127.0);
    (f64::from(got) - wanted).abs() / (exponent - 23.0).exp2()
}

fn main() {
    // All exponents and signs, with what is special, and what is near zero and one.
    let mut numbers: Vec<f32> = (0..1u32 << 16).map(|i| f32::from_bits(i.wrapping_mul(65_521) ^ i << 7)).collect();
    numbers.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::from_bits(0xffff_ffff), 1e-45, -1e-45]);
    numbers.extend((0..1u32 << 14).map(|i| f32::from_bits(0x3f00_0000 + i * 1021)));
    numbers.extend((0..1u32 << 14).map(|i| (i as f32 - 8192.0) / 64.0));
    numbers.resize(numbers.len().next_multiple_of(64), 1.0);
    let count = numbers.len();
    let mut results = vec![0f32; 8 * count];
    let program = square::module().load(&Device::host()).unwrap();
    let range = NdRange::new([count], [64]);
    // SAFETY: each work-item has a number and eight results.
    unsafe { program.launch("all", range, &mut [Arg::input(&numbers), Arg::in_out(&mut results)]) }.unwrap();
    for (results, (function, bound)) in results.chunks(count).zip(FUNCTIONS) {
        for (x, y) in numbers.iter().zip(results) {
            let wanted = function(f64::from(*x));
            assert!(error(*y, wanted) <= bound, "{x:e}: {y:e}, {wanted:e}");
        }
    }
    for (x, y) in numbers.iter().zip(&results[7 * count..]) {
        let is_right = match *x {
            x if x.is_nan() => y.is_nan(),
            // The series, and what is 1 in single precision.
            x if x.abs() < 1e-3 => error(*y, f64::from(x) * 1.128_379_167_095_512_6 * (1.0 - f64::from(x).powi(2) / 3.0)) <= 4.0,
            x if x.abs() > 4.0 => *y == 1f32.copysign(x),
            x => y.is_sign_negative() == x.is_sign_negative() && y.abs() <= 1.0 && y.abs() > 1e-3,
        };
        assert!(is_right, "erf({x:e}) = {y:e}");
    }
    println!("right");
}
"#;

#[test]
fn inlined_mathematics_is_within_the_bounds() {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", INLINED);
    project.write("src/main.rs", UNITS);
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let manifest = format!("{manifest}\n[profile.dev.package.{}]\ndebug = false\n", project.name());
    project.write("Cargo.toml", &manifest);
    assert_eq!(output_text(&project), "right\n");
}

/// All calls have one exponent, and the module is optimised twice: `powers` may have its accesses of neighbours joined, and
/// those of `chain` are in order.
const ONE_EXPONENT: &str = "
__kernel void powers(__global const float *restrict x, __global float *restrict y) {
  size_t i = get_global_id(0);
  y[i] = pow(x[2 * i], 2.5f) + pow(x[2 * i + 1], 2.5f);
}
__kernel void chain(__global float *x, __global float *y, uint n) {
  size_t i = get_global_id(0);
  y[2 * i] = x[2 * i + 1];
  y[2 * i + 1] = pow(x[2 * i], 2.5f) + y[2 * i];
  for (uint k = 0; k < n; k++) {
    y[2 * i + 1] += x[2 * k];
    x[2 * k + 1] = y[2 * k];
  }
}
";

const SUMS: &str = r#"//! Compares sums of powers with Rust's.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let device = Device::host();
    let program = square::module().load(&device).unwrap();
    let x: Vec<f32> = (1..=128).map(|i| i as f32 / 8.0).collect();
    let mut y = vec![0f32; 64];
    let range = NdRange::new([64], [64]);
    // SAFETY: one has two elements for each work-item, the other one.
    unsafe { program.launch("powers", range, &mut [Arg::input(&x), Arg::in_out(&mut y)]) }.unwrap();
    for (x, y) in x.chunks(2).zip(&y) {
        let wanted = x[0].powf(2.5) + x[1].powf(2.5);
        assert!((y - wanted).abs() <= 1e-4 * wanted, "{x:?}: {y}, {wanted}");
    }
    println!("right");
}
"#;

#[test]
fn one_exponent_of_all_calls_stays_an_argument() {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", ONE_EXPONENT);
    project.write("src/main.rs", SUMS);
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    project.write(
        "Cargo.toml",
        &format!("{manifest}\n[profile.dev.package.{}]\ndebug = false\n", project.name()),
    );
    assert_eq!(output_text(&project), "right\n");
}

/// Comparisons with edges, which whole rows of a group may be spared: those of a line of numbers, and of numbers that wrap
/// within a row.
const EDGES: &str = "
__kernel void neighbours(__global const int *from, __global int *to, uint n) {
  const uint x = get_global_id(0), last = n - 1;
  if (x >= n)
    return;
  const uint west = x == 0 ? 0 : x - 1, east = x == last ? last : x + 1;
  const int far = clamp((int)x - 3, 0, (int)n - 9);
  to[x] = from[west] + 2 * from[east] + 3 * from[far] + (x != 70 ? 0 : 1000);
}
__kernel void wraps(__global uint *to, uint shift, uint limit) {
  const uint x = (uint)get_global_id(0) + shift;
  to[get_global_id(0)] = (x < limit) + 2 * (as_int(x) < as_int(limit)) + 4 * (x == limit) + 8 * (max(x, limit) % 7)
    + 64 * (sub_sat(x, limit) % 7) + 512 * ((uint)min(as_int(x), as_int(limit)) % 7);
}
";

const BESIDE: &str = r#"//! Compares rows with and without edges with Rust's.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let device = Device::host();
    let program = square::module().load(&device).unwrap();
    for n in [9usize, 32, 33, 96, 250, 256] {
        let (from, count): (Vec<i32>, u32) = ((0..256).map(|i| i * i).collect(), n as u32);
        let mut to = vec![-1i32; 256];
        let range = NdRange::new([256], [32]);
        let args = &mut [Arg::input(&from), Arg::in_out(&mut to), Arg::value(&count)];
        // SAFETY: both have an element for each work-item.
        unsafe { program.launch("neighbours", range, args) }.unwrap();
        let mut wanted = vec![-1i32; 256];
        for x in 0..n {
            let far = (x as i32 - 3).clamp(0, n as i32 - 9) as usize;
            let own = if x == 70 { 1000 } else { 0 };
            wanted[x] = from[x.saturating_sub(1)] + 2 * from[(x + 1).min(n - 1)] + 3 * from[far] + own;
        }
        assert_eq!(to, wanted, "{n}");
    }
    for shift in [0u32, 5, 0x7fff_ffd0, 0x7fff_ffff, 0x8000_0000, 0xffff_ffd0, 0xffff_fff0] {
        for limit in [0u32, 1, 20, 37, 100, 0x7fff_fff0, 0x8000_0003, 0xffff_fff8, 0xffff_ffff] {
            let mut to = vec![0u32; 128];
            let range = NdRange::new([128], [32]);
            let args = &mut [Arg::in_out(&mut to), Arg::value(&shift), Arg::value(&limit)];
            // SAFETY: there is an element for each work-item.
            unsafe { program.launch("wraps", range, args) }.unwrap();
            for (i, found) in to.iter().enumerate() {
                let x = (i as u32).wrapping_add(shift);
                let signed = x as i32;
                let edge = limit as i32;
                let wanted = u32::from(x < limit) + 2 * u32::from(signed < edge) + 4 * u32::from(x == limit)
                    + 8 * (x.max(limit) % 7) + 64 * (x.saturating_sub(limit) % 7)
                    + 512 * (signed.min(edge) as u32 % 7);
                assert_eq!(*found, wanted, "{i} + {shift:x}, {limit:x}");
            }
        }
    }
    println!("right");
}
"#;

/// Optimised: otherwise no row is spared anything.
#[test]
fn rows_that_meet_no_edge_compute_the_same() {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", EDGES);
    project.write("src/main.rs", BESIDE);
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    project.write(
        "Cargo.toml",
        &format!("{manifest}\n[profile.dev.package.{}]\ndebug = false\n", project.name()),
    );
    assert_eq!(output_text(&project), "right\n");
}

/// Where work-items wait under every shape of control flow, both as a debugger wants it and optimised.
#[test]
fn barriers_work_in_every_shape() {
    let project = Project::new("barriers");
    let first = output_text(&project);
    assert!(first.starts_with("item 0\nitem 1\n"), "{first}");
    assert!(first.contains("kernel `parts`: the barrier in line "), "{first}");
    assert!(first.contains("was not reached by all work-items of a group"), "{first}");
    // Without debug information kernels are optimised.
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let optimized = format!("{manifest}\n[profile.dev.package.{}]\ndebug = false\n", project.name());
    project.write("Cargo.toml", &optimized);
    let second = output_text(&project);
    assert!(second.starts_with("item 0\nitem 1\n"), "{second}");
    assert!(second.contains("kernel `parts`: a barrier was not reached by all work-items"), "{second}");
}

fn output_text(project: &Project) -> String {
    let output = std::process::Command::new(project.program()).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}
