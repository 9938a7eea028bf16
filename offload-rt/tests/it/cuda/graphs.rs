//! Graphs of a CUDA device.

use super::*;
use crate::common::graphs::{self, Ready};

pub(super) fn ready() -> Ready {
    let device = gpu();
    let program = open(&device, KERNELS, vec![saxpy_record()]).unwrap();
    let saxpy = program.kernel("saxpy").unwrap();
    Ready { stream: device.stream().unwrap(), saxpy }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_graph_does_its_work_at_each_launch_and_keeps_what_it_uses() {
    graphs::a_graph_does_its_work_at_each_launch_and_keeps_what_it_uses(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn arguments_of_a_launch_are_replaced() {
    graphs::arguments_of_a_launch_are_replaced(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn forked_streams_come_back() {
    graphs::forked_streams_come_back(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_capture_that_fails_leaves_the_stream_as_it_was() {
    graphs::a_capture_that_fails_leaves_the_stream_as_it_was(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn threads_launch_one_graph() {
    graphs::threads_launch_one_graph(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn host_functions_are_called_at_each_launch() {
    graphs::host_functions_are_called_at_each_launch(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn graphs_of_a_pool_run_one_after_the_other() {
    graphs::graphs_of_a_pool_run_one_after_the_other(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_pool_of_another_device_is_refused() {
    graphs::a_pool_of_another_device_is_refused(&ready());
}
