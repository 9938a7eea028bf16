//! Memory pools of a HIP device.

use super::graphs::ready;
use crate::common::pools;

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_buffer_may_be_used_and_dropped_in_any_stream() {
    pools::a_buffer_may_be_used_and_dropped_in_any_stream(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_graph_may_be_launched_and_dropped_in_any_stream() {
    pools::a_graph_may_be_launched_and_dropped_in_any_stream(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_pool_counts_buffers() {
    pools::a_pool_counts_buffers(&ready());
}

/// The stand-in runs the kernel when it is waited for, and finds something else in memory that was released.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn memory_that_other_code_may_use_is_released_when_all_work_is_done() {
    let ready = ready();
    let device = ready.stream.device();
    let other = device.stream().unwrap();
    let x = ready.stream.upload(&[3.0f32; 64]).unwrap();
    let address = offload_rt::hip::raw::as_raw_address(&x).unwrap();
    // SAFETY: the memory has these values, and is released after the work of the other stream.
    let alias = unsafe { offload_rt::hip::raw::from_raw_address::<f32>(device, address, 64, ()) }.unwrap();
    let mut y = other.zeroed::<f32>(64).unwrap();
    ready.add(&other, 1.0, &alias, &mut y).unwrap();
    drop(x);
    ready.stream.synchronize().unwrap();
    assert_eq!(other.download(&y).unwrap(), [3.0; 64]);
}
