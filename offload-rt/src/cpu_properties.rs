//! The properties of the program's own CPU.

#[cfg(not(windows))]
mod files;
#[cfg(windows)]
#[allow(unsafe_code, reason = "asks the system")]
mod windows;

#[cfg(not(windows))]
use self::files as system;
#[cfg(windows)]
use self::windows as system;
use crate::properties::DeviceProperties;
use offload_format::section::HOST_SUB_GROUP_SIZES;

pub(crate) fn query() -> DeviceProperties {
    DeviceProperties {
        compute_units: threads().and_then(|count| u32::try_from(count).ok()),
        sub_group_sizes: HOST_SUB_GROUP_SIZES.to_vec(),
        is_memory_unified: Some(true),
        takes_memory_advice: Some(false),
        ..system::properties()
    }
}

/// The number of hardware threads that the process may use at a time.
pub(crate) fn threads() -> Option<usize> {
    let threads = std::thread::available_parallelism().ok()?.get();
    // The standard library counts all that there are.
    #[cfg(windows)]
    let threads = windows::affinity().map_or(threads, |allowed| allowed.min(threads));
    Some(threads)
}
