//! The four kernels with their inputs, and the same in plain Rust.

use std::time::Duration;

use offload_rt::{Arg, Error, NdRange, Program};

/// As in `kernels/common.h`.
const TILE: u64 = 16;
const GROUP: u64 = 256;
const BINS: usize = 64;

/// How one kernel ended.
pub struct KernelResult {
    pub kernel: &'static str,
    pub right: bool,
    pub time: Duration,
}

/// Runs every kernel once.
pub fn run_all(program: &dyn Program) -> Result<Vec<KernelResult>, Error> {
    Ok(vec![saxpy(program)?, matmul(program)?, reduce(program)?, histogram(program)?])
}

fn saxpy(program: &dyn Program) -> Result<KernelResult, Error> {
    let n = 1u32 << 20;
    let x = pattern(n);
    let mut y = vec![1.0f32; x.len()];
    let range = NdRange::new(&[n.into()], &[GROUP])?;
    let args = [Arg::value(&2.5f32), Arg::input(&x), Arg::in_out(&mut y), Arg::value(&n)];
    let time = launch(program, "saxpy", &range, args)?;
    let right = x.iter().zip(&y).all(|(x, y)| close(*y, 2.5 * x + 1.0));
    Ok(KernelResult { kernel: "saxpy", right, time })
}

fn matmul(program: &dyn Program) -> Result<KernelResult, Error> {
    let n = 256u32;
    let (a, b) = (pattern(n * n), pattern(n * n));
    let mut c = vec![0.0f32; a.len()];
    let range = NdRange::new(&[n.into(), n.into()], &[TILE, TILE])?;
    let args = [Arg::input(&a), Arg::input(&b), Arg::in_out(&mut c), Arg::value(&n)];
    let time = launch(program, "matmul", &range, args)?;
    let n = n as usize;
    let expected = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum::<f32>();
    let right = (0..n).all(|i| (0..n).all(|j| close(c[i * n + j], expected(i, j))));
    Ok(KernelResult { kernel: "matmul", right, time })
}

fn reduce(program: &dyn Program) -> Result<KernelResult, Error> {
    // Not a multiple of the group, so that the last group has work-items without an element.
    let n = (1u32 << 20) - 100;
    let x = pattern(n);
    let groups = u64::from(n).div_ceil(GROUP);
    let mut sums = vec![0.0f32; groups as usize];
    let range = NdRange::new(&[groups * GROUP], &[GROUP])?;
    let args = [Arg::input(&x), Arg::in_out(&mut sums), Arg::value(&n)];
    let time = launch(program, "reduce", &range, args)?;
    let right = x.chunks(GROUP as usize).zip(&sums).all(|(part, sum)| close(*sum, part.iter().sum()));
    Ok(KernelResult { kernel: "reduce", right, time })
}

fn histogram(program: &dyn Program) -> Result<KernelResult, Error> {
    let n = 1u32 << 20;
    let data: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let mut bins = [0u32; BINS];
    let range = NdRange::new(&[n.into()], &[GROUP])?;
    let args = [Arg::input(&data), Arg::in_out(&mut bins), Arg::value(&n)];
    let time = launch(program, "histogram", &range, args)?;
    let mut expected = [0u32; BINS];
    data.iter().for_each(|value| expected[*value as usize % BINS] += 1);
    Ok(KernelResult { kernel: "histogram", right: bins == expected, time })
}

fn launch<const N: usize>(
    program: &dyn Program,
    kernel: &str,
    range: &NdRange,
    mut args: [Arg<'_>; N],
) -> Result<Duration, Error> {
    // SAFETY: each buffer has an element for each work-item that the kernel lets use it (`kernels/*.cl` compare with
    // `n`, or the range is of the buffer's size), inputs are declared const there, and work-items write elements of
    // their own or use atomics.
    unsafe { program.launch(kernel, range, &mut args) }
}

/// Small whole numbers: their sums are exact in any order.
fn pattern(n: u32) -> Vec<f32> {
    (0..n).map(|i| (i % 13) as f32 - 6.0).collect()
}

fn close(value: f32, expected: f32) -> bool {
    (value - expected).abs() <= 1e-5 * expected.abs().max(1.0)
}
