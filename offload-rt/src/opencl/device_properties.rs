//! The properties of an OpenCL device for every driver, and what other drivers tell of it too.

use std::fs;
use std::path::Path;

use opencl_sys::{
    CL_DEVICE_EXTENSIONS, CL_DEVICE_GLOBAL_FREE_MEMORY_AMD, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE,
    CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_INTEGRATED_MEMORY_NV,
    CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_CLOCK_FREQUENCY, CL_DEVICE_MAX_COMPUTE_UNITS,
    CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_PCI_BUS_ID_NV, CL_DEVICE_PCI_BUS_INFO_KHR,
    CL_DEVICE_PCI_SLOT_ID_NV, CL_DEVICE_PLATFORM, CL_DEVICE_TOPOLOGY_AMD, CL_DEVICE_UUID_KHR,
    CL_DEVICE_WARP_SIZE_NV, CL_DEVICE_WAVEFRONT_WIDTH_AMD, CL_DRIVER_VERSION,
};

use super::answers::{group_extents, has, long, sizes, text, word};
use super::api::DeviceId;
use super::device::LOADER;
use super::properties::Properties;
use crate::identity::{DeviceIdentity, DeviceUuid, DriverId, PciAddress};
use crate::properties::{CacheSizes, DeviceProperties};

/// Beside the numbers of `cl_nv_device_attribute_query` that are in the headers; old drivers do not answer
/// (<https://github.com/open-mpi/hwloc/blob/master/include/hwloc/opencl.h>).
const CL_DEVICE_PCI_DOMAIN_ID_NV: u32 = 0x400a;

/// `CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD`: the type of `cl_device_topology_amd` that has an address.
const PCIE: u32 = 1;

/// AMD's number among PCI's vendors, as Linux writes it.
const AMD: &str = "0x1002";

/// What extensions tell is asked only of drivers that have them: others may answer with something else.
const NVIDIA_QUERY: &str = "cl_nv_device_attribute_query";
const AMD_QUERY: &str = "cl_amd_device_attribute_query";

pub(super) fn query(id: DeviceId) -> DeviceProperties {
    let extensions = text(id, CL_DEVICE_EXTENSIONS);
    let caches = CacheSizes {
        global: long(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE).filter(is_some),
        ..CacheSizes::default()
    };
    let local_memory = long(id, CL_DEVICE_LOCAL_MEM_SIZE).filter(is_some);
    let clock_mhz = word(id, CL_DEVICE_MAX_CLOCK_FREQUENCY).filter(|mhz| *mhz > 0);
    let version = text(id, CL_DRIVER_VERSION);
    DeviceProperties {
        memory: long(id, CL_DEVICE_GLOBAL_MEM_SIZE).filter(is_some),
        free_memory: free_memory(id, &extensions),
        is_memory_unified: unified_memory(id, &extensions),
        takes_memory_advice: Some(false),
        compute_units: word(id, CL_DEVICE_MAX_COMPUTE_UNITS).filter(|units| *units > 0),
        clock_khz: clock_mhz.and_then(|mhz| mhz.checked_mul(1000)),
        sub_group_sizes: sub_groups(id, &extensions),
        max_work_group: sizes(id, CL_DEVICE_MAX_WORK_GROUP_SIZE).first().copied().filter(is_some),
        max_work_items: group_extents(id).filter(|extents| !extents.contains(&0)),
        local_memory,
        local_memory_opt_in: local_memory,
        caches,
        driver_version: Some(version).filter(|version| !version.is_empty()),
        ..DeviceProperties::default()
    }
}

fn is_some(value: &u64) -> bool {
    *value > 0
}

/// AMD's driver counts in KiB: all that is free, and the largest part of it.
fn free_memory(id: DeviceId, extensions: &str) -> Option<u64> {
    if !has(extensions, AMD_QUERY) {
        return None;
    }
    sizes(id, CL_DEVICE_GLOBAL_FREE_MEMORY_AMD).first()?.checked_mul(1 << 10)
}

fn unified_memory(id: DeviceId, extensions: &str) -> Option<bool> {
    let parameter = if has(extensions, NVIDIA_QUERY) {
        CL_DEVICE_INTEGRATED_MEMORY_NV
    } else {
        // Deprecated by OpenCL 2.0 without anything in its place; drivers answer.
        CL_DEVICE_HOST_UNIFIED_MEMORY
    };
    word(id, parameter).map(|value| value != 0)
}

fn sub_groups(id: DeviceId, extensions: &str) -> Vec<u32> {
    let known = Properties::query(id).sub_group_sizes;
    if !known.is_empty() {
        return known;
    }
    let width = if has(extensions, NVIDIA_QUERY) {
        word(id, CL_DEVICE_WARP_SIZE_NV)
    } else if has(extensions, AMD_QUERY) {
        word(id, CL_DEVICE_WAVEFRONT_WIDTH_AMD)
    } else {
        None
    };
    width.into_iter().filter(|width| *width > 0).collect()
}

pub(super) fn identity(id: DeviceId) -> DeviceIdentity {
    let extensions = text(id, CL_DEVICE_EXTENSIONS);
    let platform = sizes(id, CL_DEVICE_PLATFORM).first().copied().unwrap_or(0);
    let platform = usize::try_from(platform).unwrap_or(0);
    DeviceIdentity {
        driver: DriverId { interface: LOADER, platform },
        pci: pci_address(id, &extensions),
        uuid: uuid(id, &extensions),
    }
}

