//! Kernels of this crate in the contexts and streams of `cudarc`, with its memory.

use cudarc_0_19::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc_0_19::nvrtc::Ptx;
use offload_rt::cuda::cudarc_0_19::{borrow, borrow_mut};
use offload_rt::{KernelArg, Stream};

use super::*;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn kernels_run_in_streams_of_cudarc_with_its_memory() {
    gpu();
    let context = CudaContext::new(0).unwrap();
    let cuda_stream = context.new_stream().unwrap();
    let device = Device::try_from(&context).unwrap();
    let saxpy = opened(&device).kernel("saxpy").unwrap();
    let stream = Stream::try_from(&cuda_stream).unwrap();

    let n = 100_000;
    let x = cuda_stream.clone_htod(&(0..n).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let mut y = cuda_stream.alloc_zeros::<f32>(n).unwrap();
    for _ in 0..2 {
        let x = borrow(&x, &cuda_stream);
        let mut y = borrow_mut(&mut y, &cuda_stream);
        let count = n as u32;
        let args = [
            KernelArg::value(&2.0f32),
            KernelArg::buffer(&x),
            KernelArg::buffer_mut(&mut y),
            KernelArg::value(&count),
        ];
        // SAFETY: the kernel compares its number with `count`.
        unsafe { saxpy.launch(&stream, NdRange::linear_at_least(n, 256), &args) }.unwrap();
    }
    let y = cuda_stream.clone_dtoh(&y).unwrap();
    assert!(y.iter().enumerate().all(|(i, y)| *y == 4.0 * i as f32));
}

/// A stream of another device's context, or memory that was borrowed for another stream, is refused.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn memory_is_used_in_the_stream_that_it_was_borrowed_for() {
    gpu();
    let context = CudaContext::new(0).unwrap();
    let [first, second] = [(); 2].map(|()| context.new_stream().unwrap());
    let values = first.clone_htod(&[1u32, 2, 3]).unwrap();
    let borrowed = borrow(&values, &first);
    assert_eq!(Stream::try_from(&first).unwrap().download(&borrowed).unwrap(), [1, 2, 3]);
    let error = Stream::try_from(&second).unwrap().download(&borrowed).unwrap_err().to_string();
    assert!(error.contains("borrowed for another stream"), "{error}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn cudarc_launches_an_image_of_this_crate() {
    gpu();
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    let image = NewImage::new("m", "nvptx:sm_50".parse().unwrap());
    let registry = Registry::from_pack(TestPack::new("p").image(image, KERNELS.as_bytes()).bytes());

    let image =
        registry.request("m").select(&Device::try_from(&context).unwrap()).unwrap().entry().load().unwrap();
    let module =
        context.load_module(Ptx::from_src(String::from_utf8(image.bytes().to_vec()).unwrap())).unwrap();

    let saxpy = module.load_function("saxpy").unwrap();
    let x = stream.clone_htod(&[1.0f32; 64]).unwrap();
    let mut y = stream.clone_htod(&[2.0f32; 64]).unwrap();
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&3.0f32).arg(&x).arg(&mut y).arg(&64u32);
    // SAFETY: the kernel compares its number with 64.
    unsafe { launch.launch(LaunchConfig::for_num_elems(64)) }.unwrap();
    assert_eq!(stream.clone_dtoh(&y).unwrap(), [5.0; 64]);
}
