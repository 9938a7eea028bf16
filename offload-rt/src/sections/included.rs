//! Packs that generated Rust includes, on systems for which offload-build writes no objects.

use offload_format::pack::layout::HASH_OFFSET;
use offload_format::section::{
    DESCRIPTOR_ADDRESS, DESCRIPTOR_MAGIC, DESCRIPTOR_SIDECARS, DESCRIPTOR_SIZE, DESCRIPTOR_VERSION,
};

use super::pack::{PackBytes, PackSource};

/// The bytes of a pack at a multiple of 16: images that are stored as they are can be handed to any driver.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct AlignedPack<B: ?Sized>(pub B);

impl<const SIZE: usize> AlignedPack<[u8; SIZE]> {
    /// A copy of `bytes`, of which there are `SIZE`.
    pub const fn copied(bytes: &[u8]) -> AlignedPack<[u8; SIZE]> {
        match bytes.first_chunk() {
            Some(bytes) => AlignedPack(*bytes),
            None => AlignedPack([0; SIZE]),
        }
    }
}

/// A pack that generated Rust includes: a descriptor of it (`offload_format::section::Descriptor`), with a pointer where
/// objects have a difference.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct IncludedPack {
    magic: [u8; 8],
    size: u32,
    version: u16,
    flags: u16,
    bytes: *const u8,
    #[cfg(not(target_pointer_width = "64"))]
    upper: u32,
    pack_size: u64,
    id: [u8; 16],
    reserved: [u8; 16],
}

// SAFETY: the pointer leads to bytes that nothing changes while the program runs.
unsafe impl Sync for IncludedPack {}

/// A pointer in the section of `included_list`. Padding, which linkers fill with zeros, is `None`.
pub type IncludedSlot = Option<&'static IncludedPack>;

impl IncludedPack {
    /// The pack `bytes`; the macro `included_kernel_module!` calls it.
    pub const fn new(bytes: &'static [u8]) -> IncludedPack {
        let id = match bytes.split_at_checked(HASH_OFFSET as usize) {
            Some((_, rest)) => rest.first_chunk(),
            None => None,
        };
        IncludedPack {
            magic: DESCRIPTOR_MAGIC,
            size: DESCRIPTOR_SIZE as u32,
            version: DESCRIPTOR_VERSION,
            flags: DESCRIPTOR_ADDRESS,
            bytes: bytes.as_ptr(),
            #[cfg(not(target_pointer_width = "64"))]
            upper: 0,
            pack_size: bytes.len() as u64,
            id: match id {
                Some(id) => *id,
                None => [0; 16],
            },
            reserved: [0; 16],
        }
    }

    pub(crate) fn source(&'static self) -> PackSource {
        // `prune` and `repack` change the linked program: what the compiler knows of the value may not hold.
        // SAFETY: all are fields of a value that is there.
        let (bytes, size, flags) = unsafe {
            (
                (&raw const self.bytes).read_volatile(),
                (&raw const self.pack_size).read_volatile(),
                (&raw const self.flags).read_volatile(),
            )
        };
        // SAFETY: there was a slice of this size, or the command has put a pack there.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, usize::try_from(size).unwrap_or(0)) };
        let has_sidecars = flags & DESCRIPTOR_SIDECARS != 0;
        let home = has_sidecars.then(|| super::module_file::directory((&raw const *self).cast())).flatten();
        PackSource { bytes: PackBytes::Static(bytes), home }
    }
}

#[cfg(test)]
mod tests {
    use offload_format::pack::PackBuilder;
    use offload_format::section::Descriptor;

    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn an_included_pack_has_the_bytes_of_a_descriptor() {
        let pack: &'static [u8] = PackBuilder::new("p", "1.0.0").finish().unwrap().index.leak();
        let included: &'static IncludedPack = Box::leak(Box::new(IncludedPack::new(pack)));
        assert_eq!(size_of::<IncludedPack>() as u64, DESCRIPTOR_SIZE);
        let pointer = (&raw const *included).cast::<u8>();
        // SAFETY: the value has no padding.
        let bytes = unsafe { std::slice::from_raw_parts(pointer, size_of::<IncludedPack>()) };
        let descriptor = Descriptor::parse(bytes).unwrap().descriptor.unwrap();
        let address = pack.as_ptr() as usize;
        assert_eq!(descriptor.pack.cast_unsigned(), address as u64);
        assert_eq!((descriptor.pack_size, descriptor.flags), (pack.len() as u64, DESCRIPTOR_ADDRESS));
        assert_eq!(descriptor.id, pack[48..64]);
        assert_eq!(&*included.source().bytes, pack);
    }
}
