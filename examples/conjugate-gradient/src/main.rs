//! Solves Poisson's equation on the unit square with conjugate gradients, on every device of this machine.
//!
//! `conjugate-gradient [SIDE]` takes a grid of SIDE x SIDE points. Vectors and scalars stay on the device; the program
//! looks at the residual every 32 steps. The exit code is 0 if every device gives the right solution.
//!
//! `OFFLOAD_TARGETS=nvptx:sm_75 cargo run -p conjugate-gradient --features cuda` solves it on an NVIDIA GPU.

mod solver;

use std::process::ExitCode;
use std::time::Instant;

use offload_rt::{Device, Error};

use crate::solver::Solver;

offload_rt::include_kernels!("solve");

fn main() -> ExitCode {
    let side = std::env::args().nth(1).map_or(Ok(128), |side| side.parse());
    let Ok(side) = side else {
        eprintln!("usage: conjugate-gradient [SIDE]");
        return ExitCode::from(2);
    };
    let devices: Vec<Device> = Device::all()
        .devices
        .into_iter()
        .filter(|device| solve::module().request().select(device).is_ok())
        .collect();
    let mut right = 0;
    for device in &devices {
        match solve_on(device, side) {
            Ok(true) => right += 1,
            Ok(false) => {}
            Err(error) => println!("{device}: {error}"),
        }
    }
    println!("{right} of {} devices are right", devices.len());
    if right == devices.len() && right > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the solution is that of the equation.
fn solve_on(device: &Device, side: usize) -> Result<bool, Error> {
    // The solution is x (1 - x) y (1 - y), for which the stencil is exact; the right side is scaled with the square of the
    // mesh.
    let mesh = 1.0 / (side + 1) as f64;
    let mut exact = Vec::new();
    let mut right_side = Vec::new();
    for i in 0..side * side {
        let x = parabola(i % side, mesh);
        let y = parabola(i / side, mesh);
        exact.push(x * y);
        right_side.push((2.0 * (x + y) * mesh * mesh) as f32);
    }

    let kernels = solve::load(device)?;
    let start = Instant::now();
    let solution = Solver::new(&kernels, side, &right_side)?.run(4 * side)?;
    let time = start.elapsed();
    let error = solution.x.iter().zip(&exact).map(|(x, exact)| (f64::from(*x) - exact).abs());
    let error = error.fold(0.0, f64::max);
    println!("{device}: {} steps in {time:.1?}, error {error:.1e}", solution.steps);
    // The solution is at most a sixteenth.
    Ok(error < 1e-4)
}

/// x (1 - x) at the inner grid point `i` of one axis.
fn parabola(i: usize, mesh: f64) -> f64 {
    let x = (i + 1) as f64 * mesh;
    x * (1.0 - x)
}
