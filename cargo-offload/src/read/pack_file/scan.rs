//! Full scan of a file for packs, for other formats and for ELF files without sections and notes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use offload_format::Limits;
use offload_format::pack::layout::{HEADER_SIZE, MAGIC};
use offload_format::pack::{Pack, PackBudget, Pages};

use crate::files::read_at::read_at;

/// The largest index that is read: a million images.
pub(super) const MAX_INDEX: u64 = 256 << 20;

/// Linkers keep this alignment, in memory and in the file.
const STEP: usize = 8;
const CHUNK: usize = 1 << 20;

/// The file offsets of possible packs. The magic number alone is not enough: it is also a constant of programs
/// that read packs.
pub(super) fn pack_offsets(mut file: &File) -> io::Result<BTreeSet<u64>> {
    if let Some(offsets) = walk(file)? {
        return Ok(offsets);
    }
    let mut offsets = BTreeSet::new();
    let mut base = 0u64;
    file.seek(SeekFrom::Start(0))?;
    let mut window: Vec<u8> = Vec::new();
    loop {
        let carried = window.len();
        file.take((CHUNK - carried) as u64).read_to_end(&mut window)?;
        let last = window.len() == carried;
        for at in (0..window.len()).step_by(STEP) {
            let Some(rest) = window.get(at..).filter(|rest| rest.starts_with(&MAGIC)) else { continue };
            if Pack::sizes(rest).is_ok() {
                offsets.insert(base.saturating_add(at as u64));
            }
        }
        if last {
            return Ok(offsets);
        }
        // A header across the border is seen whole in the next round.
        let keep = window.len().saturating_sub(HEADER_SIZE as usize) / STEP * STEP;
        let keep = if window.len() < CHUNK { window.len() / STEP * STEP } else { keep };
        base = base.saturating_add(keep as u64);
        window.drain(..keep);
    }
}

/// The offsets of the packs in a file that consists of packs. Only indexes are read, however large the packs are.
fn walk(file: &File) -> io::Result<Option<BTreeSet<u64>>> {
    let size = file.metadata()?.len();
    let mut budget = PackBudget::for_file(size, &Limits::default());
    let mut offsets = BTreeSet::new();
    let mut at = 0u64;
    while at < size {
        let Some(pack) = extent(file, at)?.filter(|pack| pack.end <= size) else { return Ok(None) };
        if budget.read_index(pack.index).is_err() {
            return Ok(None);
        }
        offsets.insert(at);
        at = pack.next;
    }
    Ok(Some(offsets).filter(|offsets| !offsets.is_empty()))
}

/// Size of the index of a pack, its end, and the start of the next one.
struct Extent {
    index: u64,
    end: u64,
    next: u64,
}

/// The extent of the pack at `at`, if there is one.
fn extent(file: &File, at: u64) -> io::Result<Option<Extent>> {
    let Some(header) = if_whole(read_at(file, at, HEADER_SIZE))? else { return Ok(None) };
    let sizes = Pack::sizes(&header).ok().filter(|sizes| sizes.index <= MAX_INDEX);
    let Some(sizes) = sizes else { return Ok(None) };
    let Some(index) = if_whole(read_at(file, at, sizes.index))? else { return Ok(None) };
    let pages = Pages::default();
    let Ok(pack) = Pack::parse_index(&index, &pages) else { return Ok(None) };
    let Some(end) = at.checked_add(sizes.pack) else { return Ok(None) };
    let Some(next) = at.checked_add(pack.next()) else { return Ok(None) };
    Ok(Some(Extent { index: sizes.index, end, next }))
}

/// The bytes, or `None` if the file ends early.
fn if_whole(outcome: io::Result<Vec<u8>>) -> io::Result<Option<Vec<u8>>> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        outcome => outcome.map(Some),
    }
}
