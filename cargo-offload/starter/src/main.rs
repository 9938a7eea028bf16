//! Runs the kernel `saxpy` on the CPU.

use offload_rt::{Device, Error, NdRange};

offload_rt::include_kernels!("blas");

fn main() -> Result<(), Error> {
    let device = Device::host();
    let (blas, stream) = (blas::load(&device)?, device.stream()?);
    let n = 1024u32;
    let x = stream.upload(&vec![1.0f32; n as usize])?;
    let mut y = stream.upload(&vec![2.0f32; n as usize])?;
    // SAFETY: `saxpy` in kernels/blas.cl touches no element from `n` on.
    unsafe { blas.saxpy(&stream, NdRange::linear_at_least(x.len(), 64), 3.0, &x, &mut y, n)? };
    println!("3 * 1 + 2 = {}", stream.download(&y)?[0]);
    Ok(())
}
