//! The roles of sections, by name.

use offload_format::section;

/// The role of a section.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A sequence of packs of this project.
    Packs,
    /// A sequence of containers.
    Container,
    /// A sequence of containers, which is added only if no wrapper points into it.
    Wrapped,
    /// Wrappers.
    Wrappers,
    /// The images of one target in an object of clang's bundler; in a linked SYCL program records point to them.
    Bundled,
}

/// clang-offload-bundler names the sections of an object after the id of a target
/// (<https://clang.llvm.org/docs/ClangOffloadBundler.html>). The host's section has one zero byte.
const BUNDLED: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// Section names. A PE file without a string table has the first eight bytes of them.
const NAMES: [(&[u8], Role); 17] = [
    (section::PACK_SECTION_X86_64.as_bytes(), Role::Packs),
    (section::PACK_SECTION.as_bytes(), Role::Packs),
    (b"offload_", Role::Packs),
    (b".lrodata", Role::Packs),
    (b".llvm.of", Role::Container),
    (b".hip_fatbin", Role::Wrapped),
    (b".hip_fat", Role::Wrapped),
    (b"__hip_fatbin", Role::Wrapped),
    (b".hipFatBinSegment", Role::Wrappers),
    (b".hipFatB", Role::Wrappers),
    (b".nv_fatbin", Role::Wrapped),
    (b".nv_fatb", Role::Wrapped),
    (b"__nv_fatbin", Role::Wrapped),
    (b"__nv_relfatbin", Role::Wrapped),
    (b"__nv_rel", Role::Wrapped),
    (b".nvFatBinSegment", Role::Wrappers),
    (b".nvFatBi", Role::Wrappers),
];

pub(super) fn role(name: &[u8]) -> Option<Role> {
    // Also `.llvm.offloading.relocatable`, and the suffixes of COFF linkers.
    if name.starts_with(b".llvm.offloading") {
        return Some(Role::Container);
    }
    if let Some(id) = name.strip_prefix(BUNDLED) {
        return Some(Role::Bundled).filter(|_| !id.starts_with(b"host-"));
    }
    NAMES.iter().find(|(other, _)| *other == name).map(|(_, role)| *role)
}

/// Whether a section of this name has containers.
pub(super) fn is_container(name: &[u8]) -> bool {
    role(name).is_some_and(|role| role != Role::Wrappers)
}
