//! Memory of a CUDA device that two processes share.

use super::graphs;
use crate::common::processes;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_buffer_is_opened_by_another_process() {
    let test = "cuda::processes::a_buffer_is_opened_by_another_process";
    processes::a_buffer_is_opened_by_another_process(&graphs::ready(), test);
}
