//! Packs that generated Rust includes, on systems for which offload-build writes no objects.

use super::pack::{PackBytes, PackSource};

/// The bytes of a pack at a multiple of 16: images that are stored as they are can be handed to any driver.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct AlignedPack<B: ?Sized>(pub B);

/// A pack that generated Rust includes.
#[derive(Debug)]
pub struct IncludedPack {
    bytes: &'static [u8],
}

/// A pointer in the section of `included_list`. Padding, which linkers fill with zeros, is `None`.
pub type IncludedSlot = Option<&'static IncludedPack>;

impl IncludedPack {
    /// The pack `bytes`; the macro `included_kernel_module!` calls it.
    pub const fn new(bytes: &'static [u8]) -> IncludedPack {
        IncludedPack { bytes }
    }

    pub(crate) fn source(&self) -> PackSource {
        PackSource { bytes: PackBytes::Static(self.bytes), home: None }
    }
}
