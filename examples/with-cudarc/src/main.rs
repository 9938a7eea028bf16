//! Launches a kernel of this crate in the context and the stream of `cudarc`, on its memory.
//!
//! Build it for NVIDIA GPUs: `OFFLOAD_TARGETS=nvptx:sm_75 cargo run -p with-cudarc`.

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use offload_rt::cuda::cudarc_0_19::{borrow, borrow_mut};
use offload_rt::{Device, KernelArg, NdRange, Stream};

offload_rt::include_kernels!("blas");

const LEN: usize = 1 << 16;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The program's own context, stream and memory.
    let context = CudaContext::new(0)?;
    let cuda_stream = context.new_stream()?;
    let x = cuda_stream.clone_htod(&vec![1.0f32; LEN])?;
    let mut y = cuda_stream.clone_htod(&vec![2.0f32; LEN])?;

    // The best image for the device, loaded into this context.
    let device = Device::try_from(&context)?;
    let saxpy = blas::module().load(&device)?.kernel("saxpy")?;
    let stream = Stream::try_from(&cuda_stream)?;
    let n = LEN as u32;
    {
        let x = borrow(&x, &cuda_stream);
        let mut y = borrow_mut(&mut y, &cuda_stream);
        let args = [
            KernelArg::value(&3.0f32),
            KernelArg::buffer(&x),
            KernelArg::buffer_mut(&mut y),
            KernelArg::value(&n),
        ];
        // SAFETY: each work-item reads and writes one element, and compares its number with `n`.
        unsafe { saxpy.launch(&stream, NdRange::linear_at_least(LEN, 256), &args)? };
    }

    // The same image as a module of `cudarc`. The driver reads PTX as a C string, which ends in a NUL.
    let image = blas::module().request().select(&device)?.entry().load()?;
    let module = context.load_module(Ptx::from_binary([image.bytes(), b"\0"].concat()))?;
    let kernel = module.load_function("saxpy")?;
    let mut launch = cuda_stream.launch_builder(&kernel);
    launch.arg(&10.0f32).arg(&x).arg(&mut y).arg(&n);
    // SAFETY: as above.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n))? };

    let result = cuda_stream.clone_dtoh(&y)?;
    println!("{} of {LEN} values are 15", result.iter().filter(|value| **value == 15.0).count());
    Ok(())
}
