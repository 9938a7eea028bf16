//! The decode loop of a small transformer with generated weights, on every device of this machine.
//!
//! All launches for a token are one graph; position and token stay on the device, so that the graph is the same for every
//! token. The exit code is 0 if every device takes the tokens that plain Rust takes.
//!
//! `OFFLOAD_TARGETS=nvptx:sm_75 cargo run --release -p decode --features cuda` decodes on an NVIDIA GPU.

mod decoder;
mod model;

use std::process::ExitCode;
use std::time::Instant;

use offload_rt::{Device, Error};

use crate::decoder::Decoder;
use crate::model::{CONTEXT, Model};

offload_rt::include_kernels!("kernels");

/// The token that the text begins with.
const FIRST: u32 = 7;

/// What plain Rust decodes.
struct Expected {
    tokens: Vec<u32>,
    logits: Vec<f32>,
}

fn main() -> ExitCode {
    let model = Model::generate(1);
    let (tokens, logits) = model.decode(FIRST);
    let expected = Expected { tokens, logits };
    let all = Device::all().devices;
    let devices: Vec<&Device> =
        all.iter().filter(|device| kernels::module().request().select(device).is_ok()).collect();
    let mut right = 0;
    for device in &devices {
        match decode_on(device, &model, &expected) {
            Ok(true) => right += 1,
            Ok(false) => println!("{device}: the tokens are wrong"),
            Err(error) => println!("{device}: {error}"),
        }
    }
    println!("{right} of {} devices are right", devices.len());
    if right == devices.len() && right > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the tokens are the expected ones, with and without a graph.
fn decode_on(device: &Device, model: &Model, expected: &Expected) -> Result<bool, Error> {
    let mut decoder = Decoder::new(device, model)?;
    let graph = decoder.graph()?;
    let mut is_right = true;
    let mut rates = Vec::new();
    for graph in [None, Some(&graph)] {
        // The first time warms up.
        decoder.decode(FIRST, graph)?;
        let start = Instant::now();
        let (tokens, logits) = decoder.decode(FIRST, graph)?;
        rates.push(CONTEXT as f64 / start.elapsed().as_secs_f64());
        let is_close = logits.iter().zip(&expected.logits).all(|(found, right)| (found - right).abs() < 1e-3);
        is_right &= tokens == expected.tokens && is_close;
    }
    if let [launches, graphs] = rates.as_slice() {
        println!(
            "{device}: {launches:.0} tokens a second by launches, {graphs:.0} by graphs of {} operations",
            graph.len()
        );
    }
    Ok(is_right)
}
