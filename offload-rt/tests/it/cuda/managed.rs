//! Managed memory of a CUDA device.

use super::graphs::ready;
use crate::common::managed;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_program_sees_what_kernels_wrote() {
    managed::the_program_sees_what_kernels_wrote(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_graph_keeps_managed_memory_from_the_program() {
    managed::a_graph_keeps_managed_memory_from_the_program(&ready());
}
