//! Code size of each kernel in an image.

use std::collections::BTreeMap;

use object::Endianness;
use object::elf::STT_FUNC;
use object::read::elf::ElfFile64;
use object::read::{Object, ObjectSection, ObjectSymbol};

/// Prefix of the code sections of kernels in NVIDIA and Intel images.
const SECTION: &str = ".text.";

/// The size of each function of an ELF image by its name; nothing for other images. PTX and SPIR-V are compiled again
/// before they run.
pub(crate) fn sizes(image: &[u8]) -> BTreeMap<String, u64> {
    let Ok(file) = ElfFile64::<Endianness>::parse(image) else { return BTreeMap::new() };
    let sections = file.sections().filter_map(|section| {
        let name = section.name().ok()?.strip_prefix(SECTION)?.to_string();
        Some((name, section.size()))
    });
    let sizes: BTreeMap<String, u64> =
        sections.filter(|(name, size)| !name.is_empty() && *size > 0).collect();
    if !sizes.is_empty() {
        return sizes;
    }
    let functions = file.symbols().chain(file.dynamic_symbols()).filter_map(|symbol| {
        let function = symbol.elf_symbol().st_type() == STT_FUNC && symbol.size() > 0;
        Some((symbol.name().ok().filter(|_| function)?.to_string(), symbol.size()))
    });
    functions.collect()
}
