//! Several CUDA devices.

use std::collections::BTreeMap;

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

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn data_goes_around_all_devices_without_peer_access() {
    if devices().is_none() {
        return;
    }
    // The process of the child uses no other peers before.
    run_again("cuda::peers::data_goes_around_all_devices", &[("OFFLOAD_PEER_ACCESS", "0")]);
}

/// Prints the devices for [`devices_are_those_that_the_driver_shows`].
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn devices_are_listed() {
    for (number, device) in offload_rt::cuda::devices().unwrap().iter().enumerate() {
        let properties = device.properties().unwrap();
        println!("device: {number} {} {}", properties.pci.unwrap(), properties.uuid.unwrap());
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn devices_are_those_that_the_driver_shows() {
    let list = |visible: &str| {
        listed(&run_again("cuda::peers::devices_are_listed", &[("CUDA_VISIBLE_DEVICES", visible)]))
    };
    let both = list("0,1");
    if both.len() < 2 {
        return;
    }
    let [first, second] = [both[&0].clone(), both[&1].clone()];
    assert_ne!(first, second);
    assert_eq!(list("1,0"), BTreeMap::from([(0, second.clone()), (1, first)]));
    assert_eq!(list("1"), BTreeMap::from([(0, second)]));
}

/// Addresses on PCI and UUIDs by number.
fn listed(text: &str) -> BTreeMap<usize, String> {
    let mut devices = BTreeMap::new();
    for line in text.lines() {
        let Some(device) = line.strip_prefix("device: ") else { continue };
        let (number, names) = device.split_once(' ').unwrap();
        devices.insert(number.parse().unwrap(), names.to_string());
    }
    devices
}

/// What one of these tests prints in a process of its own.
fn run_again(test: &str, variables: &[(&str, &str)]) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--include-ignored", "--nocapture"]).envs(variables.iter().copied());
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}
