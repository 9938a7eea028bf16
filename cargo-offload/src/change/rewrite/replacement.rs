//! New packs of a program, one after another, and the descriptors that refer to them.

use std::ops::Range;
use std::path::Path;

use offload_format::section::{DESCRIPTOR_FLAGS, Descriptor};

use super::refusal::refused;
use super::rewritten::Patch;
use crate::change::repack::pack::{NewPack, PackEnd};
use crate::error::{Error, Result};
use crate::files::pieces::{Piece, total};
use crate::read::pack_file::elf::LinkedPack;

/// The pack that a crate's descriptor leads to from now on.
#[derive(Debug)]
pub(crate) struct Replacement {
    /// References to the old pack.
    pub(crate) link: LinkedPack,
    pub(crate) pack: NewPack,
    /// The descriptor's flags.
    pub(crate) flags: u16,
}

pub(super) fn too_large(path: &Path) -> Error {
    refused(path, "it would become too large")
}

/// Above this, packs lie at pages of their own.
pub(super) const PAGED: u64 = 64 << 10;
const PAGE: u64 = 4096;
const ALIGN: u64 = 16;
/// Size of the descriptor's fields from the flags to the identity.
const CHANGED_FIELDS: usize = 34;

/// The file range of all packs, which must be contiguous.
pub(super) fn packs_range(path: &Path, packs: &[Replacement]) -> Result<Range<u64>> {
    let mut links: Vec<&LinkedPack> = packs.iter().map(|pack| &pack.link).collect();
    links.sort_by_key(|link| link.pack_offset);
    let first = links.first().ok_or_else(|| refused(path, "no descriptor leads to one"))?;
    let mut end = first.pack_offset;
    for link in &links {
        // Packs that share reach over each other; otherwise there is what aligns the next one.
        let next = link.pack_offset.saturating_sub(end) < PAGE
            && link.pack_offset.checked_sub(first.pack_offset)
                == link.pack_address.checked_sub(first.pack_address);
        let pack_end = link.pack_offset.checked_add(link.descriptor.pack_size);
        let address_end = link.pack_address.checked_add(link.descriptor.pack_size);
        let pack_end = pack_end.filter(|_| next && address_end.is_some());
        end = end.max(pack_end.ok_or_else(|| refused(path, "other large data lies between them"))?);
    }
    Ok(first.pack_offset..end)
}

/// The new packs one after another.
pub(super) struct PackLayout {
    /// Of each.
    pub(super) addresses: Vec<u64>,
    /// All bytes.
    pub(super) content: Vec<Piece>,
}

/// Packs of `paged` bytes and more are at pages of their own.
pub(super) fn arrange(packs: &[Replacement], start: u64, paged: u64) -> Option<PackLayout> {
    let mut address = start;
    // The first one stays where the linker has put it, and what shares follows closely.
    let mut before = PackEnd::OfNext;
    let mut arranged = PackLayout { addresses: Vec::new(), content: Vec::new() };
    for Replacement { pack, .. } in packs {
        let align = match before {
            PackEnd::OfNext => 1,
            PackEnd::Own if pack.size >= paged => PAGE,
            PackEnd::Own => ALIGN,
        };
        let start = address.checked_next_multiple_of(align)?;
        arranged.content.push(Piece::Zeros(start.checked_sub(address)?));
        arranged.content.extend(pack.pieces.iter().cloned());
        arranged.addresses.push(start);
        address = start.checked_add(total(&pack.pieces)?)?;
        before = pack.end;
    }
    Some(arranged)
}

/// The changed fields of the descriptor at `offset` of the new file, which refers to the pack by `reference`.
pub(super) fn descriptor_patch(new: &Replacement, reference: u64, spare: u64, offset: u64) -> Patch {
    let Replacement { pack, flags, .. } = new;
    let mut descriptor = Descriptor::new(pack.size.saturating_add(spare), pack.id.0, *flags);
    descriptor.pack = reference.cast_signed();
    // A later release may have appended fields to the descriptor.
    let fields = descriptor.encode().into_iter().skip(DESCRIPTOR_FLAGS as usize).take(CHANGED_FIELDS);
    Patch { offset: offset.saturating_add(DESCRIPTOR_FLAGS), bytes: fields.collect() }
}
