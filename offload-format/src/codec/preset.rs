//! The preset dictionary of small blocks: what every code object for AMD's processors begins with.
//!
//! A few dozen images of some kilobytes compress to a few kilobytes, of which a sixth is the first image's ELF headers, the
//! keys of its metadata and the compiler's name. The dictionary is such an image: a loop that scales an array, compiled for
//! gfx1030 by clang 22, behind the code of the same loop for four other processors and the comments of AMD's own compilers.
//! It is part of the format, and never changes.

/// The preset dictionary of [`Codec::ZstdPreset`](super::Codec::ZstdPreset) and
/// [`Codec::LzmaPreset`](super::Codec::LzmaPreset).
pub const PRESET: &[u8] = &DICTIONARY.0;

/// Aligned, so that the code object in it, at an odd offset, is nowhere where tools look for images in a program.
static DICTIONARY: Aligned = Aligned(*include_bytes!("preset.bin"));

#[repr(align(8))]
struct Aligned([u8; 6576]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hash128;

    #[test]
    fn the_dictionary_never_changes() {
        assert_eq!(
            (PRESET.len(), Hash128::digest(PRESET).to_string().as_str()),
            (6576, "fd04bf7ac408b755b21ab991ca16985e")
        );
        assert!(PRESET.as_ptr().addr().is_multiple_of(8) && PRESET[1887..].starts_with(b"\x7fELF"));
    }
}
