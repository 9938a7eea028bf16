//! Other packs in a linked program, without a linker: the file gets smaller or larger, no address in memory changes.

mod destination;
mod headers;
mod moves;
mod plan;
mod rejoin;
mod slot;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use object::pod::{bytes_of, bytes_of_slice};
use object::{LittleEndian as LE, elf};
use offload_format::section::{DESCRIPTOR_FLAGS, DESCRIPTOR_PACK, Descriptor};

pub(crate) use self::destination::Destination;
use self::headers::Headers;
use self::plan::{Plan, Room};
use crate::change::repack::{Ends, NewBytes};
use crate::error::{Error, Result};
use crate::files::pieces::{Piece, total};
use crate::read::pack_file::elf::Place;

/// The pack that a crate's descriptor leads to from now on.
#[derive(Debug)]
pub(crate) struct NewPack {
    /// The place of the old one.
    pub(crate) place: Place,
    pub(crate) bytes: NewBytes,
    /// The descriptor's flags.
    pub(crate) flags: u16,
}

/// A program with other packs, ready to be written.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pieces: Vec<Piece>,
    patches: Vec<(u64, Vec<u8>)>,
    /// The identities of its packs.
    ids: BTreeSet<[u8; 16]>,
}

/// Puts `packs`, in their order, in place of all packs of the program `file`.
///
/// # Errors
/// The file's layout does not allow it.
pub(crate) fn rewrite((path, file): (&Path, &Arc<File>), packs: Vec<NewPack>) -> Result<Rewritten> {
    let headers = Headers::read(path, file)?;
    let old = old_room(path, &packs)?;
    let too_large = || refused(path, "it would become too large");
    let start = packs.iter().map(|pack| pack.place.pack_address).min().ok_or_else(too_large)?;
    let (addresses, content) = arrange(&packs, start).ok_or_else(too_large)?;
    let new_size = total(&content).ok_or_else(too_large)?;
    let room = Room { old, new_size };
    let plan = plan::plan(path, &headers, &room)?;
    let mut patches = header_patches(&plan);
    for (index, (pack, address)) in packs.iter().zip(addresses).enumerate() {
        let last = index.saturating_add(1) == packs.len();
        let spare = if last { plan.spare } else { 0 };
        patches.extend(reference_patches(&plan, pack, (address, spare)));
    }
    let content = content.into_iter().chain([Piece::Zeros(plan.padding)]).collect();
    let pieces = plan.moves.pieces((file, headers.size), (room.old.start, content));
    Ok(Rewritten { pieces, patches, ids: packs.iter().map(|pack| pack.bytes.id.0).collect() })
}

impl Rewritten {
    /// Writes the whole file into `out`, which is empty.
    fn write_to(&self, out: &mut File) -> std::io::Result<()> {
        self.pieces.iter().try_for_each(|piece| piece.write_to(out))?;
        for (offset, bytes) in &self.patches {
            out.seek(SeekFrom::Start(*offset))?;
            out.write_all(bytes)?;
        }
        Ok(())
    }
}

/// The layout of a file does not allow what was asked for.
fn refused(path: &Path, why: &str) -> Error {
    Error::check(format!("the images of `{}` cannot be replaced: {why}", path.display()))
        .hint("build it again with other targets, as `OFFLOAD_TARGETS=host,spirv64 cargo build`, or link it with `-Clink-arg=-fuse-ld=bfd`")
}

/// The room in a file is too small.
fn no_room(path: &Path, why: &str) -> Error {
    Error::check(format!("the images cannot be put into `{}`: {why}", path.display()))
        .hint("`--sidecar` puts them into a file beside it")
}

/// Above this, packs lie at pages of their own.
const PAGED: u64 = 64 << 10;
const PAGE: u64 = 4096;
const ALIGN: u64 = 16;
/// Size of the descriptor's fields from the flags to the identity.
const CHANGED_FIELDS: usize = 34;

/// The room of all packs, between which there is nothing.
fn old_room(path: &Path, packs: &[NewPack]) -> Result<Range<u64>> {
    let mut places: Vec<&Place> = packs.iter().map(|pack| &pack.place).collect();
    places.sort_by_key(|place| place.pack_offset);
    let first = places.first().ok_or_else(|| refused(path, "no descriptor leads to one"))?;
    let mut end = first.pack_offset;
    for place in &places {
        let ends = |start: u64| start.checked_add(place.descriptor.pack_size);
        // Packs that share reach over each other; otherwise there is what aligns the next one.
        let beside = place.pack_offset.saturating_sub(end) < PAGE
            && place.pack_offset.checked_sub(first.pack_offset)
                == place.pack_address.checked_sub(first.pack_address);
        let ends = ends(place.pack_offset).filter(|_| beside && ends(place.pack_address).is_some());
        end = end.max(ends.ok_or_else(|| refused(path, "other large data lies between them"))?);
    }
    Ok(first.pack_offset..end)
}

/// The new packs one after another: the address of each, and all bytes.
fn arrange(packs: &[NewPack], start: u64) -> Option<(Vec<u64>, Vec<Piece>)> {
    let mut address = start;
    // The first one stays where the linker has put it, and what shares follows closely.
    let mut before = Ends::InNext;
    let (mut addresses, mut content) = (Vec::new(), Vec::new());
    for NewPack { bytes, .. } in packs {
        let align = match before {
            Ends::InNext => 1,
            Ends::Here if bytes.size >= PAGED => PAGE,
            Ends::Here => ALIGN,
        };
        let start = address.checked_next_multiple_of(align)?;
        content.push(Piece::Zeros(start.checked_sub(address)?));
        content.extend(bytes.pieces.iter().cloned());
        addresses.push(start);
        address = start.checked_add(total(&bytes.pieces)?)?;
        before = bytes.ends;
    }
    Some((addresses, content))
}

fn header_patches(plan: &Plan) -> Vec<(u64, Vec<u8>)> {
    let Headers { file, segments, sections, .. } = &plan.headers;
    let file: &elf::FileHeader64<LE> = file;
    let mut patches = vec![(0, bytes_of(file).to_vec())];
    patches.push((file.e_phoff.get(LE), bytes_of_slice(segments).to_vec()));
    if !sections.is_empty() {
        patches.push((file.e_shoff.get(LE), bytes_of_slice(sections).to_vec()));
    }
    patches
}

/// The descriptor and the notes of a pack that lies at `address` now, with `spare` bytes behind it.
fn reference_patches(plan: &Plan, pack: &NewPack, (address, spare): (u64, u64)) -> Vec<(u64, Vec<u8>)> {
    let field = pack.place.descriptor_address.wrapping_add(DESCRIPTOR_PACK);
    let descriptor = Descriptor {
        pack: address.wrapping_sub(field).cast_signed(),
        pack_size: pack.bytes.size.saturating_add(spare),
        id: pack.bytes.id.0,
        flags: pack.flags,
    };
    // A later release may have appended fields to the descriptor.
    let place = plan.moves.map(pack.place.descriptor_offset).saturating_add(DESCRIPTOR_FLAGS);
    let fields =
        descriptor.encode().into_iter().skip(DESCRIPTOR_FLAGS as usize).take(CHANGED_FIELDS).collect();
    let mut patches = vec![(place, fields)];
    patches
        .extend(pack.place.note_ids.iter().map(|offset| (plan.moves.map(*offset), pack.bytes.id.0.to_vec())));
    patches
}
