//! Memory pools of a CUDA device.

use super::graphs::ready;
use crate::common::pools;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_buffer_may_be_used_and_dropped_in_any_stream() {
    pools::a_buffer_may_be_used_and_dropped_in_any_stream(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_graph_may_be_launched_and_dropped_in_any_stream() {
    pools::a_graph_may_be_launched_and_dropped_in_any_stream(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_pool_counts_buffers() {
    pools::a_pool_counts_buffers(&ready());
}
