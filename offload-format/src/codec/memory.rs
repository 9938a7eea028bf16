//! Memory for whole images, which goes back to the system as soon as it is free.

use super::method::{MAX_IMAGE, ONE_TABLE_LEVEL};
use crate::{Error, ErrorKind};

/// glibc maps an allocation by itself from a size on that grows with what is freed, up to this one
/// (`M_MMAP_THRESHOLD` in mallopt(3)). What is smaller may stay with the heap of a thread: a few images in each.
const ALWAYS_MAPPED: usize = (32 << 20) + 1;
/// Below that, what stays with a thread is not worth a system call.
const LARGE: usize = 1 << 20;

/// An empty vector for `size` bytes of an image that goes through zstd's `level`. A large one has a larger capacity;
/// what is not written to takes no memory. The lowest levels are faster than the system gives new pages: theirs is of
/// the heap.
///
/// ```
/// # #[cfg(feature = "packer")] {
/// let mut image = offload_format::packer::image_buffer(19, 5);
/// image.extend_from_slice(b"bytes");
/// assert_eq!(image.capacity(), 5);
/// # }
/// ```
pub fn image_buffer(level: i32, size: usize) -> Vec<u8> {
    if level <= ONE_TABLE_LEVEL { Vec::with_capacity(size) } else { mapped(size) }
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

/// Where content is decoded to.
pub(super) struct Output<'b> {
    /// The size of the content in bytes.
    pub(super) size: u64,
    /// Memory that is taken where it is enough.
    pub(super) spare: &'b mut Vec<u8>,
}

impl Output<'_> {
    /// An empty buffer for the content: the spare one, or memory that is taken only if the system has it.
    pub(super) fn buffer(self) -> Result<Vec<u8>, Error> {
        let Output { size, spare } = self;
        if size > MAX_IMAGE {
            return Err(ErrorKind::TooLarge { what: "the image", size, limit: MAX_IMAGE }.into());
        }
        let refused =
            || Error::from(ErrorKind::TooLarge { what: "the image", size, limit: usize::MAX as u64 });
        let needed = usize::try_from(size).map_err(|_| refused())?;
        let mut out = std::mem::take(spare);
        if out.capacity() < needed {
            out = Vec::new();
            out.try_reserve_exact(needed).map_err(|_| refused())?;
        }
        out.clear();
        Ok(out)
    }
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

    #[test]
    fn a_spare_buffer_that_is_too_small_is_not_used() {
        let mut spare = Vec::with_capacity(100);
        assert!(Output { size: 1000, spare: &mut spare }.buffer().unwrap().capacity() >= 1000);
        assert!(Output { size: MAX_IMAGE + 1, spare: &mut spare }.buffer().is_err());
    }
}
