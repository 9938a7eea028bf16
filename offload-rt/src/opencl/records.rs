//! Memory of this process that kernels from OpenCL C write to when an assertion fails.
//!
//! OpenCL C has no way to hand a kernel memory that is no argument, except for variables, which few drivers have. A device
//! that is this CPU takes an address as a number. It is part of the source that the driver compiles and keeps in a cache, so
//! the memory is at the same place in every process where that place is free. It is never released: a kernel without
//! a wait may still write.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use offload_format::Hash128;
use opencl_sys::{
    CL_DEVICE_SVM_ATOMICS, CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_FINE_GRAIN_BUFFER, CL_DEVICE_TYPE,
    CL_DEVICE_TYPE_CPU,
};

use super::answers::long;
use super::api::DeviceId;

/// Of one record (`offload_failures.h` of offload-build).
pub(super) const WORDS: usize = 256;
/// A bit of `USED` for each.
const RECORDS: usize = 64;
/// Far from where systems and sanitizers put anything; anywhere where addresses are short.
#[cfg(unix)]
const PLACE: usize = 0x2f0f_0000_0000_u64 as usize;

static USED: AtomicU64 = AtomicU64::new(0);

/// A reserved record.
#[derive(Debug)]
pub(super) struct Record {
    words: &'static [AtomicU32],
    bit: u64,
}

impl Record {
    /// A record for the image with this hash; the same one as long as it is free.
    pub(super) fn new(hash: Hash128) -> Option<Record> {
        let memory = memory()?;
        let first = u32::from(hash.0.first().copied().unwrap_or_default());
        (0..RECORDS as u32).find_map(|step| {
            let index = first.wrapping_add(step) % RECORDS as u32;
            let bit = 1u64 << index;
            let words = memory.chunks(WORDS).nth(index as usize)?;
            (USED.fetch_or(bit, Ordering::AcqRel) & bit == 0).then_some(Record { words, bit })
        })
    }

    pub(super) fn address(&self) -> usize {
        self.words.as_ptr().addr()
    }

    pub(super) fn word(&self, index: usize) -> u32 {
        self.words.get(index).map_or(0, |word| word.load(Ordering::Acquire))
    }

    pub(super) fn set(&self, index: usize, value: u32) {
        self.words.get(index).into_iter().for_each(|word| word.store(value, Ordering::Release));
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        USED.fetch_and(!self.bit, Ordering::AcqRel);
    }
}

/// Whether kernels of the device write to memory of this process by its address.
pub(super) fn shares_memory(id: DeviceId) -> bool {
    let needed = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
    long(id, CL_DEVICE_TYPE).is_some_and(|kind| kind & CL_DEVICE_TYPE_CPU != 0)
        && long(id, CL_DEVICE_SVM_CAPABILITIES).is_some_and(|has| has & needed == needed)
}

fn memory() -> Option<&'static [AtomicU32]> {
    static MEMORY: OnceLock<Option<&'static [AtomicU32]>> = OnceLock::new();
    *MEMORY.get_or_init(mapped)
}

#[cfg(unix)]
fn mapped() -> Option<&'static [AtomicU32]> {
    let count = RECORDS * WORDS;
    let place = std::ptr::without_provenance_mut(PLACE);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new memory of this size; where something is at the place the system chooses another one.
    let memory = unsafe { libc::mmap(place, count * size_of::<AtomicU32>(), protection, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the memory is zeros, aligned to a page, is never unmapped, and all access is atomic.
    Some(unsafe { std::slice::from_raw_parts(memory.cast::<AtomicU32>().cast_const(), count) })
}

#[cfg(not(unix))]
fn mapped() -> Option<&'static [AtomicU32]> {
    use std::alloc::{Layout, alloc_zeroed};

    let count = RECORDS * WORDS;
    // A record of its own has lines of the cache of its own.
    let layout = Layout::array::<AtomicU32>(count).ok()?.align_to(64).ok()?;
    // SAFETY: the size is not 0.
    let memory = std::ptr::NonNull::new(unsafe { alloc_zeroed(layout) })?;
    // SAFETY: the memory is zeros, is never freed, and all access is atomic.
    Some(unsafe { std::slice::from_raw_parts(memory.as_ptr().cast::<AtomicU32>(), count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_somebodys_alone_and_come_back_empty() {
        let hash = Hash128([9; 16]);
        let first = Record::new(hash).unwrap();
        let second = Record::new(hash).unwrap();
        assert_ne!(first.address(), second.address());
        assert_eq!(first.address() % 64, 0);
        let address = first.address();
        first.set(3, 7);
        assert_eq!((first.word(3), second.word(3)), (7, 0));
        drop(first);
        let again = Record::new(hash).unwrap();
        assert_eq!((again.address(), again.word(3)), (address, 0));
    }
}
