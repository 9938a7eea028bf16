//! Properties of OpenCL devices and of their kernels, compared with what `clinfo` and `/proc` tell, and launch sizes.

use std::collections::HashMap;
use std::process::Command;

use offload_rt::opencl::Compiler;
use offload_rt::{Arg, Device, NdRange};

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
        for number in [properties.memory, properties.free_memory, properties.caches.global, properties.local_memory] {
            assert_ne!(number, Some(0), "{device}");
        }
        assert!(properties.clock_khz != Some(0) && !properties.sub_group_sizes.contains(&0), "{device}");
        if let Some(address) = properties.pci {
            assert!(Device::all().find(address).is_some(), "{device}");
        }
    }
}

/// Names and values of the device, as `clinfo --raw` prints them.
fn clinfo(name: &str) -> Option<HashMap<String, String>> {
    let output = Command::new("clinfo").args(["--raw"]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut devices: HashMap<String, HashMap<String, String>> = HashMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(place), Some(key)) = (words.next(), words.next()) else { continue };
        let value = words.collect::<Vec<_>>().join(" ");
        devices.entry(place.to_string()).or_default().insert(key.to_string(), value);
    }
    devices.into_values().find(|values| values.get("CL_DEVICE_NAME").is_some_and(|own| own.trim() == name))
}

#[test]
fn the_numbers_are_those_of_clinfo() {
    let _alone = alone();
    for (device, _) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let Some(values) = clinfo(device.name()) else { continue };
        let number = |key: &str| values.get(key).and_then(|text| text.parse::<u64>().ok());
        let properties = device.properties().unwrap();
        assert_eq!(properties.memory, number("CL_DEVICE_GLOBAL_MEM_SIZE"), "{device}");
        assert_eq!(properties.compute_units.map(u64::from), number("CL_DEVICE_MAX_COMPUTE_UNITS"), "{device}");
        assert_eq!(properties.local_memory, number("CL_DEVICE_LOCAL_MEM_SIZE"), "{device}");
        let clock = number("CL_DEVICE_MAX_CLOCK_FREQUENCY").filter(|mhz| *mhz > 0).map(|mhz| mhz * 1000);
        assert_eq!(properties.clock_khz.map(u64::from), clock, "{device}");
        assert_eq!(properties.driver_version.as_ref(), values.get("CL_DRIVER_VERSION"), "{device}");
        if let Some(uuid) = values.get("CL_DEVICE_UUID_KHR") {
            let told = properties.uuid.unwrap().to_string().replace('-', "");
            assert_eq!(told, uuid.replace('-', ""), "{device}");
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
