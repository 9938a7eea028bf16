//! Several CUDA devices.

use super::*;
use crate::common::graphs::Ready;
use crate::common::peers;

/// `None` on a machine with one device.
pub(super) fn devices() -> Option<Vec<Ready>> {
    let mut all = Vec::new();
    for device in offload_rt::cuda::devices().expect("an NVIDIA GPU, or the stand-in") {
        let program = open(&device, KERNELS, vec![saxpy_record()]).unwrap();
        all.push(Ready { stream: device.stream().unwrap(), saxpy: program.kernel("saxpy").unwrap() });
    }
    (all.len() > 1).then_some(all)
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn data_goes_around_all_devices() {
    let Some(devices) = devices() else { return };
    peers::data_goes_around_all_devices(&devices);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn events_order_work_of_two_devices() {
    let Some(devices) = devices() else { return };
    peers::events_order_work_of_two_devices(&devices);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn what_belongs_to_another_device_is_refused_with_both_names() {
    let Some(devices) = devices() else { return };
    peers::what_belongs_to_another_device_is_refused_with_both_names(&devices);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn threads_use_all_devices_at_once() {
    let Some(devices) = devices() else { return };
    peers::threads_use_all_devices_at_once(&devices);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_host_waits_for_events() {
    let Some(devices) = devices() else { return };
    peers::the_host_waits_for_events(&devices);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_image_that_two_devices_open_is_decoded_once() {
    let devices = offload_rt::cuda::devices().expect("an NVIDIA GPU, or the stand-in");
    let [first, second, ..] = devices.as_slice() else { return };
    let image =
        NewImage { kernels: vec![saxpy_record()], ..NewImage::new("m", "nvptx:sm_50".parse().unwrap()) };
    let registry = Registry::from_pack(TestPack::new("p").image(image, KERNELS.as_bytes()).bytes());
    let select = |device: &Device| registry.request("m").select(device).unwrap();
    let of_first = select(first).entry().load().unwrap();
    let of_second = select(second).entry().load().unwrap();
    assert_eq!(of_first.bytes().as_ptr(), of_second.bytes().as_ptr());
    for (device, image) in [(first, &of_first), (second, &of_second)] {
        saxpy(&device.open(image).unwrap(), 5, 1000);
    }
}
