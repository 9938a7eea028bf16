//! Replacement of the packs in a linked program without a linker: the file grows or shrinks, and memory addresses
//! stay.

pub(crate) mod destination;
mod headers;
mod layout;
mod macho;
mod offsets;
mod pe;
mod pe_checksum;
mod plan;
mod refusal;
mod rejoin;
mod replacement;
pub(crate) mod rewritten;
mod signature;
mod slot;

use object::pod::{bytes_of, bytes_of_slice};
use object::{LittleEndian as LE, elf};
use offload_format::section::{DESCRIPTOR_ADDRESS, DESCRIPTOR_PACK};

use self::headers::Headers;
use self::layout::{PacksRange, Plan};
use self::offsets::OldFile;
pub(crate) use self::replacement::Replacement;
use self::replacement::{PAGED, arrange, descriptor_patch, packs_range, too_large};
use self::rewritten::{Patch, Rewritten};
use crate::error::{IoContext, Result};
use crate::files::pieces::{Piece, total};
use crate::read::pack_file::PackFile;
use crate::read::pack_file::macho::MachFile;

/// Puts `packs`, in their order, in place of all packs of `program`.
///
/// # Errors
/// The file's layout does not allow it.
pub(crate) fn rewrite(program: &PackFile, packs: Vec<Replacement>) -> Result<Rewritten> {
    let path = program.path();
    let file = program.file();
    let has_addresses = packs.iter().any(|pack| pack.link.descriptor.flags & DESCRIPTOR_ADDRESS != 0);
    if has_addresses {
        return match MachFile::read(file).io_context("read", path)? {
            Some(headers) => macho::rewrite(program, &headers, &packs),
            None => pe::rewrite(program, &packs),
        };
    }
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
    Ok(Rewritten { pieces, patches, ids, seal: None })
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
