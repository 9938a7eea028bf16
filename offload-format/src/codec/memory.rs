//! Buffers for whole images, returned to the system when they are freed.

use super::method::{MAX_IMAGE, ONE_TABLE_LEVEL};
use crate::{Error, ErrorKind};

/// The smallest allocation that glibc always maps by itself: its threshold grows with freed sizes up to this one
/// (`M_MMAP_THRESHOLD` in mallopt(3)). Smaller allocations may stay in the heap of a thread after they are freed.
const ALWAYS_MAPPED: usize = (32 << 20) + 1;
/// The smallest buffer worth a mapping of its own.
const LARGE: usize = 1 << 20;

/// An empty vector for `size` bytes of an image compressed at zstd's `level`. A large one has extra capacity, whose pages
/// are never touched, so that it is mapped. At the lowest levels zstd is faster than page faults: their buffers are from
/// the heap.
///
/// ```
/// # #[cfg(feature = "write")] {
/// let mut image = offload_format::codec::image_buffer(19, 5);
/// image.extend_from_slice(b"bytes");
/// assert_eq!(image.capacity(), 5);
/// # }
/// ```
pub fn image_buffer(level: i32, size: usize) -> Vec<u8> {
    if level <= ONE_TABLE_LEVEL { Vec::with_capacity(size) } else { map_buffer(size) }
}

/// A copy of `image`.
pub(super) fn copy(image: &[u8]) -> Vec<u8> {
    let mut copy = map_buffer(image.len());
    copy.extend_from_slice(image);
    copy
}

fn map_buffer(size: usize) -> Vec<u8> {
    Vec::with_capacity(if size < LARGE { size } else { size.max(ALWAYS_MAPPED) })
}

/// The output of decoding.
pub(super) struct Output<'b> {
    /// The size of the content in bytes.
    pub(super) size: u64,
    /// A buffer to reuse if it is large enough.
    pub(super) spare: &'b mut Vec<u8>,
}

impl Output<'_> {
    /// An empty buffer for the content: the spare one, or a fallible allocation.
    pub(super) fn buffer(self) -> Result<Vec<u8>, Error> {
        let Output { size, spare } = self;
        if size > MAX_IMAGE {
            return Err(too_large(size, MAX_IMAGE));
        }
        let needed = usize::try_from(size).map_err(|_| too_large(size, usize::MAX as u64))?;
        let mut out = std::mem::take(spare);
        if out.capacity() < needed {
            out = Vec::new();
            out.try_reserve_exact(needed).map_err(|_| too_large(size, usize::MAX as u64))?;
        }
        out.clear();
        Ok(out)
    }

    /// A buffer of the content's size. Fresh pages stay untouched: the threads that write them take their page faults.
    #[cfg(any(feature = "libzstd", feature = "pure", target_family = "wasm"))]
    pub(super) fn zeroed(self) -> Result<Vec<u8>, Error> {
        let Output { size, ref spare } = self;
        let is_reused = spare.capacity() as u64 >= size;
        let mut out = self.buffer()?;
        let needed = usize::try_from(size).map_err(|_| too_large(size, usize::MAX as u64))?;
        if is_reused {
            out.resize(needed, 0);
            return Ok(out);
        }
        // There is memory for it.
        drop(out);
        Ok(vec![0; needed])
    }
}

fn too_large(size: u64, limit: u64) -> Error {
    ErrorKind::TooLarge { what: "the image", size, limit }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_images_that_take_long_are_mapped() {
        assert!(
            image_buffer(3, LARGE).capacity() >= ALWAYS_MAPPED
                && copy(&vec![0; LARGE]).capacity() >= ALWAYS_MAPPED
        );
        assert!(image_buffer(3, 2 * ALWAYS_MAPPED).capacity() >= 2 * ALWAYS_MAPPED);
        assert!(
            image_buffer(1, LARGE).capacity() < ALWAYS_MAPPED
                && image_buffer(19, LARGE - 1).capacity() < ALWAYS_MAPPED
        );
    }

    #[test]
    fn a_spare_buffer_that_is_too_small_is_not_used() {
        let mut spare = Vec::with_capacity(100);
        assert!(Output { size: 1000, spare: &mut spare }.buffer().unwrap().capacity() >= 1000);
        assert!(Output { size: MAX_IMAGE + 1, spare: &mut spare }.buffer().is_err());
    }
}
