//! Tensors in the memory of a HIP device.
#![cfg(feature = "dlpack")]

use super::{graphs, peers};
use crate::common::dlpack;

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_tensor_goes_to_another_library_and_comes_back() {
    dlpack::a_tensor_goes_to_another_library_and_comes_back(&graphs::ready(), 10);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_tensor_of_another_device_is_refused() {
    let Some(devices) = peers::devices() else { return };
    dlpack::a_tensor_of_another_device_is_refused(&devices);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn another_library_has_its_memory_again_when_the_work_is_done() {
    dlpack::another_library_has_its_memory_again_when_the_work_is_done(&graphs::ready(), 10, |buffer| {
        offload_rt::hip::raw::as_raw_address(buffer).unwrap().expose_provenance() as u64
    });
}
