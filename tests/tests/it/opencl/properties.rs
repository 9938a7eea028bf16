//! Properties of OpenCL devices and of their kernels, and launch sizes.

use offload_rt::opencl::{Compiler, raw};
use offload_rt::{Arg, Device, DeviceUuid, NdRange};

use super::{SOURCE, alone, for_each_device, registry};

const REQUIRED: &str = "
kernel void saxpy(float a, global const float *x, global float *y) { }
kernel __attribute__((reqd_work_group_size(8, 4, 1))) void reverse(global int *x, local int *tile) {
    __local int own[64];
    own[get_local_id(0)] = x[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = own[63 - get_local_id(0)];
}
kernel void add_all(global const float *x, uint n, global float *y) { }
";

#[test]
fn a_device_tells_its_memory_units_and_limits() {
    let _alone = alone();
    for (device, _) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let properties = device.properties().unwrap();
        let own = Compiler::new(&device).unwrap();
        let own = own.properties();
        println!("{device}: {properties:#?}");
        assert!(properties.memory.is_some_and(|bytes| bytes > 1 << 28), "{device}");
        assert!(properties.compute_units.is_some_and(|units| units > 0), "{device}");
        assert_eq!(properties.max_work_group, Some(own.max_work_group), "{device}");
        assert_eq!(properties.max_work_items, Some(own.max_work_items), "{device}");
        assert!(properties.local_memory.is_some_and(|bytes| bytes >= 16 << 10), "{device}");
        assert_eq!(properties.aspects, device.description().aspects(), "{device}");
        assert!(properties.driver_version.is_some_and(|version| !version.is_empty()), "{device}");
        // Zeros are no answers.
        for number in
            [properties.memory, properties.free_memory, properties.caches.global, properties.local_memory]
        {
            assert_ne!(number, Some(0), "{device}");
        }
        assert!(properties.clock_khz != Some(0) && !properties.sub_group_sizes.contains(&0), "{device}");
        if let Some(address) = properties.pci {
            assert!(Device::all().find(address).is_some(), "{device}");
        }
    }
}

/// As the crate `opencl3` reads them.
#[test]
fn the_numbers_are_those_that_others_read() {
    let _alone = alone();
    for (device, _) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let other = opencl3::device::Device::new(raw::as_raw_device(&device).unwrap());
        let properties = device.properties().unwrap();
        assert_eq!(properties.memory, other.global_mem_size().ok(), "{device}");
        assert_eq!(properties.compute_units, other.max_compute_units().ok(), "{device}");
        assert_eq!(properties.local_memory, other.local_mem_size().ok(), "{device}");
        let cache = other.global_mem_cache_size().ok().filter(|bytes| *bytes > 0);
        assert_eq!(properties.caches.global, cache, "{device}");
        let clock = other.max_clock_frequency().ok().filter(|mhz| *mhz > 0).map(|mhz| mhz * 1000);
        assert_eq!(properties.clock_khz, clock, "{device}");
        assert_eq!(properties.driver_version, other.driver_version().ok(), "{device}");
        let unified = other.host_unified_memory().ok();
        assert_eq!(properties.is_memory_unified, unified, "{device}");
        if other.extensions().unwrap().split(' ').any(|name| name == "cl_khr_device_uuid") {
            let uuid = other.uuid_khr().ok().filter(|uuid| *uuid != [0; 16]);
            assert_eq!(properties.uuid.map(DeviceUuid::bytes), uuid, "{device}");
        }
    }
}

#[test]
fn suggested_ranges_cover_their_items_and_run() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let program = device.open(&image).unwrap();
        let saxpy = program.kernel("saxpy").unwrap();
        let properties = saxpy.properties();
        let most = usize::try_from(properties.max_work_group.unwrap()).unwrap();
        for items in [0, 1, 33, 1000, 100_003] {
            let range = saxpy.suggest_at_least(items).unwrap();
            assert!(range.global()[0] >= items && range.local()[0] <= most, "{device}: {range:?}");
            let padded = range.global()[0];
            let x = vec![1.0f32; padded];
            let mut y = vec![2.0f32; padded];
            let mut args = [Arg::value(&3.0f32), Arg::input(&x), Arg::in_out(&mut y)];
            // SAFETY: the buffers have an element for each work-item.
            unsafe { program.launch("saxpy", range, &mut args) }.unwrap();
            assert!(y.iter().all(|value| *value == 5.0), "{device}");
        }
        assert!(saxpy.suggest_at_least_with(1000, 64).is_err(), "{device}");
    }
}

#[test]
fn a_required_work_group_is_told_and_kept() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", REQUIRED.as_bytes())) {
        // The pack's records have no required size: the driver tells it.
        let reverse = device.open(&image).unwrap().kernel("reverse").unwrap();
        let properties = reverse.properties();
        assert_eq!(properties.required_work_group, Some([8, 4, 1]), "{device}");
        assert!(properties.local_memory.is_some_and(|bytes| bytes >= 256), "{device}: {properties:?}");
        assert_eq!(reverse.suggest_at_least(100).unwrap(), NdRange::new([32, 4], [8, 4]), "{device}");
    }
}
