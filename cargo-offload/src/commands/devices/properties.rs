//! The properties of a device: a line for people, and an object of JSON.

use offload_rt::{Device, DeviceProperties};
use serde::Serialize;

use crate::print::text::{counted, escaped, human_size};

/// What the driver does not tell is `null`.
#[derive(Debug, Default, Serialize)]
pub(super) struct PropertiesObject {
    memory: Option<u64>,
    free_memory: Option<u64>,
    unified_memory: Option<bool>,
    memory_advice: Option<bool>,
    compute_units: Option<u32>,
    clock_khz: Option<u32>,
    sub_group_sizes: Vec<u32>,
    max_work_group: Option<u64>,
    max_work_items: Option<[u64; 3]>,
    max_groups: Option<[u64; 3]>,
    local_memory: Option<u64>,
    local_memory_opt_in: Option<u64>,
    l1_data_cache: Option<u64>,
    l2_cache: Option<u64>,
    l3_cache: Option<u64>,
    global_cache: Option<u64>,
    pci: Option<String>,
    uuid: Option<String>,
    driver_version: Option<String>,
}

impl PropertiesObject {
    /// A driver that does not answer is one that tells nothing.
    pub(super) fn new(device: &Device) -> PropertiesObject {
        let properties: DeviceProperties = device.properties().unwrap_or_default();
        PropertiesObject {
            memory: properties.memory,
            free_memory: properties.free_memory,
            unified_memory: properties.is_memory_unified,
            memory_advice: properties.takes_memory_advice,
            compute_units: properties.compute_units,
            clock_khz: properties.clock_khz,
            sub_group_sizes: properties.sub_group_sizes,
            max_work_group: properties.max_work_group,
            max_work_items: properties.max_work_items,
            max_groups: properties.max_groups,
            local_memory: properties.local_memory,
            local_memory_opt_in: properties.local_memory_opt_in,
            l1_data_cache: properties.caches.l1_data,
            l2_cache: properties.caches.l2,
            l3_cache: properties.caches.l3,
            global_cache: properties.caches.global,
            pci: properties.pci.map(|address| address.to_string()),
            uuid: properties.uuid.map(|uuid| uuid.to_string()),
            driver_version: properties.driver_version,
        }
    }

    /// As `132 compute units, 141.0 GiB of memory (140.4 GiB free), PCI 0000:3b:00.0, driver 12.8`.
    pub(super) fn line(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(units) = self.compute_units {
            parts.push(counted(units.into(), "compute unit"));
        }
        if let Some(memory) = self.memory {
            let free = self.free_memory.map(|free| format!(" ({} free)", human_size(free)));
            parts.push(format!("{} of memory{}", human_size(memory), free.unwrap_or_default()));
        }
        if let Some(pci) = &self.pci {
            parts.push(format!("PCI {pci}"));
        }
        if let Some(version) = &self.driver_version {
            parts.push(format!("driver {}", escaped(version)));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
