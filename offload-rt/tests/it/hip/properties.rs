//! Properties of devices and kernels, and launch sizes, on the stand-in.

use offload_rt::{Device, ErrorKind, NdRange};

use super::{GFX1100, code_object, found, gpu, open, opened, saxpy_record};

/// The stand-in of old runtimes has no function for addresses of PCI and for launch sizes.
fn is_old(device: &Device) -> bool {
    !device.to_string().contains("HIP 6.3")
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn devices_tell_their_memory_limits_and_place() {
    let devices = found().unwrap();
    let [rdna, cdna] = devices.as_slice() else { panic!("two devices") };
    let first = rdna.properties().unwrap();
    let second = cdna.properties().unwrap();
    assert_eq!((first.memory, first.free_memory), (Some(16 << 30), Some(12 << 30)));
    assert_eq!((second.memory, second.free_memory), (Some(16 << 30), Some(13 << 30)));
    assert_eq!((first.compute_units, second.compute_units), (Some(48), Some(104)));
    assert_eq!((first.sub_group_sizes, second.sub_group_sizes), (vec![32], vec![64]));
    assert_eq!((first.clock_khz, first.caches.l2), (Some(2_500_000), Some(6 << 20)));
    // What runtimes do not set is not known.
    assert_eq!((first.is_memory_unified, second.is_memory_unified), (Some(true), None));
    assert_eq!((first.max_work_group, first.max_work_items), (Some(1024), Some([1024; 3])));
    assert_eq!(first.max_groups, Some([0x7fff_ffff, 65535, 65535]));
    assert_eq!((first.local_memory, first.local_memory_opt_in), (Some(64 << 10), Some(64 << 10)));
    assert_eq!(first.aspects, rdna.description().aspects());
    assert_eq!((first.uuid, second.uuid.unwrap().to_string()), (None, "18bd6f1a2c3d4e5f".to_string()));
    let version = if is_old(rdna) { None } else { Some("6.3".to_string()) };
    assert_eq!(first.driver_version, version);
    let function = if is_old(rdna) { "0" } else { "1" };
    assert_eq!(first.pci.unwrap().to_string(), "0002:c1:00.0");
    assert_eq!(second.pci.unwrap().to_string(), format!("0002:c2:00.{function}"));
    let same = Device::from_pci_address(second.pci.unwrap()).unwrap();
    assert_eq!(same.to_string(), cdna.to_string());
    let error = Device::from_pci_address("0000:00:1f.7".parse().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoDevice);
    assert!(error.hint().unwrap().contains("0002:c1:00.0"), "{error}");
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn kernels_tell_what_they_need_and_how_they_are_best_launched() {
    let device = gpu();
    let program = opened(&device);
    let count = program.kernel("count").unwrap();
    let properties = count.properties();
    assert_eq!((properties.registers, properties.local_memory), (Some(10), Some(64)));
    assert_eq!((properties.max_work_group, properties.preferred_multiple), (Some(8), Some(32)));
    // Without the runtime's function: a usual size.
    let best = if is_old(&device) { 256 } else { 768 };
    let saxpy = program.kernel("saxpy").unwrap();
    assert_eq!(saxpy.suggest_at_least(1 << 20).unwrap(), NdRange::linear_at_least(1 << 20, best));
    assert_eq!(saxpy.suggest_at_least(40).unwrap(), NdRange::linear_at_least(40, 64));
    assert_eq!(count.suggest_at_least(100).unwrap(), NdRange::linear_at_least(100, 8));
    let range = count.suggest_at_least_with(100, (64 << 10) - 64).unwrap();
    assert_eq!(range, NdRange::linear_at_least(100, 8).with_shared_memory((64 << 10) - 64));
    let error = count.suggest_at_least_with(100, 64 << 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Launch);
    let mut record = saxpy_record();
    record.required_work_group = Some([8, 4, 2]);
    let fixed = open(&device, "amdgcn:gfx1100", &code_object(3, GFX1100), vec![record]).unwrap();
    let range = fixed.kernel("saxpy").unwrap().suggest_at_least(1000).unwrap();
    assert_eq!(range, NdRange::new([128, 4, 2], [8, 4, 2]));
}
