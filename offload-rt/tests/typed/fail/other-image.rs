//! An image of three dimensions for one of two.

include!("../kernels.inc");

use offload_rt::{Error, Image2dArray, Image3d, Local, NdRange, Sampler, Stream};

fn launch(stream: &Stream, kernels: &typed::Kernels, x: &Image3d, s: &Sampler, y: &mut Image2dArray) -> Result<(), Error> {
    unsafe { kernels.blur(stream, NdRange::linear_at_least(64, 64), x, s, y) }
}

fn main() {
    let _ = (launch, Local::<f32>::new(1));
}
