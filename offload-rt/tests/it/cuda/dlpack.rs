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
