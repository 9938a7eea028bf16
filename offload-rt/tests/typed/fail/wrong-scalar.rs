//! A value of another type.

include!("../kernels.inc");

use offload_rt::{Buffer, Error, Local, NdRange, Stream};

fn launch(stream: &Stream, kernels: &typed::Kernels, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<(), Error> {
    unsafe { kernels.saxpy(stream, NdRange::linear_at_least(64, 64), 2u32, x, y, 64) }
}

fn main() {
    let _ = (launch, Local::<f32>::new(1));
}
