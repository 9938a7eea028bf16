//! Properties of devices and kernels, and launch sizes, on the stand-in; what holds for every device also on a GPU.

use offload_rt::{Arg, Device, NdRange, PciAddress};

use super::{gpu, launch, open, opened, saxpy_record};

const KERNELS: &str = include_str!("../../cuda/kernels.ptx");

/// A kernel whose pack says that its source requires blocks of `size`.
fn required(device: &Device, size: [u32; 3]) -> offload_rt::Kernel {
    let mut record = saxpy_record();
    record.required_work_group = Some(size);
    open(device, KERNELS, vec![record]).unwrap().kernel("saxpy").unwrap()
}

fn is_stand_in(device: &Device) -> bool {
    device.name() == "stand-in"
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_device_tells_its_memory_limits_and_place() {
    let device = gpu();
    let properties = device.properties().unwrap();
    println!("{properties:#?}");
    let memory = properties.memory.unwrap();
    assert!(properties.free_memory.is_some_and(|free| free > 0 && free <= memory));
    assert_eq!(properties.sub_group_sizes, [32]);
    assert!(properties.compute_units.is_some_and(|units| units > 0));
    assert!(properties.max_work_group >= Some(512) && properties.max_groups.is_some());
    assert!(properties.local_memory_opt_in >= properties.local_memory);
    assert_eq!(properties.aspects, device.description().aspects());
    assert!(properties.driver_version.is_some_and(|version| device.to_string().contains(&version)));
    let address = properties.pci.unwrap();
    let same = Device::from_pci_address(address).unwrap();
    assert_eq!((same.to_string(), same.properties().unwrap().uuid), (device.to_string(), properties.uuid));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_stand_in_s_numbers_are_each_in_their_place() {
    let device = gpu();
    if !is_stand_in(&device) {
        return;
    }
    let properties = device.properties().unwrap();
    assert_eq!((properties.memory, properties.free_memory), (Some(1 << 30), Some(1 << 29)));
    assert_eq!((properties.compute_units, properties.clock_khz), (Some(132), Some(1_980_000)));
    assert_eq!(properties.is_memory_unified, Some(false));
    // The driver of CUDA 11.4 has no such attribute here.
    assert!([Some(true), None].contains(&properties.takes_memory_advice));
    assert_eq!((properties.max_work_group, properties.max_work_items), (Some(1024), Some([1024, 1024, 64])));
    assert_eq!(properties.max_groups, Some([0x7fff_ffff, 65535, 65535]));
    assert_eq!((properties.local_memory, properties.local_memory_opt_in), (Some(48 << 10), Some(227 << 10)));
    assert_eq!((properties.caches.l2, properties.caches.l1_data), (Some(60 << 20), None));
    assert!(["12.8", "11.4"].contains(&properties.driver_version.unwrap().as_str()));
}

/// Run by another test with `CUDA_VISIBLE_DEVICES`.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn visible_devices_have_their_addresses() {
    let devices = offload_rt::cuda::devices().unwrap();
    if !is_stand_in(&devices[0]) {
        return;
    }
    for device in &devices {
        let properties = device.properties().unwrap();
        println!("visible: {} {}", properties.pci.unwrap(), properties.uuid.unwrap());
    }
    let all = Device::all();
    for number in 0..3u8 {
        let address = PciAddress { domain: 1, bus: 0x3b + number, device: 0, function: 0 };
        let found = all.find(address);
        let by_lookup = Device::from_pci_address(address);
        assert_eq!(found.map(ToString::to_string), by_lookup.as_ref().ok().map(ToString::to_string));
        match by_lookup {
            Ok(_) => println!("found: {address}"),
            Err(error) => assert_eq!(error.kind(), offload_rt::ErrorKind::NoDevice),
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_kernel_tells_what_it_needs() {
    let device = gpu();
    let program = opened(&device);
    let count = program.kernel("count").unwrap().properties();
    assert!(count.local_memory.is_some_and(|bytes| bytes >= 64), "{count:?}");
    assert_eq!((count.preferred_multiple, count.required_work_group), (Some(32), None));
    assert!(count.max_work_group.is_some_and(|size| size >= 8) && count.registers > Some(0), "{count:?}");
    assert_eq!(required(&device, [256, 1, 1]).properties().required_work_group, Some([256, 1, 1]));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn suggested_ranges_cover_their_items_and_run() {
    let device = gpu();
    let program = opened(&device);
    let saxpy = program.kernel("saxpy").unwrap();
    let most = saxpy.properties().max_work_group.unwrap() as usize;
    for items in [0, 1, 33, 1000, 100_003] {
        let range = saxpy.suggest_at_least(items).unwrap();
        let group = range.local()[0];
        assert!(range.global()[0] >= items && group <= most && group.is_multiple_of(32), "{range:?}");
        assert!(range.global()[0] - items < group || items == 0, "{range:?}");
        let x = vec![1.0f32; items];
        let mut y = vec![2.0f32; items];
        let count = items as u32;
        let mut args = [Arg::value(&3.0f32), Arg::input(&x), Arg::in_out(&mut y), Arg::value(&count)];
        launch(&program, "saxpy", range, &mut args).unwrap();
        assert!(y.iter().all(|value| *value == 5.0));
    }
    if is_stand_in(&device) {
        assert_eq!(saxpy.suggest_at_least(1 << 20).unwrap(), NdRange::linear_at_least(1 << 20, 768));
        // The kernel allows 8.
        let count = program.kernel("count").unwrap();
        assert_eq!(count.suggest_at_least(100).unwrap(), NdRange::linear_at_least(100, 8));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn suggested_ranges_keep_required_sizes_and_shared_memory() {
    let device = gpu();
    let fixed = required(&device, [128, 1, 1]);
    assert_eq!(fixed.suggest_at_least(1000).unwrap(), NdRange::linear_at_least(1000, 128));
    let plane = required(&device, [16, 8, 1]);
    assert_eq!(plane.suggest_at_least(1000).unwrap(), NdRange::new([128, 8], [16, 8]));
    let program = opened(&device);
    let last_word = program.kernel("last_word").unwrap();
    let limit = device.properties().unwrap().local_memory_opt_in.unwrap() as u32;
    let range = last_word.suggest_at_least_with(1000, limit).unwrap();
    assert_eq!(range.shared_memory(), limit);
    let error = last_word.suggest_at_least_with(1000, limit + 4).unwrap_err();
    assert_eq!(error.kind(), offload_rt::ErrorKind::Launch);
}

/// Names of devices in one line.
#[cfg(feature = "opencl")]
fn names(devices: &[Device]) -> String {
    devices.iter().map(Device::name).collect::<Vec<_>>().join(", ")
}

/// Another test runs it with a stand-in for OpenCL too, and looks at what it prints.
#[test]
#[ignore = "needs an NVIDIA GPU"]
#[cfg(feature = "opencl")]
fn a_gpu_that_opencl_shows_too_is_its_alternate() {
    let all = Device::all();
    println!("devices: {}\nalternates: {}", names(&all.devices), names(&all.alternates));
    for alternate in &all.alternates {
        let own = alternate.properties().unwrap();
        let same = |device: &&Device| {
            let other = device.properties().unwrap();
            (own.uuid.is_some() && other.uuid == own.uuid) || (own.pci.is_some() && other.pci == own.pci)
        };
        assert!(all.devices.iter().find(same).is_some_and(|device| device.description().opencl().is_none()));
    }
    let Some(intel) = all.devices.iter().find(|device| device.name() == "stand-in GPU") else { return };
    let properties = intel.properties().unwrap();
    assert_eq!((properties.memory, properties.free_memory), (Some(64 << 30), None));
    assert_eq!((properties.compute_units, properties.clock_khz), (Some(512), Some(1_600_000)));
    assert_eq!((properties.max_work_group, properties.max_work_items), (Some(1024), Some([1024, 1024, 512])));
    assert_eq!((properties.max_groups, properties.is_memory_unified), (None, Some(false)));
    assert_eq!((properties.local_memory, properties.caches.global), (Some(128 << 10), Some(208 << 20)));
    assert_eq!(properties.driver_version.as_deref(), Some("24.35.30872"));
    assert_eq!((properties.pci.unwrap().to_string(), properties.uuid), ("0000:9a:00.0".to_string(), None));
    assert_eq!(Device::from_pci_address(properties.pci.unwrap()).unwrap().name(), "stand-in GPU");
    let nvidia = all.alternates[0].properties().unwrap();
    assert_eq!((nvidia.sub_group_sizes, nvidia.pci, nvidia.compute_units), (vec![32], None, Some(132)));
}
