//! Blurs an image and finds its edges, on every device of this machine.
//!
//! `image-filter [FILE.pgm]` writes what the best device made of the image. Between the two filters the image stays on
//! the device. The exit code is 0 if every device gives what plain Rust gives.
//!
//! `OFFLOAD_TARGETS=nvptx:sm_75 cargo run -p image-filter --features cuda` filters it on an NVIDIA GPU.

mod reference;

use std::process::ExitCode;
use std::time::Duration;

use offload_rt::{Device, Error, Local, NdRange};

use crate::reference::Image;

offload_rt::include_kernels!("filter");

/// As in `kernels/filter.cl`.
const TILE: usize = 16;
const SIDE: usize = 20;

fn main() -> ExitCode {
    // Neither side is a multiple of a tile.
    let image = Image::rings(1001, 700);
    let expected = image.blurred().edges();
    let devices: Vec<Device> = Device::all()
        .devices
        .into_iter()
        .filter(|device| filter::module().request().select(device).is_ok())
        .collect();
    let mut results = Vec::new();
    for device in &devices {
        match filter(device, &image) {
            Ok((edges, time)) => {
                println!("{device}: {time:.1?}");
                results.push(edges);
            }
            Err(error) => println!("{device}: {error}"),
        }
    }
    if let (Some(file), Some(edges)) = (std::env::args_os().nth(1), results.first())
        && let Err(error) = std::fs::write(&file, edges.to_pgm())
    {
        eprintln!("{}: {error}", file.display());
        return ExitCode::from(2);
    }
    let right = results.iter().filter(|edges| edges.is_close_to(&expected)).count();
    println!("{right} of {} devices are right", devices.len());
    if right == devices.len() && right > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The edges of the blurred image, and the run time of both filters.
fn filter(device: &Device, image: &Image) -> Result<(Image, Duration), Error> {
    let kernels = filter::load(device)?;
    let stream = device.stream()?;
    let width = image.width as i32;
    let height = image.height as i32;
    let original = stream.upload(&image.pixels)?;
    let mut blurred = stream.allocate::<f32>(original.len())?;
    let mut edges = stream.allocate::<f32>(original.len())?;
    let sizes = [image.width, image.height].map(|size| size.next_multiple_of(TILE));
    let range = NdRange::new(sizes, [TILE, TILE]);
    let tile = Local::new(SIDE * SIDE);
    let rows = Local::new(SIDE * TILE);

    let start = stream.record()?;
    // SAFETY: the buffers have a value for each pixel, and the kernels compare with width and height; the local memory
    // is as large as the kernel says.
    unsafe {
        kernels.blur(&stream, range, &original, &mut blurred, width, height, tile, rows)?;
        kernels.edges(&stream, range, &blurred, &mut edges, width, height)?;
    }
    let time = stream.record()?.since(&start)?;
    Ok((Image { width: image.width, height: image.height, pixels: stream.download(&edges)? }, time))
}

#[cfg(test)]
mod tests {
    use offload_rt::test::{Ulps, expect_close, for_each_device};

    use super::filter;
    use crate::reference::Image;

    #[test]
    fn edges_are_those_of_plain_rust() {
        let image = Image::rings(101, 70);
        let expected = image.blurred().edges();
        for_each_device(|device| {
            let (edges, _) = filter(device, &image)?;
            // Near zero, where neighbours cancel, the bound is that of the program.
            Ok(expect_close(&edges.pixels, &expected.pixels, Ulps(8).or_within(1e-4))?)
        });
    }
}
