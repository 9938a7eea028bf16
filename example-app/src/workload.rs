//! The four kernels with their inputs, and the same in plain Rust. Data stays on the device between kernels.

use std::time::Duration;

use offload_rt::{Buffer, Error, KernelArg, NdRange, Program, Stream};

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
pub fn run_all(program: &Program) -> Result<Vec<KernelResult>, Error> {
    let work = Work { program, stream: program.device().stream()? };
    let x = pattern(1 << 20);
    let mut y = work.stream.upload(&vec![1.0f32; x.len()])?;
    Ok(vec![work.saxpy(&x, &mut y)?, work.reduce(&x, &y)?, work.matmul()?, work.histogram()?])
}

/// A program with the stream that its kernels are put into.
struct Work<'a> {
    program: &'a Program,
    stream: Stream,
}

impl Work<'_> {
    fn saxpy(&self, x: &[f32], y: &mut Buffer<f32>) -> Result<KernelResult, Error> {
        let (on_device, n) = (self.stream.upload(x)?, x.len() as u32);
        let args = [
            KernelArg::value(&2.5f32),
            KernelArg::buffer(&on_device),
            KernelArg::buffer_mut(&mut *y),
            KernelArg::value(&n),
        ];
        let time = self.launch("saxpy", &NdRange::linear(n.into(), GROUP)?, &args)?;
        let right = x.iter().zip(&self.stream.download(&*y)?).all(|(x, y)| close(*y, 2.5 * x + 1.0));
        Ok(KernelResult { kernel: "saxpy", right, time })
    }

    /// Sums what saxpy has left on the device.
    fn reduce(&self, x: &[f32], y: &Buffer<f32>) -> Result<KernelResult, Error> {
        // Not a multiple of the group, so that the last group has work-items without an element.
        let n = x.len() - 100;
        let mut sums = self.stream.zeroed::<f32>(n.div_ceil(GROUP as usize))?;
        let count = n as u32;
        let args = [KernelArg::buffer(y), KernelArg::buffer_mut(&mut sums), KernelArg::value(&count)];
        let time = self.launch("reduce", &NdRange::linear(n as u64, GROUP)?, &args)?;
        let expected = x[..n].chunks(GROUP as usize).map(|part| part.iter().map(|x| 2.5 * x + 1.0).sum());
        let right = self
            .stream
            .download(&sums)?
            .into_iter()
            .zip(expected)
            .all(|(sum, expected)| close(sum, expected));
        Ok(KernelResult { kernel: "reduce", right, time })
    }

    fn matmul(&self) -> Result<KernelResult, Error> {
        let n = 256u32;
        let (a, b) = (pattern(n * n), pattern(n * n));
        let (a_on, b_on, mut c) =
            (self.stream.upload(&a)?, self.stream.upload(&b)?, self.stream.zeroed::<f32>(a.len())?);
        let range = NdRange::new(&[n.into(), n.into()], &[TILE, TILE])?;
        let args = [
            KernelArg::buffer(&a_on),
            KernelArg::buffer(&b_on),
            KernelArg::buffer_mut(&mut c),
            KernelArg::value(&n),
        ];
        let time = self.launch("matmul", &range, &args)?;
        let (n, c) = (n as usize, self.stream.download(&c)?);
        let expected = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum::<f32>();
        let right = (0..n).all(|i| (0..n).all(|j| close(c[i * n + j], expected(i, j))));
        Ok(KernelResult { kernel: "matmul", right, time })
    }

    fn histogram(&self) -> Result<KernelResult, Error> {
        let n = 1u32 << 20;
        let data: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
        let (on_device, mut bins) = (self.stream.upload(&data)?, self.stream.zeroed::<u32>(BINS)?);
        let args = [KernelArg::buffer(&on_device), KernelArg::buffer_mut(&mut bins), KernelArg::value(&n)];
        let time = self.launch("histogram", &NdRange::linear(n.into(), GROUP)?, &args)?;
        let mut expected = [0u32; BINS];
        data.iter().for_each(|value| expected[*value as usize % BINS] += 1);
        Ok(KernelResult { kernel: "histogram", right: self.stream.download(&bins)? == expected, time })
    }

    /// Puts a kernel into the stream, and times it with the device's own clock.
    fn launch(&self, kernel: &str, range: &NdRange, args: &[KernelArg<'_>]) -> Result<Duration, Error> {
        let kernel = self.program.kernel(kernel)?;
        let start = self.stream.record()?;
        // SAFETY: each buffer has an element for each work-item that the kernel lets use it (`kernels/*.cl` compare with
        // `n`, or the range is of the buffer's size), inputs are declared const there, and work-items write elements of
        // their own or use atomics.
        unsafe { kernel.launch(&self.stream, range, args)? };
        self.stream.record()?.since(&start)
    }
}

/// Small whole numbers: their sums are exact in any order.
fn pattern(n: u32) -> Vec<f32> {
    (0..n).map(|i| (i % 13) as f32 - 6.0).collect()
}

fn close(value: f32, expected: f32) -> bool {
    (value - expected).abs() <= 1e-5 * expected.abs().max(1.0)
}
