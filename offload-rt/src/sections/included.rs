//! Packs that generated Rust includes, on systems for which offload-build writes no objects.
//!
//! Each is a static, and its crate has a pointer to it in a section of its own, which the linker puts together from all
//! crates: the bounds of the section are the list, as in the crate `linkme`. Nothing runs before `main`. WebAssembly has
//! no sections in memory: there a pack is in the list once the function `module()` of one of its kernel modules has been
//! called.

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

/// A pointer in the section. Padding, which linkers fill with zeros, is `None`.
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

/// The packs of the executable or shared library that this code is linked into.
pub(super) fn packs() -> Vec<PackSource> {
    let mut packs = Vec::new();
    for pack in list::slots().iter().flatten() {
        packs.push(pack.source());
    }
    packs
}

pub(crate) use self::list::add;

/// COFF's linkers sort parts of a section by what follows the `$` in their names. Of parts that nothing refers to, GNU ld
/// drops those of any name but for a few (`bfd_coff_gc_sections`), of which this one has no other use on Windows.
#[cfg(windows)]
mod list {
    use super::{IncludedPack, IncludedSlot};

    #[used]
    #[unsafe(link_section = ".vectors$offload_a")]
    static FIRST: IncludedSlot = None;
    #[used]
    #[unsafe(link_section = ".vectors$offload_c")]
    static LAST: IncludedSlot = None;

    pub(super) fn slots() -> &'static [IncludedSlot] {
        // SAFETY: all crates have values of this type between the two, and linkers put zeros there.
        unsafe { super::between((&raw const FIRST).cast(), (&raw const LAST).cast()) }
    }

    pub(crate) fn add(_: &'static IncludedPack) {}
}

/// Mach-O's linkers define the bounds of each section that is asked for.
#[cfg(target_vendor = "apple")]
mod list {
    use super::{IncludedPack, IncludedSlot};

    unsafe extern "C" {
        #[link_name = "\x01section$start$__DATA$__offload"]
        static FIRST: u8;
        #[link_name = "\x01section$end$__DATA$__offload"]
        static LAST: u8;
    }

    pub(super) fn slots() -> &'static [IncludedSlot] {
        // SAFETY: all crates have values of this type between the two, and linkers put zeros there.
        unsafe { super::between((&raw const FIRST).cast(), (&raw const LAST).cast()) }
    }

    pub(crate) fn add(_: &'static IncludedPack) {}
}

/// ELF's linkers define the bounds of a section whose name is a C identifier, and those of illumos if it begins with
/// `set_`; `EMPTY` makes sure that there is one.
#[cfg(all(
    unix,
    not(target_vendor = "apple"),
    not(target_family = "wasm"),
    not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))
))]
mod list {
    use super::{IncludedPack, IncludedSlot};

    #[used]
    #[unsafe(link_section = "set_offload")]
    static EMPTY: [IncludedSlot; 0] = [];

    unsafe extern "C" {
        #[link_name = "__start_set_offload"]
        static FIRST: u8;
        #[link_name = "__stop_set_offload"]
        static LAST: u8;
    }

    pub(super) fn slots() -> &'static [IncludedSlot] {
        std::hint::black_box(&EMPTY);
        // SAFETY: all crates have values of this type between the two, and linkers put zeros there.
        unsafe { super::between((&raw const FIRST).cast(), (&raw const LAST).cast()) }
    }

    pub(crate) fn add(_: &'static IncludedPack) {}
}

/// The slots from `first` on and before `last`.
///
/// # Safety
/// There is nothing but values of the type.
#[cfg(any(
    windows,
    all(
        unix,
        not(target_family = "wasm"),
        not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))
    )
))]
unsafe fn between(first: *const IncludedSlot, last: *const IncludedSlot) -> &'static [IncludedSlot] {
    // The compiler takes two statics for unrelated: the distance is one of numbers, which it cannot see through.
    let bytes = std::hint::black_box(last as usize).saturating_sub(first as usize);
    // SAFETY: by the contract; statics stay as long as code that is linked with them can run.
    unsafe { std::slice::from_raw_parts(std::hint::black_box(first), bytes / size_of::<IncludedSlot>()) }
}

/// offload-build writes objects for this system, whose packs are found by their own section.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod list {
    use super::{IncludedPack, IncludedSlot};

    pub(super) fn slots() -> &'static [IncludedSlot] {
        &[]
    }

    pub(crate) fn add(_: &'static IncludedPack) {}
}

/// Where linkers make no list, those that were used are remembered.
#[cfg(not(any(windows, all(unix, not(target_family = "wasm")))))]
mod list {
    use std::sync::{Mutex, PoisonError};

    use super::{IncludedPack, IncludedSlot};

    static USED: Mutex<Vec<IncludedSlot>> = Mutex::new(Vec::new());

    pub(super) fn slots() -> Vec<IncludedSlot> {
        USED.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn add(pack: &'static IncludedPack) {
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        if !used.iter().flatten().any(|known| std::ptr::eq(*known, pack)) {
            used.push(Some(pack));
        }
    }
}
