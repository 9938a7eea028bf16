//! Contexts, streams and memory that are handed over as the driver's handles.

use std::sync::Arc;

use offload_rt::cuda::raw;
use offload_rt::{Buffer, KernelArg, Stream};

use super::*;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn work_of_other_code_is_taken_over_and_given_away() {
    let device = gpu();
    let own = device.stream().unwrap();
    let x = own.upload(&[1.0f32; 64]).unwrap();
    let y = own.upload(&[2.0f32; 64]).unwrap();
    own.synchronize().unwrap();

    // Other code, as far as this crate can see.
    let context = raw::as_raw_context(&device).unwrap();
    let [x_address, y_address] = [&x, &y].map(|buffer| raw::as_raw_address(buffer).unwrap());
    // SAFETY: the handles are valid until the end.
    let (taken, stream, x_taken, mut y_taken) = unsafe {
        let taken = raw::from_raw_context(context, device.clone()).unwrap();
        let stream = raw::from_raw_stream(&taken, raw::as_raw_stream(&own).unwrap(), ()).unwrap();
        let x: Buffer<f32> = raw::from_raw_address(&taken, x_address, 64, ()).unwrap();
        let y: Buffer<f32> = raw::from_raw_address(&taken, y_address, 64, ()).unwrap();
        (taken, stream, x, y)
    };
    assert_eq!(taken.to_string(), device.to_string());
    assert_eq!(raw::as_raw_context(&taken).unwrap(), context);

    let saxpy = opened(&taken).kernel("saxpy").unwrap();
    assert!(!raw::as_raw_function(&saxpy).unwrap().is_null());
    assert!(!raw::as_raw_module(&saxpy).unwrap().is_null());
    let args = [
        KernelArg::value(&3.0f32),
        KernelArg::buffer(&x_taken),
        KernelArg::buffer_mut(&mut y_taken),
        KernelArg::value(&64u32),
    ];
    // SAFETY: the kernel compares its number with 64.
    unsafe { saxpy.launch(&stream, NdRange::linear_at_least(64, 64), &args) }.unwrap();
    drop((x_taken, y_taken, stream, saxpy, taken));
    assert_eq!(own.download(&y).unwrap(), [5.0; 64]);
    drop((x, y));
}

/// How many handles hold the owner.
fn holders(owner: &Arc<()>) -> usize {
    Arc::strong_count(owner) - 1
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn owners_are_dropped_when_nothing_needs_the_handle() {
    let device = gpu();
    let own = device.stream().unwrap();
    let values = own.upload(&[7u32; 8]).unwrap();
    let owner = Arc::new(());
    // SAFETY: the handles are valid until the end.
    let (taken, stream, buffer): (Device, Stream, Buffer<u32>) = unsafe {
        let taken = raw::from_raw_context(raw::as_raw_context(&device).unwrap(), owner.clone()).unwrap();
        assert_eq!(holders(&owner), 1);
        let stream = raw::from_raw_stream(&taken, raw::as_raw_stream(&own).unwrap(), owner.clone()).unwrap();
        let address = raw::as_raw_address(&values).unwrap();
        (taken.clone(), stream, raw::from_raw_address(&taken, address, 8, owner.clone()).unwrap())
    };
    assert_eq!(holders(&owner), 3);
    assert_eq!(stream.download(&buffer).unwrap(), [7; 8]);
    drop(buffer);
    assert_eq!(holders(&owner), 2);
    drop(taken);
    assert_eq!(holders(&owner), 2, "the stream needs the context");
    drop(stream);
    assert_eq!(holders(&owner), 0);
    // Nothing was released.
    assert_eq!(own.download(&values).unwrap(), [7; 8]);
}
