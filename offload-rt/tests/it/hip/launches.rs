//! Cooperative launches of HIP kernels.

use super::*;
use crate::common::launches::{self, Meeting};

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn all_groups_of_a_cooperative_launch_meet() {
    let device = gpu();
    let meet = opened(&device).kernel("meet").unwrap();
    launches::all_groups_of_a_cooperative_launch_meet(&device.stream().unwrap(), &meet);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn what_hip_has_not_is_refused() {
    let device = gpu();
    let meet = opened(&device).kernel("meet").unwrap();
    let stream = device.stream().unwrap();
    let mut meeting = Meeting::new(&stream, 4);
    let captured = stream.capture(|stream| meeting.launch(stream, &meet));
    assert!(captured.unwrap_err().to_string().contains("cannot keep a cooperative launch"));
    let range = NdRange::linear_at_least(4, 1);
    for range in [range.with_cluster([2]), range.programmatic_dependent()] {
        // SAFETY: nothing runs.
        let error = unsafe { meet.launch(&stream, range, &[]) }.unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("NdRange::with_cluster")), "{error}");
    }
}
