//! Managed memory of a HIP device.

use super::graphs::ready;
use crate::common::managed;

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn the_program_sees_what_kernels_wrote() {
    managed::the_program_sees_what_kernels_wrote(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_graph_keeps_managed_memory_from_the_program() {
    managed::a_graph_keeps_managed_memory_from_the_program(&ready());
}
