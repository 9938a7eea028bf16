//! Launches a kernel of this crate in the context and the queue of `opencl3`, on its memory.

use offload_rt::{Buffer, Device, KernelArg, NdRange, Stream};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{self, CL_MEM_READ_WRITE};
use opencl3::types::CL_BLOCKING;

offload_rt::include_kernels!("blas");

const LEN: usize = 1 << 16;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The program's own context, queue and memory.
    let id = *get_all_devices(CL_DEVICE_TYPE_ALL)?.first().ok_or("there is no OpenCL device")?;
    let context = Context::from_device(&opencl3::device::Device::new(id))?;
    let queue = CommandQueue::create_default(&context, 0)?;
    let no_host = std::ptr::null_mut();
    // SAFETY: the buffers have this length, and both calls wait.
    let (x, y) = unsafe {
        let mut x = memory::Buffer::<f32>::create(&context, CL_MEM_READ_WRITE, LEN, no_host)?;
        let mut y = memory::Buffer::<f32>::create(&context, CL_MEM_READ_WRITE, LEN, no_host)?;
        queue.enqueue_write_buffer(&mut x, CL_BLOCKING, 0, &[1.0; LEN], &[])?;
        queue.enqueue_write_buffer(&mut y, CL_BLOCKING, 0, &[2.0; LEN], &[])?;
        (x, y)
    };

    // The best image for the device, loaded into this context.
    let saxpy = blas::module().load(&Device::try_from(&context)?)?.kernel("saxpy")?;
    let stream = Stream::try_from(&queue)?;
    let shared_x = Buffer::try_from(&x)?;
    let mut shared_y = Buffer::try_from(&y)?;
    let n = LEN as u32;
    let args = [
        KernelArg::value(&3.0f32),
        KernelArg::buffer(&shared_x),
        KernelArg::buffer_mut(&mut shared_y),
        KernelArg::value(&n),
    ];
    // SAFETY: each work-item reads and writes one element, and compares its number with `n`.
    unsafe { saxpy.launch(&stream, NdRange::linear_at_least(LEN, 64), &args)? };

    // The same kernel as one of `opencl3`.
    let kernel = Kernel::try_from(&saxpy)?;
    let mut launch = ExecuteKernel::new(&kernel);
    launch.set_global_work_size(LEN).set_local_work_size(64);
    // SAFETY: as above.
    unsafe {
        launch.set_arg(&10.0f32).set_arg(&x).set_arg(&y).set_arg(&n);
        launch.enqueue_nd_range(&queue)?;
    }

    let mut result = vec![0.0f32; LEN];
    // SAFETY: the buffer has this length, and the call waits.
    unsafe { queue.enqueue_read_buffer(&y, CL_BLOCKING, 0, &mut result, &[])? };
    println!("{} of {LEN} values are 15", result.iter().filter(|value| **value == 15.0).count());
    Ok(())
}
