//! The list of the packs that Rust includes.
//!
//! Each is a static, and its crate has a pointer to it in a section of its own, which the linker puts together from all
//! crates: the bounds of the section are the list, as in the crate `linkme`. Nothing runs before `main`. WebAssembly has
//! no sections in memory: there a pack is in the list once the function `module()` of one of its kernel modules has been
//! called.

use super::included::{IncludedPack, IncludedSlot};
use super::pack::PackSource;

/// The packs of the executable or shared library that this code is linked into.
pub(super) fn packs() -> Vec<PackSource> {
    let mut packs = Vec::new();
    for pack in slots().iter().flatten() {
        packs.push(pack.source());
    }
    packs
}

/// COFF's linkers sort parts of a section by what follows the `$` in their names. Of parts that nothing refers to, GNU ld
/// drops those of any name but for a few (`bfd_coff_gc_sections`), of which this one has no other use on Windows.
#[cfg(windows)]
fn slots() -> &'static [IncludedSlot] {
    #[used]
    #[unsafe(link_section = ".vectors$offload_a")]
    static FIRST: IncludedSlot = None;
    #[used]
    #[unsafe(link_section = ".vectors$offload_c")]
    static LAST: IncludedSlot = None;
    // SAFETY: all crates have values of this type between the two, and linkers put zeros there.
    unsafe { between(&raw const FIRST, &raw const LAST) }
}

/// Mach-O's linkers define the bounds of each section that is asked for.
#[cfg(target_vendor = "apple")]
fn slots() -> &'static [IncludedSlot] {
    unsafe extern "C" {
        #[link_name = "\x01section$start$__DATA$__offload"]
        static FIRST: u8;
        #[link_name = "\x01section$end$__DATA$__offload"]
        static LAST: u8;
    }
    // SAFETY: all crates have values of this type between the two, and linkers put zeros there.
    unsafe { between((&raw const FIRST).cast(), (&raw const LAST).cast()) }
}

/// ELF's linkers define the bounds of a section whose name is a C identifier, and those of illumos if it begins with
/// `set_`; `EMPTY` makes sure that there is one.
#[cfg(all(
    unix,
    not(target_vendor = "apple"),
    not(target_family = "wasm"),
    not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))
))]
fn slots() -> &'static [IncludedSlot] {
    #[used]
    #[unsafe(link_section = "set_offload")]
    static EMPTY: [IncludedSlot; 0] = [];
    unsafe extern "C" {
        #[link_name = "__start_set_offload"]
        static FIRST: u8;
        #[link_name = "__stop_set_offload"]
        static LAST: u8;
    }
    std::hint::black_box(&EMPTY);
    // SAFETY: all crates have values of this type between the two, and linkers put zeros there.
    unsafe { between((&raw const FIRST).cast(), (&raw const LAST).cast()) }
}

/// offload-build writes objects for this system, whose packs are found by their own section.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn slots() -> &'static [IncludedSlot] {
    &[]
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

/// Adds a pack whose kernel module is used: nothing where linkers make the list.
#[cfg(any(windows, all(unix, not(target_family = "wasm"))))]
pub(crate) fn add(_: &'static IncludedPack) {}

/// Where linkers make no list, the packs whose kernel modules were used are remembered.
#[cfg(not(any(windows, all(unix, not(target_family = "wasm")))))]
static USED: std::sync::Mutex<Vec<IncludedSlot>> = std::sync::Mutex::new(Vec::new());

#[cfg(not(any(windows, all(unix, not(target_family = "wasm")))))]
fn slots() -> Vec<IncludedSlot> {
    USED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// Adds a pack whose kernel module is used.
#[cfg(not(any(windows, all(unix, not(target_family = "wasm")))))]
pub(crate) fn add(pack: &'static IncludedPack) {
    let mut used = USED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !used.iter().flatten().any(|known| std::ptr::eq(*known, pack)) {
        used.push(Some(pack));
    }
}
