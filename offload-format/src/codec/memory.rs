//! Memory for whole images, which goes back to the system as soon as it is free.

/// glibc maps an allocation by itself from a size on that grows with what is freed, up to this one
/// (`M_MMAP_THRESHOLD` in mallopt(3)). What is smaller may stay with the heap of a thread: a few images in each.
const ALWAYS_MAPPED: usize = (32 << 20) + 1;
/// Below that, what stays with a thread is not worth a system call.
const LARGE: usize = 1 << 20;

/// An empty vector for `size` bytes of an image that goes through zstd's `level`. A large one has more room than that;
/// what is not written to takes no memory. The lowest levels are faster than the system gives new pages: theirs is of
/// the heap.
///
/// ```
/// let mut image = offload_format::packer::image_buffer(19, 5);
/// image.extend_from_slice(b"bytes");
/// assert_eq!(image.capacity(), 5);
/// ```
pub fn image_buffer(level: i32, size: usize) -> Vec<u8> {
    if level <= super::zstd::ONE_TABLE_LEVEL { Vec::with_capacity(size) } else { mapped(size) }
}

/// A copy of `image`.
pub(super) fn copied(image: &[u8]) -> Vec<u8> {
    let mut copy = mapped(image.len());
    copy.extend_from_slice(image);
    copy
}

fn mapped(size: usize) -> Vec<u8> {
    Vec::with_capacity(if size < LARGE { size } else { size.max(ALWAYS_MAPPED) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_images_that_take_long_are_mapped() {
        assert!(
            image_buffer(3, LARGE).capacity() >= ALWAYS_MAPPED
                && copied(&vec![0; LARGE]).capacity() >= ALWAYS_MAPPED
        );
        assert!(image_buffer(3, 2 * ALWAYS_MAPPED).capacity() >= 2 * ALWAYS_MAPPED);
        assert!(
            image_buffer(1, LARGE).capacity() < ALWAYS_MAPPED
                && image_buffer(19, LARGE - 1).capacity() < ALWAYS_MAPPED
        );
    }
}
