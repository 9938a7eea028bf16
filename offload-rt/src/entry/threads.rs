//! The number of threads that decode an image.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use offload_format::codec::Threads;

use crate::variable::DECODE_THREADS;

/// The size from which an image is worth the start of threads, in bytes.
const MIN_SHARED: u64 = 4 << 20;

/// The threads for an image of `size` bytes: as many as the environment says, or as there are processors.
pub(super) fn for_image(size: u64) -> Threads {
    if size < MIN_SHARED {
        return Threads::ONE;
    }
    let wanted = std::env::var(DECODE_THREADS).ok();
    let wanted = wanted.and_then(|text| text.trim().parse::<usize>().ok());
    wanted.map_or_else(Threads::available, Threads::new)
}
