//! Runs the kernel `saxpy` on the CPU.

use offload_rt::{Arg, Device, Error, NdRange};

offload_rt::include_kernels!("blas");

fn main() -> Result<(), Error> {
    let program = blas::module().open(&Device::host())?;
    let n = 1024u32;
    let (a, x) = (3.0f32, vec![1.0f32; n as usize]);
    let mut y = vec![2.0f32; n as usize];
    let range = NdRange::new(&[n.into()], &[64])?;
    let mut args = [Arg::value(&a), Arg::input(&x), Arg::in_out(&mut y), Arg::value(&n)];
    // SAFETY: these are the arguments of `saxpy` in kernels/blas.cl, which touches no element from `n` on.
    unsafe { program.launch("saxpy", &range, &mut args)? };
    println!("3 * 1 + 2 = {}", y[0]);
    Ok(())
}
