//! CPU properties on Windows: memory, data caches, and the processors of the affinity mask.

use std::ffi::c_void;

use crate::properties::{CacheSizes, DeviceProperties};

/// `MEMORYSTATUSEX` (<https://learn.microsoft.com/en-us/windows/win32/api/sysinfoapi/ns-sysinfoapi-memorystatusex>).
#[repr(C)]
#[derive(Default)]
struct MemoryStatus {
    size: u32,
    load: u32,
    physical: u64,
    available: u64,
    others: [u64; 5],
}

/// `SYSTEM_LOGICAL_PROCESSOR_INFORMATION`
/// (<https://learn.microsoft.com/en-us/windows/win32/api/winnt/ns-winnt-system_logical_processor_information>), whose
/// union is that of a cache.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessorInformation {
    processors: usize,
    relationship: u32,
    cache: Cache,
}

/// `CACHE_DESCRIPTOR` in a union with two numbers of 64 bits.
#[repr(C, align(8))]
#[derive(Clone, Copy, Default)]
struct Cache {
    level: u8,
    associativity: u8,
    line_size: u16,
    size: u32,
    kind: u32,
    padding: u32,
}

const RELATION_CACHE: u32 = 2;
const INSTRUCTION_CACHE: u32 = 1;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GlobalMemoryStatusEx(status: *mut MemoryStatus) -> i32;
    fn GetCurrentProcess() -> *mut c_void;
    fn GetProcessAffinityMask(process: *mut c_void, own: *mut usize, all: *mut usize) -> i32;
    fn GetLogicalProcessorInformation(buffer: *mut ProcessorInformation, size: *mut u32) -> i32;
}

pub(super) fn properties() -> DeviceProperties {
    let memory = memory();
    DeviceProperties {
        memory: memory.as_ref().map(|memory| memory.physical),
        free_memory: memory.as_ref().map(|memory| memory.available),
        caches: caches(),
        ..DeviceProperties::default()
    }
}

/// The number of processors that the process may run on; nothing if it runs in several groups of processors.
pub(super) fn affinity() -> Option<usize> {
    let mut own = 0;
    let mut all = 0;
    // SAFETY: both are written, and the handle stands for this process.
    let answered = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &raw mut own, &raw mut all) } != 0;
    (answered && own != 0).then(|| own.count_ones() as usize)
}

fn memory() -> Option<MemoryStatus> {
    let mut status = MemoryStatus { size: size_of::<MemoryStatus>() as u32, ..MemoryStatus::default() };
    // SAFETY: the structure has its size.
    let answered = unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0;
    answered.then_some(status)
}

/// Of the first processor.
fn caches() -> CacheSizes {
    const EACH: usize = size_of::<ProcessorInformation>();
    let mut size = 0;
    // SAFETY: without a buffer the call writes the required size alone.
    unsafe { GetLogicalProcessorInformation(std::ptr::null_mut(), &raw mut size) };
    let mut entries = vec![ProcessorInformation::default(); (size as usize).div_ceil(EACH)];
    // SAFETY: the buffer has this size or more.
    let answered = unsafe { GetLogicalProcessorInformation(entries.as_mut_ptr(), &raw mut size) } != 0;
    entries.truncate(if answered { size as usize / EACH } else { 0 });
    let mut caches = CacheSizes::default();
    for ProcessorInformation { processors, relationship, cache } in entries {
        let is_of_first = relationship == RELATION_CACHE && processors & 1 == 1;
        if !is_of_first || cache.kind == INSTRUCTION_CACHE || cache.size == 0 {
            continue;
        }
        let size = Some(u64::from(cache.size));
        match cache.level {
            1 => caches.l1_data = size,
            2 => caches.l2 = size,
            3 => caches.l3 = size,
            _ => {}
        }
    }
    caches
}
