//! The kernels of the example, and one that calls another module, each with the results of the host program.

use offload_rt::{Arg, Device, Error, NdRange};
use offload_sycl::BundleProgram;
use offload_sycl::{Bundle, Executable};

/// Prints what became of the kernel `name`, and says whether it was right; one that is absent is.
pub fn run(bundle: &Bundle<Executable>, device: &Device, name: &str) -> Result<bool, Error> {
    if !bundle.has_kernel(name) {
        println!("{name} absent");
        return Ok(true);
    }
    let program = bundle.program(device)?;
    let right = match name {
        "saxpy" => saxpy(program)?,
        "matmul" => matmul(program)?,
        "reduce" => reduce(program)?,
        _ => calls(program)?,
    };
    println!("{name} {}", if right { "right" } else { "WRONG" });
    Ok(right)
}

fn saxpy(program: &BundleProgram) -> Result<bool, Error> {
    let n = 1000u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let mut y = vec![1.0f32; n as usize];
    let mut args = [Arg::value(&2.0f32), Arg::input(&x), Arg::in_out(&mut y), Arg::value(&n)];
    // SAFETY: the kernel looks at `n`.
    unsafe { program.launch("saxpy", NdRange::new([1024], [256]), &mut args)? };
    Ok(y.iter().zip(x).all(|(y, x)| (y - (2.0 * x + 1.0)).abs() <= 1e-3))
}

fn matmul(program: &BundleProgram) -> Result<bool, Error> {
    let n = 64u32;
    let size = n as usize;
    let [a, b]: [Vec<f32>; 2] = [5, 3].map(|modulus| (0..n * n).map(|i| (i % modulus) as f32).collect());
    let mut c = vec![-1.0f32; size * size];
    let mut args = [Arg::input(&a), Arg::input(&b), Arg::in_out(&mut c), Arg::value(&n)];
    let range = NdRange::new([size, size], [16, 16]);
    // SAFETY: the matrices have `n` rows of `n` elements.
    unsafe { program.launch("matmul", range, &mut args)? };
    let expected =
        |at: usize| -> f32 { (0..size).map(|k| a[at / size * size + k] * b[k * size + at % size]).sum() };
    Ok(c.iter().enumerate().all(|(at, c)| *c == expected(at)))
}

fn reduce(program: &BundleProgram) -> Result<bool, Error> {
    let n = 1000u32;
    let x: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
    let mut sums = vec![0.0f32; 4];
    let mut args = [Arg::input(&x), Arg::in_out(&mut sums), Arg::value(&n)];
    // SAFETY: the kernel looks at `n`, and writes a sum for each of four groups.
    unsafe { program.launch("reduce", NdRange::new([1024], [256]), &mut args)? };
    Ok(x.chunks(256).zip(sums).all(|(x, sum)| x.iter().sum::<f32>() == sum))
}

fn calls(program: &BundleProgram) -> Result<bool, Error> {
    let mut x = vec![20.0f32];
    // SAFETY: one element for one work-item.
    unsafe { program.launch("calls", NdRange::new([1], [1]), &mut [Arg::in_out(&mut x)])? };
    Ok(x == [41.0])
}
