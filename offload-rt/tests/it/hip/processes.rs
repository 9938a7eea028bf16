//! Memory of a HIP device that two processes share.

use super::graphs;
use crate::common::processes;

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_buffer_is_opened_by_another_process() {
    let test = "hip::processes::a_buffer_is_opened_by_another_process";
    processes::a_buffer_is_opened_by_another_process(&graphs::ready(), test);
}
