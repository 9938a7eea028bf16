//! Graphs of a HIP device.

use super::*;
use crate::common::graphs::{self, Ready};
use crate::common::images;

pub(super) fn ready() -> Ready {
    let device = gpu();
    let records = vec![saxpy_record()];
    let program = open(&device, "amdgcn:gfx1100", &code_object(3, GFX1100), records).unwrap();
    let saxpy = program.kernel("saxpy").unwrap();
    Ready { stream: device.stream().unwrap(), saxpy }
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_graph_does_its_work_at_each_launch_and_keeps_what_it_uses() {
    graphs::a_graph_does_its_work_at_each_launch_and_keeps_what_it_uses(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn arguments_of_a_launch_are_replaced() {
    graphs::arguments_of_a_launch_are_replaced(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn forked_streams_come_back() {
    graphs::forked_streams_come_back(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_capture_that_fails_leaves_the_stream_as_it_was() {
    graphs::a_capture_that_fails_leaves_the_stream_as_it_was(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn threads_launch_one_graph() {
    graphs::threads_launch_one_graph(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn images_are_copied_and_filled() {
    images::images_are_copied_and_filled(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn graphs_copy_images() {
    images::graphs_copy_images(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn what_gpus_lack_of_images_is_refused() {
    images::what_gpus_lack_of_images_is_refused(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn host_functions_are_called_at_each_launch() {
    graphs::host_functions_are_called_at_each_launch(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn graphs_of_a_pool_run_one_after_the_other() {
    graphs::graphs_of_a_pool_run_one_after_the_other(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_pool_of_another_device_is_refused() {
    graphs::a_pool_of_another_device_is_refused(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn graphs_fill_images() {
    images::graphs_fill_images(&ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_dropped_image_is_released_after_its_work() {
    images::a_dropped_image_is_released_after_its_work(&ready());
}
