//! Searching a whole file for packs: files of other formats, and ELF files that have lost everything else.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use offload_format::pack::Pack;
use offload_format::pack::layout::{ALIGN, HEADER_SIZE, MAGIC};

/// Linkers keep this alignment, in memory and in the file.
const STEP: usize = 8;
const CHUNK: usize = 1 << 20;

/// Where something that looks like a pack starts. The magic alone is not enough: it is also a constant of programs
/// that read packs.
pub(super) fn pack_offsets(file: &mut File) -> io::Result<BTreeSet<u64>> {
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

/// Where the packs of a file start that consists of packs: headers alone are read, however large they are.
fn walk(file: &mut File) -> io::Result<Option<BTreeSet<u64>>> {
    let size = file.metadata()?.len();
    let mut offsets = BTreeSet::new();
    let mut at = 0u64;
    while at < size {
        let mut header = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        file.take(HEADER_SIZE).read_to_end(&mut header)?;
        let Ok((pack_size, _)) = Pack::sizes(&header) else { return Ok(None) };
        offsets.insert(at);
        let end = at.checked_add(pack_size).filter(|end| *end <= size);
        let Some(next) = end.and_then(|end| end.checked_next_multiple_of(ALIGN)) else { return Ok(None) };
        at = next;
    }
    Ok(Some(offsets).filter(|offsets| !offsets.is_empty()))
}
