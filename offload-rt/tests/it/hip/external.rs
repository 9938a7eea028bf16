//! External memory and semaphores of a HIP device.

use super::graphs::ready;
use super::peers;
use crate::common::external;

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_buffer_is_over_memory_of_another_interface() {
    external::a_buffer_is_over_memory_of_another_interface(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_buffer_is_exported_as_a_dma_buf() {
    external::a_buffer_is_exported_as_a_dma_buf(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn semaphores_order_streams_with_another_interface() {
    let Some(devices) = peers::devices() else { return };
    external::semaphores_order_streams_with_another_interface(&devices);
}
