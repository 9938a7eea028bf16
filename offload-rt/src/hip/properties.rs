//! The properties of a HIP device, and what other drivers tell of it too.

use super::api::{DeviceId, HipResult};
use super::limits::limits;
use super::runtime::{HIP, HipRuntime};
use crate::description::HipVersion;
use crate::identity::{DeviceIdentity, DeviceUuid, PciAddress};
use crate::properties::{CacheSizes, DeviceProperties};

/// The start of ROCm's text for a device without a UUID (<https://github.com/ROCm/ROCR-Runtime>, `GPU-XX`).
const NO_UUID: &[u8] = b"XX";

pub(super) fn properties(device: DeviceId) -> HipResult<DeviceProperties> {
    let reported = device.properties()?;
    let caches = CacheSizes { l2: positive(reported.l2_cache()).map(u64::from), ..CacheSizes::default() };
    Ok(DeviceProperties {
        memory: Some(reported.global_memory()).filter(|bytes| *bytes > 0),
        // Older runtimes of ROCm 6 leave it 0 for every device.
        is_memory_unified: (reported.integrated() != 0).then_some(true),
        takes_memory_advice: device.has_managed_memory(),
        compute_units: positive(reported.compute_units()),
        clock_khz: positive(reported.clock_khz()),
        max_work_group: positive(reported.max_threads()).map(u64::from),
        caches,
        driver_version: runtime_version(),
        ..limits(&reported).properties()
    })
}

pub(super) fn identity(device: DeviceId) -> DeviceIdentity {
    let unknown = DeviceIdentity::unknown(HIP);
    let Ok(reported) = device.properties() else { return unknown };
    // The text has the function too, which partitions of a GPU differ in.
    let address = device.pci_address().ok().and_then(|address| address.parse().ok());
    let uuid = reported.uuid();
    DeviceIdentity {
        pci: address.or_else(|| in_structure(reported.pci())),
        uuid: DeviceUuid::from_driver(uuid).filter(|_| !uuid.starts_with(NO_UUID)),
        ..unknown
    }
}

/// The address of domain, bus and device, unless all are 0: there is no GPU at the root of PCI.
fn in_structure(numbers: [u32; 3]) -> Option<PciAddress> {
    let [domain, bus, device] = numbers;
    let bus = u8::try_from(bus).ok()?;
    let device = u8::try_from(device).ok()?;
    (numbers != [0; 3]).then_some(PciAddress { domain, bus, device, function: 0 })
}

fn positive(value: u32) -> Option<u32> {
    (value > 0).then_some(value)
}

fn runtime_version() -> Option<String> {
    let version = HipRuntime::open().ok()?.version()?;
    Some(HipVersion::from_number(version).to_string())
}
