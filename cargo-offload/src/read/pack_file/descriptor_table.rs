//! Descriptors that stand one behind the other in a section, with the addresses of their packs: those of programs whose packs
//! the generated Rust includes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind};

use offload_format::bytes::u32_at;
use offload_format::section::{
    DESCRIPTOR_ADDRESS, DESCRIPTOR_MAGIC, DESCRIPTOR_RESERVED, DESCRIPTOR_SIZE, Descriptor, ParsedDescriptor,
};

use super::elf::{LinkedPack, LinkedPacks};
use super::references::{LedTo, MOST, compare};
use crate::files::object_file::examine;
use crate::files::read_at::read_at;

/// Where descriptors stand: in memory, and in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableRange {
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// A descriptor in the file.
#[derive(Debug)]
pub(super) struct FoundDescriptor {
    address: u64,
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

/// Where the pack of a descriptor is.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackPlace {
    pub(super) address: u64,
    pub(super) offset: u64,
    /// Whether all bytes that the descriptor counts are in memory.
    pub(super) is_loaded: bool,
}

/// The descriptors at the start of their section.
pub(super) fn descriptors(file: &File, table: TableRange) -> io::Result<Vec<FoundDescriptor>> {
    let mut found = Vec::new();
    let mut at = 0u64;
    while at.saturating_add(DESCRIPTOR_SIZE) <= table.size {
        let offset = table.offset.saturating_add(at);
        let start = match read_at(file, offset, DESCRIPTOR_SIZE) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            start => start?,
        };
        if !start.starts_with(&DESCRIPTOR_MAGIC) {
            break;
        }
        // One of a later release may be longer.
        let size = u32_at(&start, 8, "descriptor").map_or(DESCRIPTOR_SIZE, u64::from).max(DESCRIPTOR_SIZE);
        let whole = size <= table.size.saturating_sub(at);
        let bytes = if whole { read_at(file, offset, size).unwrap_or(start) } else { start };
        found.push(FoundDescriptor { address: table.address.saturating_add(at), offset, bytes });
        at = at.saturating_add(size);
    }
    Ok(found)
}

/// The packs that `descriptors` lead to.
pub(super) fn linked_packs(
    descriptors: Vec<FoundDescriptor>,
    place_of: impl Fn(&Descriptor) -> Option<PackPlace>,
) -> LinkedPacks {
    let mut found = LinkedPacks::default();
    for FoundDescriptor { address, offset, bytes } in descriptors {
        let Ok(ParsedDescriptor { descriptor, .. }) = Descriptor::parse(&bytes) else { continue };
        let Some(descriptor) = descriptor else {
            found.later = true;
            continue;
        };
        let is_address = descriptor.flags & DESCRIPTOR_ADDRESS != 0;
        let Some(place) = place_of(&descriptor).filter(|_| is_address) else { continue };
        found.packs.push(LinkedPack {
            descriptor,
            descriptor_address: address,
            descriptor_offset: offset,
            pack_address: place.address,
            pack_offset: place.offset,
            note_ids: Vec::new(),
        });
    }
    found
}

/// The problems of `descriptors`.
pub(super) fn problems(
    file: &File,
    descriptors: &[FoundDescriptor],
    place_of: impl Fn(&Descriptor) -> Option<PackPlace>,
) -> io::Result<Vec<String>> {
    examine(file, |file| {
        let mut problems = Vec::new();
        let mut ids = BTreeSet::new();
        for FoundDescriptor { address, bytes, .. } in descriptors.iter().take(MOST) {
            let reserved = bytes.get(DESCRIPTOR_RESERVED as usize..).unwrap_or_default();
            let problem = match Descriptor::parse(bytes) {
                Ok(ParsedDescriptor { descriptor: Some(descriptor), size: DESCRIPTOR_SIZE, .. })
                    if reserved.iter().all(|byte| *byte == 0) =>
                {
                    let led_to = place_of(&descriptor).map(|place| LedTo {
                        offset: place.offset,
                        is_loaded: place.is_loaded,
                        flags: DESCRIPTOR_ADDRESS,
                    });
                    compare(file, &descriptor, led_to, &mut ids).err()
                }
                Ok(_) => Some("is from a newer release".to_string()),
                Err(error) => Some(format!("is damaged: {error}")),
            };
            problems.extend(problem.map(|problem| format!("the descriptor at {address:#x} {problem}")));
        }
        problems
    })
}

/// The first `size` bytes of a file, or `None` if it ends before.
pub(super) fn first_bytes(file: &File, size: u64) -> io::Result<Option<Vec<u8>>> {
    match read_at(file, 0, size) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        outcome => outcome.map(Some),
    }
}
