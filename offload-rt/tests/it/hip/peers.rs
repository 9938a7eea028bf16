//! Several HIP devices.

use super::*;
use crate::common::graphs::Ready;
use crate::common::peers;

/// `None` on a machine with one device.
pub(super) fn devices() -> Option<Vec<Ready>> {
    let mut all = Vec::new();
    for (device, image) in found()?.into_iter().zip([("amdgcn:gfx1100", GFX1100), ("amdgcn:gfx90a", GFX90A)])
    {
        let (target, flags) = image;
        let program = open(&device, target, &code_object(3, flags), vec![saxpy_record()]).unwrap();
        all.push(Ready { stream: device.stream().unwrap(), saxpy: program.kernel("saxpy").unwrap() });
    }
    (all.len() > 1).then_some(all)
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn data_goes_around_all_devices() {
    let Some(devices) = devices() else { return };
    peers::data_goes_around_all_devices(&devices);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn events_order_work_of_two_devices() {
    let Some(devices) = devices() else { return };
    peers::events_order_work_of_two_devices(&devices);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn what_belongs_to_another_device_is_refused_with_both_names() {
    let Some(devices) = devices() else { return };
    peers::what_belongs_to_another_device_is_refused_with_both_names(&devices);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn threads_use_all_devices_at_once() {
    let Some(devices) = devices() else { return };
    peers::threads_use_all_devices_at_once(&devices);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn the_host_waits_for_events() {
    let Some(devices) = devices() else { return };
    peers::the_host_waits_for_events(&devices);
}
