//! The scan of a file without section headers.

use super::kind::FileKind;
use super::measure;
use super::range::RangeOrigin;
use super::search::{FileRange, Position, Search};
use offload_format::Error;

/// Compilers align containers to 8 at least.
const STEP: usize = 8;

impl<'a> Search<'a> {
    /// Adds every container whose recorded size fits; nested containers belong to the outer one.
    pub(super) fn scan(&mut self, file: &'a [u8], at: Position<'a>) -> Result<(), Error> {
        self.budget.spend(file.len() as u64)?;
        let mut offset = 0;
        while let Some(rest) = file.get(offset..).filter(|rest| !rest.is_empty()) {
            let size = if has_magic(rest) {
                FileKind::detect(rest).and_then(|kind| measure::size(kind, rest))
            } else {
                None
            };
            let step = match size {
                Some(size) => {
                    self.add(FileRange { file, offset: offset as u64, size }, RangeOrigin::Bytes, at)?;
                    usize::try_from(size).unwrap_or(usize::MAX)
                }
                None => STEP,
            };
            let next = offset.checked_add(step).and_then(|next| next.checked_next_multiple_of(STEP));
            let Some(next) = next else { break };
            offset = next;
        }
        Ok(())
    }
}

/// Whether `rest` starts with the magic of a container with a recorded size: a cheap filter for every word of the file.
fn has_magic(rest: &[u8]) -> bool {
    let magics: [&[u8]; 5] =
        [b"OFLDPACK", b"\x10\xff\x10\xad", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x50\xed\x55\xba"];
    let first = rest.first();
    magics.iter().any(|magic| magic.first() == first && rest.starts_with(magic))
}
