//! Kernels in the contexts and queues of other code, with its memory: by handles, and by the types of `opencl3`.

use offload_rt::opencl::raw;
use offload_rt::{Buffer, Kernel, KernelArg, Stream};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::kernel::ExecuteKernel;
use opencl3::memory::CL_MEM_READ_WRITE;
use opencl3::types::{CL_BLOCKING, cl_event};
use opencl3::{device, memory};

use super::*;

/// A program that has a context, a queue and memory of `opencl3`, on one device.
struct Other {
    context: Context,
    queue: CommandQueue,
    x: memory::Buffer<f32>,
    y: memory::Buffer<f32>,
}

const LEN: usize = 4096;

impl Other {
    fn new(device: &Device) -> Other {
        let device = device::Device::new(raw::as_raw_device(device).unwrap());
        let context = Context::from_device(&device).unwrap();
        let no_host = std::ptr::null_mut();
        // SAFETY: the device is the context's; there is no memory of the host.
        let (queue, x, y) = unsafe {
            let queue = CommandQueue::create(&context, device.id(), 0).unwrap();
            let [x, y] =
                [(); 2].map(|()| memory::Buffer::create(&context, CL_MEM_READ_WRITE, LEN, no_host).unwrap());
            (queue, x, y)
        };
        let mut other = Other { context, queue, x, y };
        other.write();
        other
    }

    fn write(&mut self) {
        let x: Vec<f32> = (0..LEN).map(|i| i as f32).collect();
        let no_events: &[cl_event] = &[];
        // SAFETY: the buffers have this length, and the calls wait.
        unsafe {
            self.queue.enqueue_write_buffer(&mut self.x, CL_BLOCKING, 0, &x, no_events).unwrap();
            self.queue.enqueue_write_buffer(&mut self.y, CL_BLOCKING, 0, &[1.0; LEN], no_events).unwrap();
        }
    }

    fn check(&self, factor: f32) {
        let mut y = [0.0; LEN];
        // SAFETY: the buffer has this length, and the call waits.
        unsafe { self.queue.enqueue_read_buffer(&self.y, CL_BLOCKING, 0, &mut y, &[]) }.unwrap();
        assert!(y.iter().enumerate().all(|(i, y)| *y == factor * i as f32 + 1.0));
    }
}

fn range() -> NdRange {
    NdRange::linear_at_least(LEN, 64)
}

/// # Safety
/// The buffers have `LEN` values, and the kernel is `saxpy`.
unsafe fn add(saxpy: &Kernel, stream: &Stream, x: &Buffer<f32>, y: &mut Buffer<f32>) {
    let args = [KernelArg::value(&2.0f32), KernelArg::buffer(x), KernelArg::buffer_mut(y)];
    // SAFETY: by the contract.
    unsafe { saxpy.launch(stream, range(), &args) }.unwrap();
}

#[test]
fn opencl3_hands_over_its_queue_and_memory() {
    let _alone = alone();
    let devices = for_each_device(&registry("opencl-c", SOURCE.as_bytes()));
    assert!(!devices.is_empty(), "no OpenCL device takes OpenCL C");
    for (device, image) in devices {
        let other = Other::new(&device);
        let taken = Device::try_from(&other.context).unwrap();
        assert_eq!(taken.to_string(), device.to_string());
        let saxpy = taken.open(&image).unwrap().kernel("saxpy").unwrap();
        let stream = Stream::try_from(&other.queue).unwrap();
        let x = Buffer::try_from(&other.x).unwrap();
        let mut y = Buffer::try_from(&other.y).unwrap();
        assert_eq!((x.len(), y.len()), (LEN, LEN));
        // SAFETY: the buffers have so many values.
        unsafe { add(&saxpy, &stream, &x, &mut y) };
        other.check(2.0);

        // What was taken over lives on with the references that were taken.
        let Other { context, queue, x: other_x, y: other_y } = other;
        drop((other_x, other_y, queue, context));
        // SAFETY: as above.
        unsafe { add(&saxpy, &stream, &x, &mut y) };
        assert_eq!(stream.download(&y).unwrap()[LEN - 1], 4.0 * (LEN - 1) as f32 + 1.0);
    }
}

#[test]
fn opencl3_launches_a_kernel_of_this_crate() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let other = Other::new(&device);
        let program = Device::try_from(&other.context).unwrap().open(&image).unwrap();
        let saxpy = opencl3::kernel::Kernel::try_from(&program.kernel("saxpy").unwrap()).unwrap();
        drop(program);
        let mut launch = ExecuteKernel::new(&saxpy);
        // SAFETY: the buffers have an element for each work-item.
        unsafe {
            launch.set_arg(&2.0f32).set_arg(&other.x).set_arg(&other.y);
            launch.set_global_work_size(LEN).set_local_work_size(64).enqueue_nd_range(&other.queue).unwrap();
        }
        other.check(2.0);
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let other = Other::new(&device);
        // The device's own context is another one than that of `opencl3`.
        // SAFETY: the queue lives.
        let error = unsafe { raw::from_raw_queue(&device, other.queue.get()) }.unwrap_err().to_string();
        assert!(error.contains("the queue is of another context"), "{error}");
        let own = device.stream().unwrap();
        let error = own.download(&Buffer::try_from(&other.x).unwrap()).unwrap_err().to_string();
        assert!(error.contains("a buffer of another device"), "{error}");
        let saxpy = device.open(&image).unwrap().kernel("saxpy").unwrap();
        let stream = Stream::try_from(&other.queue).unwrap();
        let x = own.upload(&[0.0f32; LEN]).unwrap();
        let mut y = own.upload(&[0.0f32; LEN]).unwrap();
        let args = [KernelArg::value(&2.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
        // SAFETY: nothing is launched.
        unsafe { saxpy.launch(&stream, range(), &args) }.unwrap_err();

        // Given away, and taken back: one context, whose values work together.
        // SAFETY: the handles live.
        let (again, mut back) = unsafe {
            let [context, id] = [raw::as_raw_context(&device).unwrap(), raw::as_raw_device(&device).unwrap()];
            let again = raw::from_raw_context(context, id).unwrap();
            let queue = raw::as_raw_queue(&own).unwrap();
            let memory = raw::as_raw_mem(&y).unwrap();
            (raw::from_raw_queue(&again, queue).unwrap(), raw::from_raw_mem::<f32>(memory).unwrap())
        };
        again.fill(&mut back, 3.0).unwrap();
        assert_eq!(own.download(&y).unwrap(), [3.0; LEN]);
        assert!(!raw::as_raw_program(&saxpy).unwrap().is_null());
    }
}
