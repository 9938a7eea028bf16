//! Launches of the four kernels, with reference implementations in plain Rust. Data stays on the device between kernels.

use std::time::Duration;

use offload_rt::{Buffer, Error, NdRange, Stream};

use crate::demo::Kernels;

/// As in `kernels/common.h`.
const TILE: usize = 16;
const GROUP: usize = 256;
const BINS: usize = 64;

/// Outcome of one kernel.
pub struct KernelResult {
    pub kernel: &'static str,
    pub right: bool,
    pub time: Duration,
}

/// Runs every kernel once.
pub fn run_all(kernels: &Kernels) -> Result<Vec<KernelResult>, Error> {
    let work = Work { kernels, stream: kernels.program().device().stream()? };
    let x = pattern(1 << 20);
    let mut y = work.stream.upload(&vec![1.0f32; x.len()])?;
    Ok(vec![work.saxpy(&x, &mut y)?, work.reduce(&x, &y)?, work.matmul()?, work.histogram()?])
}

/// The kernels with the stream that they are launched in. Launches are timed with the device's own clock.
///
/// Each buffer has an element for each work-item that the kernel lets use it: `kernels/*.cl` compare with `n`, or the
/// range is of the buffer's size. Work-items write elements of their own or use atomics.
struct Work<'a> {
    kernels: &'a Kernels,
    stream: Stream,
}

impl Work<'_> {
    fn saxpy(&self, x: &[f32], y: &mut Buffer<f32>) -> Result<KernelResult, Error> {
        let stream = &self.stream;
        let on_device = self.stream.upload(x)?;
        let n = x.len() as u32;
        let start = stream.record()?;
        // SAFETY: see `Work`.
        unsafe {
            self.kernels.saxpy(
                stream,
                NdRange::linear_at_least(n as usize, GROUP),
                2.5,
                &on_device,
                &mut *y,
                n,
            )?
        };
        let time = stream.record()?.since(&start)?;
        let right = x.iter().zip(&stream.download(&*y)?).all(|(x, y)| close(*y, 2.5 * x + 1.0));
        Ok(KernelResult { kernel: "saxpy", right, time })
    }

    /// Sums the result of `saxpy`, which is still on the device.
    fn reduce(&self, x: &[f32], y: &Buffer<f32>) -> Result<KernelResult, Error> {
        // Not a multiple of the group, so that the last group has work-items without an element.
        let n = x.len() - 100;
        let stream = &self.stream;
        let mut sums = self.stream.zeroed::<f32>(n.div_ceil(GROUP))?;
        let start = stream.record()?;
        // SAFETY: see `Work`.
        unsafe { self.kernels.reduce(stream, NdRange::linear_at_least(n, GROUP), y, &mut sums, n as u32)? };
        let time = stream.record()?.since(&start)?;
        let expected = x[..n].chunks(GROUP).map(|part| part.iter().map(|x| 2.5 * x + 1.0).sum());
        let right = stream.download(&sums)?.into_iter().zip(expected).all(|(sum, all)| close(sum, all));
        Ok(KernelResult { kernel: "reduce", right, time })
    }

    fn matmul(&self) -> Result<KernelResult, Error> {
        let stream = &self.stream;
        let n = 256u32;
        let a = pattern(n * n);
        let b = pattern(n * n);
        let a_on = stream.upload(&a)?;
        let b_on = stream.upload(&b)?;
        let mut c = stream.zeroed::<f32>(a.len())?;
        let range = NdRange::new([n as usize, n as usize], [TILE, TILE]);
        let start = stream.record()?;
        // SAFETY: see `Work`.
        unsafe { self.kernels.matmul(stream, range, &a_on, &b_on, &mut c, n)? };
        let time = stream.record()?.since(&start)?;
        let n = n as usize;
        let c = stream.download(&c)?;
        let right = (0..n).all(|i| (0..n).all(|j| close(c[i * n + j], dot(&a, &b, n, i, j))));
        Ok(KernelResult { kernel: "matmul", right, time })
    }

    fn histogram(&self) -> Result<KernelResult, Error> {
        let stream = &self.stream;
        let n = 1u32 << 20;
        let data: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
        let on_device = stream.upload(&data)?;
        let mut bins = stream.zeroed::<u32>(BINS)?;
        let start = stream.record()?;
        // SAFETY: see `Work`.
        unsafe {
            self.kernels.histogram(
                stream,
                NdRange::linear_at_least(n as usize, GROUP),
                &on_device,
                &mut bins,
                n,
            )?
        };
        let time = stream.record()?.since(&start)?;
        let mut expected = [0u32; BINS];
        data.iter().for_each(|value| expected[*value as usize % BINS] += 1);
        Ok(KernelResult { kernel: "histogram", right: stream.download(&bins)? == expected, time })
    }
}

/// Small whole numbers: their sums are exact in any order.
fn pattern(n: u32) -> Vec<f32> {
    (0..n).map(|i| (i % 13) as f32 - 6.0).collect()
}

/// Row `i` of `a` times column `j` of `b`.
fn dot(a: &[f32], b: &[f32], n: usize, i: usize, j: usize) -> f32 {
    (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum()
}

fn close(value: f32, expected: f32) -> bool {
    (value - expected).abs() <= 1e-5 * expected.abs().max(1.0)
}
