//! Replacement of the packs in a linked program without a linker: the file grows or shrinks, and memory addresses
//! stay.

pub(crate) mod destination;
mod headers;
mod layout;
mod offsets;
mod pe;
mod plan;
mod refusal;
mod rejoin;
pub(crate) mod rewritten;
mod slot;

use std::ops::Range;
use std::path::Path;

use object::pod::{bytes_of, bytes_of_slice};
use object::{LittleEndian as LE, elf};
use offload_format::section::{DESCRIPTOR_ADDRESS, DESCRIPTOR_FLAGS, DESCRIPTOR_PACK, Descriptor};

use self::headers::Headers;
use self::layout::{PacksRange, Plan};
use self::offsets::OldFile;
use self::refusal::refused;
use self::rewritten::{Patch, Rewritten};
use crate::change::repack::pack::{NewPack, PackEnd};
use crate::error::{Error, Result};
use crate::files::pieces::{Piece, total};
use crate::read::pack_file::PackFile;
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

/// Puts `packs`, in their order, in place of all packs of `program`.
///
/// # Errors
/// The file's layout does not allow it.
pub(crate) fn rewrite(program: &PackFile, packs: Vec<Replacement>) -> Result<Rewritten> {
    let is_pe = packs.iter().any(|pack| pack.link.descriptor.flags & DESCRIPTOR_ADDRESS != 0);
    if is_pe {
        return pe::rewrite(program, &packs);
    }
    let path = program.path();
    let file = program.file();
    let headers = Headers::read(path, file)?;
    let old = packs_range(path, &packs)?;
    let start = packs.iter().map(|pack| pack.link.pack_address).min().ok_or_else(|| too_large(path))?;
    let arranged = arrange(&packs, start, PAGED).ok_or_else(|| too_large(path))?;
    let new_size = total(&arranged.content).ok_or_else(|| too_large(path))?;
    let range = PacksRange { old, new_size };
    let plan = plan::plan(path, &headers, &range)?;
    let mut patches = header_patches(&plan);
    for (index, (pack, address)) in packs.iter().zip(arranged.addresses).enumerate() {
        let last = index.saturating_add(1) == packs.len();
        let spare = if last { plan.spare } else { 0 };
        patches.extend(reference_patches(&plan, pack, PackPlacement { address, spare }));
    }
    let content = arranged.content.into_iter().chain([Piece::Zeros(plan.padding)]).collect();
    let old = OldFile { file, size: headers.size, packs: range.old.start };
    let pieces = plan.offsets.pieces(&old, content);
    let ids = packs.iter().map(|pack| pack.pack.id.0).collect();
    Ok(Rewritten { pieces, patches, ids, checksum: None })
}

fn too_large(path: &Path) -> Error {
    refused(path, "it would become too large")
}

/// Above this, packs lie at pages of their own.
const PAGED: u64 = 64 << 10;
const PAGE: u64 = 4096;
const ALIGN: u64 = 16;
/// Size of the descriptor's fields from the flags to the identity.
const CHANGED_FIELDS: usize = 34;

/// The file range of all packs, which must be contiguous.
fn packs_range(path: &Path, packs: &[Replacement]) -> Result<Range<u64>> {
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
struct PackLayout {
    /// Of each.
    addresses: Vec<u64>,
    /// All bytes.
    content: Vec<Piece>,
}

/// Packs of `paged` bytes and more are at pages of their own.
fn arrange(packs: &[Replacement], start: u64, paged: u64) -> Option<PackLayout> {
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

fn header_patches(plan: &Plan) -> Vec<Patch> {
    let Headers { file, segments, sections, .. } = &plan.headers;
    let file: &elf::FileHeader64<LE> = file;
    let mut patches = vec![Patch { offset: 0, bytes: bytes_of(file).to_vec() }];
    patches.push(Patch { offset: file.e_phoff.get(LE), bytes: bytes_of_slice(segments).to_vec() });
    if !sections.is_empty() {
        patches.push(Patch { offset: file.e_shoff.get(LE), bytes: bytes_of_slice(sections).to_vec() });
    }
    patches
}

/// Address of a new pack, and the number of spare bytes after it.
struct PackPlacement {
    address: u64,
    spare: u64,
}

/// The descriptor and the notes of a pack that lies at `place` now.
fn reference_patches(plan: &Plan, new: &Replacement, place: PackPlacement) -> Vec<Patch> {
    let Replacement { link, pack, .. } = new;
    let field = link.descriptor_address.wrapping_add(DESCRIPTOR_PACK);
    let reference = place.address.wrapping_sub(field);
    let offset = plan.offsets.map(link.descriptor_offset);
    let mut patches = vec![descriptor_patch(new, reference, place.spare, offset)];
    patches.extend(
        link.note_ids
            .iter()
            .map(|offset| Patch { offset: plan.offsets.map(*offset), bytes: pack.id.0.to_vec() }),
    );
    patches
}

/// The changed fields of the descriptor at `offset` of the new file, which refers to the pack by `reference`.
fn descriptor_patch(new: &Replacement, reference: u64, spare: u64, offset: u64) -> Patch {
    let Replacement { pack, flags, .. } = new;
    let mut descriptor = Descriptor::new(pack.size.saturating_add(spare), pack.id.0, *flags);
    descriptor.pack = reference.cast_signed();
    // A later release may have appended fields to the descriptor.
    let fields = descriptor.encode().into_iter().skip(DESCRIPTOR_FLAGS as usize).take(CHANGED_FIELDS);
    Patch { offset: offset.saturating_add(DESCRIPTOR_FLAGS), bytes: fields.collect() }
}
