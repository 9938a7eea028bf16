//! Streams and memory that are handed over as the runtime's handles.

use std::sync::Arc;

use offload_rt::hip::raw;
use offload_rt::{Buffer, KernelArg, Stream};

use super::*;

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn work_of_other_code_is_taken_over_and_given_away() {
    let device = gpu();
    let own = device.stream().unwrap();
    let x = own.upload(&[1.0f32; 64]).unwrap();
    let y = own.upload(&[2.0f32; 64]).unwrap();
    assert_eq!(raw::as_raw_device(&device).unwrap(), 0);

    // Other code, as far as this crate can see.
    let [x_address, y_address] = [&x, &y].map(|buffer| raw::as_raw_address(buffer).unwrap());
    // SAFETY: the handles are valid until the end.
    let (stream, x_taken, mut y_taken) = unsafe {
        let stream = raw::from_raw_stream(&device, raw::as_raw_stream(&own).unwrap(), ()).unwrap();
        let x: Buffer<f32> = raw::from_raw_address(&device, x_address, 64, ()).unwrap();
        let y: Buffer<f32> = raw::from_raw_address(&device, y_address, 64, ()).unwrap();
        (stream, x, y)
    };
    let saxpy = opened(&device).kernel("saxpy").unwrap();
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
    drop((x_taken, y_taken, stream, saxpy));
    assert_eq!(own.download(&y).unwrap(), [5.0; 64]);
}

/// How many handles hold the owner.
fn holders(owner: &Arc<()>) -> usize {
    Arc::strong_count(owner) - 1
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn owners_are_dropped_when_nothing_needs_the_handle() {
    let device = gpu();
    let own = device.stream().unwrap();
    let values = own.upload(&[7u32; 8]).unwrap();
    let owner = Arc::new(());
    // SAFETY: the handles are valid until the end.
    let (stream, buffer): (Stream, Buffer<u32>) = unsafe {
        let stream = raw::from_raw_stream(&device, raw::as_raw_stream(&own).unwrap(), owner.clone()).unwrap();
        let address = raw::as_raw_address(&values).unwrap();
        (stream, raw::from_raw_address(&device, address, 8, owner.clone()).unwrap())
    };
    assert_eq!(holders(&owner), 2);
    assert_eq!(stream.download(&buffer).unwrap(), [7; 8]);
    drop(buffer);
    assert_eq!(holders(&owner), 1);
    drop(stream);
    assert_eq!(holders(&owner), 0);
    // Nothing was released.
    assert_eq!(own.download(&values).unwrap(), [7; 8]);
}

/// A runtime that does not tell the device of a stream cannot refuse it.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_stream_of_another_device_is_refused() {
    let devices = found().unwrap();
    let other = devices[1].stream().unwrap();
    let handle = raw::as_raw_stream(&other).unwrap();
    // SAFETY: the stream lives; where it is not refused it is not used.
    match unsafe { raw::from_raw_stream(&devices[0], handle, ()) } {
        Err(error) => assert!(error.to_string().contains("the stream is of another device"), "{error}"),
        Ok(_) => assert!(format!("{:?}", devices[0]).contains("hipStreamGetDevice"), "{:?}", devices[0]),
    }
}
