//! A buffer of another element type.

include!("../kernels.inc");

use offload_rt::{Buffer, Error, Local, NdRange, Stream};

fn launch(stream: &Stream, kernels: &typed::Kernels, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<(), Error> {
    unsafe { kernels.vectors(stream, NdRange::linear_at_least(64, 64), [0.0; 4], [0; 4], 1, y) }
}

fn main() {
    let _ = (launch, Local::<f32>::new(1));
}
