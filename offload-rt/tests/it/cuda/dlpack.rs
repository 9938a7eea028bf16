//! Tensors in the memory of a CUDA device.
#![cfg(feature = "dlpack")]

use super::{graphs, peers};
use crate::common::dlpack;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_tensor_goes_to_another_library_and_comes_back() {
    dlpack::a_tensor_goes_to_another_library_and_comes_back(&graphs::ready(), 2);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_tensor_of_another_device_is_refused() {
    let Some(devices) = peers::devices() else { return };
    dlpack::a_tensor_of_another_device_is_refused(&devices);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn another_library_has_its_memory_again_when_the_work_is_done() {
    dlpack::another_library_has_its_memory_again_when_the_work_is_done(&graphs::ready(), 2, |buffer| {
        offload_rt::cuda::raw::as_raw_address(buffer).unwrap()
    });
}