/// <https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Ext.html#cl_khr_device_uuid>.
fn uuid(id: DeviceId, extensions: &str) -> Option<DeviceUuid> {
    if !has(extensions, "cl_khr_device_uuid") {
        return None;
    }
    let bytes = id.info(CL_DEVICE_UUID_KHR).ok()?;
    DeviceUuid::from_driver(bytes.try_into().ok()?)
}

fn pci_address(id: DeviceId, extensions: &str) -> Option<PciAddress> {
    if has(extensions, "cl_khr_pci_bus_info") {
        return from_bus_info(&id.info(CL_DEVICE_PCI_BUS_INFO_KHR).ok()?);
    }
    if has(extensions, NVIDIA_QUERY) {
        let bus = word(id, CL_DEVICE_PCI_BUS_ID_NV)?;
        let slot = word(id, CL_DEVICE_PCI_SLOT_ID_NV)?;
        return from_slot(word(id, CL_DEVICE_PCI_DOMAIN_ID_NV)?, bus, slot);
    }
    if has(extensions, AMD_QUERY) {
        let place = from_topology(&id.info(CL_DEVICE_TOPOLOGY_AMD).ok()?)?;
        return in_only_domain(place, Path::new("/sys/bus/pci/devices"));
    }
    None
}

/// `cl_device_pci_bus_info_khr`: four numbers
/// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Ext.html#cl_khr_pci_bus_info>).
fn from_bus_info(answer: &[u8]) -> Option<PciAddress> {
    let (numbers, _) = answer.as_chunks::<4>();
    let [domain, bus, device, function] = numbers.first_chunk::<4>()?.map(u32::from_ne_bytes);
    address(domain, [bus, device, function])
}

/// The slot is the device and, in its three lowest bits, the function.
fn from_slot(domain: u32, bus: u32, slot: u32) -> Option<PciAddress> {
    address(domain, [bus, slot >> 3, slot & 7])
}

fn address(domain: u32, place: [u32; 3]) -> Option<PciAddress> {
    let [bus, device, function] = place;
    Some(PciAddress {
        domain,
        bus: u8::try_from(bus).ok()?,
        device: u8::try_from(device).ok()?,
        function: u8::try_from(function).ok()?,
    })
}

/// `cl_device_topology_amd`: 4 bytes of type, 17 unused, bus, device and function. It has no domain; that of the result is 0
/// (<https://registry.khronos.org/OpenCL/extensions/amd/cl_amd_device_topology.txt>).
fn from_topology(answer: &[u8]) -> Option<PciAddress> {
    let (kind, _) = answer.split_first_chunk::<4>()?;
    if u32::from_ne_bytes(*kind) != PCIE {
        return None;
    }
    let place = answer.get(21..24)?;
    let [bus, device, function]: [u8; 3] = place.try_into().ok()?;
    Some(PciAddress { domain: 0, bus, device, function })
}

/// `place` with the domain of AMD's only device there; `None` if the system has several such places, or does not tell.
fn in_only_domain(place: PciAddress, devices: &Path) -> Option<PciAddress> {
    let mut found = None;
    for entry in fs::read_dir(devices).ok()?.flatten() {
        let Some(address) = entry.file_name().to_str().and_then(|name| name.parse::<PciAddress>().ok())
        else {
            continue;
        };
        let vendor = fs::read_to_string(entry.path().join("vendor")).unwrap_or_default();
        if (PciAddress { domain: place.domain, ..address }) != place || vendor.trim() != AMD {
            continue;
        }
        if found.replace(address).is_some() {
            return None;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pci(text: &str) -> PciAddress {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_are_read_from_each_form_of_answer() {
        let numbers: Vec<u8> = [1u32, 0x3b, 2, 3].iter().flat_map(|number| number.to_ne_bytes()).collect();
        assert_eq!(from_bus_info(&numbers), Some(pci("0001:3b:02.3")));
        assert_eq!(from_bus_info(&numbers[..12]), None);
        let large: Vec<u8> = [1u32, 256, 2, 3].iter().flat_map(|number| number.to_ne_bytes()).collect();
        assert_eq!(from_bus_info(&large), None);
        assert_eq!(from_slot(2, 0x81, 0x0a), Some(pci("0002:81:01.2")));
        let mut topology = [0u8; 24];
        topology[..4].copy_from_slice(&PCIE.to_ne_bytes());
        topology[21..].copy_from_slice(&[0xc1, 1, 7]);
        assert_eq!(from_topology(&topology), Some(pci("0000:c1:01.7")));
        topology[0] = 2;
        assert_eq!((from_topology(&topology), from_topology(&[1, 0, 0, 0])), (None, None));
    }

    #[test]
    fn the_domain_of_a_place_is_that_of_amd_s_only_device_there() {
        let folder = tempfile::tempdir().unwrap();
        for (name, vendor) in [
            ("0001:c1:00.0", "0x1002\n"),
            ("0000:c1:00.0", "0x8086\n"),
            ("0002:c2:00.0", "0x1002\n"),
            ("0003:c2:00.0", "0x1002\n"),
            ("other", "0x1002\n"),
        ] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("vendor"), vendor).unwrap();
        }
        let found = |text: &str| in_only_domain(pci(text), folder.path());
        assert_eq!(found("c1:00.0"), Some(pci("0001:c1:00.0")));
        assert_eq!((found("c2:00.0"), found("c3:00.0")), (None, None));
        assert_eq!(in_only_domain(pci("c1:00.0"), Path::new("/nonexistent")), None);
    }
}
