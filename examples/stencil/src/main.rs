//! Spreads heat over a plate, on all devices of a kind together.
//!
//! `stencil [SIDE] [STEPS]` takes a plate of SIDE x SIDE points, in strips of equal height, one for each device. At each
//! step the devices exchange the rows at the borders of their strips while they compute the others. A single device
//! is divided in two, where its driver does that, or takes two strips. The exit code is 0 if the temperatures are right on all devices.
//!
//! `OFFLOAD_TARGETS=nvptx:sm_75 cargo run --release -p stencil --features cuda -- 16384 500` uses NVIDIA's GPUs.

mod plate;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use offload_rt::{Device, Error};

use crate::plate::{GROUP, Plate};

offload_rt::include_kernels!("heat");

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let side = numbers.next().unwrap_or(Ok(512));
    let steps = numbers.next().unwrap_or(Ok(100));
    let (Ok(side), Ok(steps)) = (side, steps) else {
        eprintln!("usage: stencil [SIDE] [STEPS]");
        return ExitCode::from(2);
    };
    let mut right = 0;
    let groups = groups();
    for devices in &groups {
        match run(devices, side.next_multiple_of(GROUP), steps) {
            Ok(true) => right += 1,
            Ok(false) => println!("{}: the temperatures are wrong", names(devices)),
            Err(error) => println!("{}: {error}", names(devices)),
        }
    }
    println!("{right} of {} groups of devices are right", groups.len());
    if right == groups.len() && right > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The devices of each kind that there is an image for; one alone is divided, or there twice.
fn groups() -> Vec<Vec<Device>> {
    let mut groups: Vec<(&str, Vec<Device>)> = Vec::new();
    for device in Device::all().devices {
        if heat::module().request().select(&device).is_err() {
            continue;
        }
        let kind = kind(&device);
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, devices)) => devices.push(device),
            None => groups.push((kind, vec![device])),
        }
    }
    let mut all = Vec::new();
    for (_, devices) in groups {
        match devices.as_slice() {
            [only] => all.push(halves(only).unwrap_or_else(|_| vec![only.clone(), only.clone()])),
            _ => all.push(devices),
        }
    }
    all
}

/// Two devices with half of the compute units each, where OpenCL's driver divides the device.
fn halves(device: &Device) -> Result<Vec<Device>, Error> {
    let units = device.properties()?.compute_units.unwrap_or_default();
    offload_rt::opencl::partition(device, units / 2)
}

fn kind(device: &Device) -> &'static str {
    let description = device.description();
    if description.opencl().is_some() {
        return "OpenCL";
    }
    if description.hip().is_some() {
        return "HIP";
    }
    if device.name() == "host CPU" { "host" } else { "CUDA" }
}

fn names(devices: &[Device]) -> String {
    let first = devices.first().map(ToString::to_string).unwrap_or_default();
    format!("{} x {first}", devices.len())
}

/// Whether all devices together compute what plain Rust does for a small plate, and what one of them does for the whole.
fn run(devices: &[Device], side: usize, steps: usize) -> Result<bool, Error> {
    let small = temperatures(GROUP, 64);
    let mut plate = Plate::new(devices, GROUP, &small)?;
    plate.spread(20)?;
    let expected = spread_here(small, GROUP, 20);
    let is_right =
        plate.temperatures()?.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-4);

    let start = temperatures(side, side);
    let (one, alone) = timed(&devices[..1], side, &start, steps)?;
    let (all, together) = timed(devices, side, &start, steps)?;
    println!(
        "{}: {steps} steps of {side} x {side} points in {together:.1?}, {:.2} of the speed of one device",
        names(devices),
        alone.as_secs_f64() / together.as_secs_f64()
    );
    Ok(is_right && one == all)
}

/// The temperatures after the steps, and how long these took.
fn timed(
    devices: &[Device],
    side: usize,
    start: &[f32],
    steps: usize,
) -> Result<(Vec<f32>, Duration), Error> {
    let mut plate = Plate::new(devices, side, start)?;
    plate.wait()?;
    let begin = Instant::now();
    plate.spread(steps)?;
    plate.wait()?;
    let time = begin.elapsed();
    Ok((plate.temperatures()?, time))
}

/// A plate of `rows` between two rows that are hot at their middle.
fn temperatures(width: usize, rows: usize) -> Vec<f32> {
    let mut all = vec![0.0; (rows + 2) * width];
    for (index, value) in all.iter_mut().enumerate() {
        let (row, column) = (index / width, index % width);
        if row == 0 || row > rows {
            *value = if (width / 4..width / 2).contains(&column) { 100.0 } else { 10.0 };
        }
    }
    all
}

/// The same in plain Rust: all rows but the border's.
fn spread_here(mut before: Vec<f32>, width: usize, steps: usize) -> Vec<f32> {
    let rows = before.len() / width - 2;
    for _ in 0..steps {
        let mut after = before.clone();
        for row in 1..=rows {
            for column in 1..width - 1 {
                let at = row * width + column;
                let around = before[at - width] + before[at + width] + before[at - 1] + before[at + 1];
                after[at] = before[at] + 0.2 * (around - 4.0 * before[at]);
            }
        }
        before = after;
    }
    before[width..(rows + 1) * width].to_vec()
}
