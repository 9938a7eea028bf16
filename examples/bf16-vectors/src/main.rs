//! Calculates in bfloat16 on every device of this machine, with the device library of the crate `bf16`, and compares each
//! result bit by bit: the conversion of all 65,536 numbers, every case of rounding, and sums, differences and products.
//!
//! `--times` prints the load time of the kernels.
//!
//! `OFFLOAD_TARGETS=cubin:sm_90 cargo run -p bf16-vectors --features cuda` uses the instructions of an NVIDIA GPU.

mod reference;

use std::process::ExitCode;
use std::time::Instant;

// With `link = "load"` below `[modules.vectors]` in offload.toml, kernels are linked with the library of this program.
use bf16 as _;

use offload_rt::{Device, Error, NdRange, Stream};

use crate::reference::{nearest, widened};

offload_rt::include_kernels!("vectors");

/// Lower halves of a `float`: nothing, just more, just less than half of the last place, half of it, just more, nearly all.
const LOWER: [u32; 6] = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
/// The other operands: zeros, ones, the smallest and the largest numbers, infinity, a NaN, and some between.
const OTHERS: [u16; 12] =
    [0, 0x8000, 0x3f80, 0xbf80, 1, 0x807f, 0x0080, 0x7f7f, 0xff80, 0x7fc1, 0x3eab, 0xc2f7];
/// Elements of a work-group; all counts are multiples.
const GROUP: usize = 64;

fn main() -> ExitCode {
    let devices: Vec<Device> = Device::all()
        .devices
        .into_iter()
        .filter(|device| vectors::module().request().select(device).is_ok())
        .collect();
    let right = devices.iter().filter(|device| is_right(device)).count();
    println!("{right} of {} devices are right", devices.len());
    if right == devices.len() && right > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether all results of a device equal the reference.
fn is_right(device: &Device) -> bool {
    match wrong(device) {
        Ok(Wrong { compared, wrong, loaded }) => {
            let time = if std::env::args().any(|arg| arg == "--times") { loaded } else { String::new() };
            println!("{device}: {compared} results, {wrong} wrong{time}");
            wrong == 0
        }
        Err(error) => {
            println!("{device}: {error}");
            false
        }
    }
}

/// Counts of compared and of differing results.
#[derive(Default)]
struct Wrong {
    compared: usize,
    wrong: usize,
    /// Load time as text.
    loaded: String,
}

impl Wrong {
    fn compare<T: PartialEq>(&mut self, results: &[T], right: &[T]) {
        self.compared += right.len();
        self.wrong += results.len().abs_diff(right.len());
        self.wrong += results.iter().zip(right).filter(|(result, right)| result != right).count();
    }
}

fn wrong(device: &Device) -> Result<Wrong, Error> {
    let start = Instant::now();
    let kernels = vectors::load(device)?;
    let loaded = format!(", loaded in {} us", start.elapsed().as_micros());
    let mut wrong = Wrong { loaded, ..Wrong::default() };
    let stream = device.stream()?;
    let all: Vec<u16> = (0..=u16::MAX).collect();

    let x = stream.upload(&all)?;
    let mut y = stream.zeroed::<u32>(all.len())?;
    // SAFETY: the kernel uses as many elements of each as there are work-items.
    unsafe { kernels.widen(&stream, range(&all), &x, &mut y)? };
    let right: Vec<u32> = all.iter().map(|bits| widened(*bits).to_bits()).collect();
    wrong.compare(&stream.download(&y)?, &right);

    let floats: Vec<u32> =
        all.iter().flat_map(|bits| LOWER.map(|lower| u32::from(*bits) << 16 | lower)).collect();
    let x = stream.upload(&floats)?;
    let mut y = stream.zeroed::<u16>(floats.len())?;
    // SAFETY: as above.
    unsafe { kernels.narrow(&stream, range(&floats), &x, &mut y)? };
    let right: Vec<u16> = floats.iter().map(|bits| nearest(f64::from(f32::from_bits(*bits)))).collect();
    wrong.compare(&stream.download(&y)?, &right);

    arithmetic(&kernels, &stream, &mut wrong)?;
    Ok(wrong)
}

/// A work-item for each element.
fn range<T>(elements: &[T]) -> NdRange {
    NdRange::linear_at_least(elements.len(), GROUP)
}

/// Every number with each of [`OTHERS`]. A sum or a product in `f64` has more than twice the digits of the result, so that
/// it may be rounded twice.
fn arithmetic(kernels: &vectors::Kernels, stream: &Stream, wrong: &mut Wrong) -> Result<(), Error> {
    let pairs: Vec<(u16, u16)> =
        OTHERS.iter().flat_map(|other| (0..=u16::MAX).map(|bits| (bits, *other))).collect();
    let (a, b): (Vec<u16>, Vec<u16>) = pairs.iter().copied().unzip();
    let a = stream.upload(&a)?;
    let b = stream.upload(&b)?;
    let mut y = stream.zeroed::<u16>(pairs.len())?;
    // SAFETY: as above.
    unsafe { kernels.add(stream, range(&pairs), &a, &b, &mut y)? };
    wrong.compare(&stream.download(&y)?, &rounded(&pairs, |a, b| a + b));
    // SAFETY: as above.
    unsafe { kernels.subtract(stream, range(&pairs), &a, &b, &mut y)? };
    wrong.compare(&stream.download(&y)?, &rounded(&pairs, |a, b| a - b));
    // SAFETY: as above.
    unsafe { kernels.multiply(stream, range(&pairs), &a, &b, &mut y)? };
    wrong.compare(&stream.download(&y)?, &rounded(&pairs, |a, b| a * b));
    Ok(())
}

/// What an operation makes of each pair, rounded to the nearest.
fn rounded(pairs: &[(u16, u16)], operation: fn(f64, f64) -> f64) -> Vec<u16> {
    let mut results = Vec::new();
    for (a, b) in pairs {
        results.push(nearest(operation(widened(*a).into(), widened(*b).into())));
    }
    results
}
