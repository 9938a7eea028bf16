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
use std::rc::Rc;

use object::pod::{bytes_of, bytes_of_slice};
use object::{LittleEndian as LE, elf};
use offload_format::section::{DESCRIPTOR_FLAGS, DESCRIPTOR_PACK, Descriptor};

pub(crate) use self::destination::Destination;
use self::headers::Headers;
use self::plan::{Plan, Room};
use crate::carrier::elf::Place;
use crate::error::{Error, Result};
use crate::pieces::{Piece, total};
use crate::thin::NewBytes;

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

/// Puts `packs` in place of all packs of the program `file`.
///
/// # Errors
/// The file's layout does not allow it.
pub(crate) fn rewrite((path, file): (&Path, &Rc<File>), mut packs: Vec<NewPack>) -> Result<Rewritten> {
    let headers = Headers::read(path, file)?;
    packs.sort_by_key(|pack| pack.place.pack_offset);
    let old = old_room(path, &packs)?;
    let (addresses, content) = arrange(&packs).ok_or_else(|| refused(path, "it would become too large"))?;
    let new_size = total(&content).ok_or_else(|| refused(path, "it would become too large"))?;
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
        .hint("leave them in files beside it")
}

/// Above this, packs lie at pages of their own.
const PAGED: u64 = 64 << 10;
const PAGE: u64 = 4096;
const ALIGN: u64 = 16;
/// Size of the descriptor's fields from the flags to the identity.
const CHANGED_FIELDS: usize = 34;

/// The room of all packs, between which there is nothing.
fn old_room(path: &Path, packs: &[NewPack]) -> Result<Range<u64>> {
    let apart = || refused(path, "other large data lies between them");
    let mut ends: Option<(u64, u64)> = None;
    for NewPack { place, .. } in packs {
        let size = place.descriptor.pack_size;
        let start = place.pack_offset;
        if let Some((end, address)) = ends {
            // What aligns the next one.
            let gap = start.checked_sub(end).filter(|gap| *gap < PAGE);
            if gap.is_none_or(|gap| address.checked_add(gap) != Some(place.pack_address)) {
                return Err(apart());
            }
        }
        ends = start.checked_add(size).zip(place.pack_address.checked_add(size));
    }
    let start = packs.first().map(|pack| pack.place.pack_offset);
    let range = start.zip(ends).map(|(start, (end, _))| start..end);
    range.ok_or_else(|| refused(path, "no descriptor leads to one"))
}

/// The new packs one after another: the address of each, and all bytes.
fn arrange(packs: &[NewPack]) -> Option<(Vec<u64>, Vec<Piece>)> {
    let mut address = packs.first()?.place.pack_address;
    let (mut addresses, mut content) = (Vec::new(), Vec::new());
    for (index, pack) in packs.iter().enumerate() {
        let size = total(&pack.bytes.pieces)?;
        // The first one stays where the linker has put it.
        let align = if index == 0 {
            1
        } else if size >= PAGED {
            PAGE
        } else {
            ALIGN
        };
        let start = address.checked_next_multiple_of(align)?;
        content.push(Piece::Zeros(start.checked_sub(address)?));
        content.extend(pack.bytes.pieces.iter().cloned());
        addresses.push(start);
        address = start.checked_add(size)?;
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
        pack_size: total(&pack.bytes.pieces).unwrap_or_default().saturating_add(spare),
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
