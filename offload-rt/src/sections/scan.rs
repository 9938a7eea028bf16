//! From the modules of this process to their packs, through notes and tables; each step is checked against the module's
//! own memory.

use std::ops::Range;
use std::sync::Arc;

use offload_format::section::{
    DESCRIPTOR_MAGIC, DESCRIPTOR_PACK, DESCRIPTOR_SIDECARS, DESCRIPTOR_SIZE, Descriptor, NOTE_SIZE,
    note_header, parse_note,
};

use super::modules::{self, LoadedModule};
use super::pack::{PackBytes, PackSource, PackSources};

/// The largest distance by which `patchelf` moves the header of a program that is not position-independent.
const MOVED_PAGES: u64 = 8;
const PAGE: u64 = 4096;

/// The packs of the executable or shared library that this code is linked into.
pub(crate) fn own() -> PackSources {
    let range = modules::own_table();
    let mut found = PackSources::default();
    modules::for_each(&mut |module| {
        if module.contains(range.start) {
            found = table(module, range.clone());
        }
    });
    found
}

/// The packs of all modules that are loaded now.
pub(crate) fn process() -> PackSources {
    let mut found = PackSources::default();
    modules::for_each(&mut |module| {
        // The main program is never unloaded.
        let keep = if module.is_main() { Keep::Borrow } else { Keep::Copy };
        notes(module, keep, &mut found);
    });
    found
}

/// The pack of the descriptor at `address`, which lies in the module that asks.
pub(crate) fn at(address: *const u8) -> PackSources {
    let mut found = PackSources::default();
    modules::for_each(&mut |module| {
        if module.contains(address as u64) {
            descriptor(module, address as u64, Keep::Borrow).add_to(&mut found);
        }
    });
    found
}

/// The access to a pack's memory.
#[derive(Clone, Copy)]
enum Keep {
    /// The module stays: borrow.
    Borrow,
    /// The module may be unloaded: copy.
    Copy,
}

/// The pack of a descriptor, or the reason why there is none.
enum DescriptorResult {
    Pack(PackSource),
    Unreadable(String),
}

impl DescriptorResult {
    fn add_to(self, found: &mut PackSources) {
        match self {
            DescriptorResult::Pack(pack) => found.packs.push(pack),
            DescriptorResult::Unreadable(reason) => found.unreadable.push(reason),
        }
    }
}

/// The packs of the table at `range`.
fn table(module: &LoadedModule<'_>, range: Range<u64>) -> PackSources {
    let mut found = PackSources::default();
    let mut address = range.start;
    while address < range.end {
        let rest = module.bytes(address, range.end - address).unwrap_or_default();
        // Linkers may pad between the descriptors of two crates; their alignment is 8.
        let step = if rest.starts_with(&DESCRIPTOR_MAGIC) {
            descriptor(module, address, Keep::Borrow).add_to(&mut found);
            Descriptor::parse(rest).map_or(8, |parsed| parsed.size)
        } else {
            8
        };
        address = address.saturating_add(step);
    }
    found
}

/// The packs that the module's notes lead to.
///
/// The segment is searched for our note's first bytes instead of walked: mold 1.10 puts notes of alignment 4 and 8
/// into one segment, where a walker loses its way.
fn notes(module: &LoadedModule<'_>, keep: Keep, found: &mut PackSources) {
    let header = note_header();
    for (start, segment) in module.notes() {
        for (index, note) in segment.windows(NOTE_SIZE as usize).enumerate().step_by(4) {
            if note.starts_with(&header) {
                let note = Note { address: start.saturating_add(index as u64), bytes: note };
                follow(module, &note, keep).add_to(found);
            }
        }
    }
}

/// A note of ours and where it lies.
struct Note<'a> {
    address: u64,
    bytes: &'a [u8],
}

fn follow(module: &LoadedModule<'_>, note: &Note<'_>, keep: Keep) -> DescriptorResult {
    for address in targets(module, note) {
        let bytes = module.bytes(address, DESCRIPTOR_SIZE);
        if bytes.is_some_and(|bytes| bytes.starts_with(&DESCRIPTOR_MAGIC)) {
            return descriptor(module, address, keep);
        }
    }
    DescriptorResult::Unreadable("a note leads to no descriptor".to_string())
}

/// Where the descriptor may lie: counted from the note, or, if a tool has moved the note, from the ELF header.
fn targets(module: &LoadedModule<'_>, note: &Note<'_>) -> Vec<u64> {
    let Some(fields) = parse_note(note.bytes) else {
        return Vec::new();
    };
    let mut addresses: Vec<u64> = note.address.checked_add_signed(fields.descriptor).into_iter().collect();
    if let (Some(header), Some(offset)) =
        (module.elf_header(), fields.descriptor.checked_sub(fields.elf_header))
    {
        let from_header =
            (0..=MOVED_PAGES).filter_map(|page| header.checked_add(page * PAGE)?.checked_add_signed(offset));
        addresses.extend(from_header);
    }
    addresses
}

/// The pack of the descriptor at `address`.
fn descriptor(module: &LoadedModule<'_>, address: u64, keep: Keep) -> DescriptorResult {
    // A later release may have made it longer, but nothing past this size is used.
    let Some(size) = module.bytes(address, DESCRIPTOR_SIZE).and_then(recorded_size) else {
        return DescriptorResult::Unreadable("a descriptor lies outside its module's memory".to_string());
    };
    match module.bytes(address, size).map(|bytes| Descriptor::parse(bytes).map(|parsed| parsed.descriptor)) {
        None => DescriptorResult::Unreadable("a descriptor ends outside its module's memory".to_string()),
        Some(Err(error)) => DescriptorResult::Unreadable(error.to_string()),
        Some(Ok(None)) => {
            DescriptorResult::Unreadable("a descriptor has the version of a later release".to_string())
        }
        Some(Ok(Some(found))) => pack(&At { module, address, keep }, &found),
    }
}

fn recorded_size(descriptor: &[u8]) -> Option<u64> {
    offload_format::bytes::u32_at(descriptor, 8, "descriptor").ok().map(u64::from)
}

/// Where a descriptor lies.
struct At<'a, 'm> {
    module: &'a LoadedModule<'m>,
    address: u64,
    keep: Keep,
}

fn pack(at: &At<'_, '_>, descriptor: &Descriptor) -> DescriptorResult {
    let At { module, address, keep } = *at;
    let start =
        address.checked_add(DESCRIPTOR_PACK).and_then(|field| field.checked_add_signed(descriptor.pack));
    let start = start.unwrap_or(u64::MAX);
    let bytes = match keep {
        // SAFETY: callers borrow only from the main program and from the module that this code is linked into.
        Keep::Borrow => unsafe { module.lasting_bytes(start, descriptor.pack_size) }.map(PackBytes::Static),
        Keep::Copy => {
            module.bytes(start, descriptor.pack_size).map(|bytes| PackBytes::Owned(Arc::from(bytes)))
        }
    };
    match bytes {
        Some(bytes) => {
            let sidecar = descriptor.flags & DESCRIPTOR_SIDECARS != 0;
            DescriptorResult::Pack(PackSource { bytes, home: sidecar.then(|| module.directory()).flatten() })
        }
        None => DescriptorResult::Unreadable("a pack lies outside its module's memory".to_string()),
    }
}
