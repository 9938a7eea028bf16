//! Searching a file without section headers for containers.

use super::found::Place;
use super::kind::FileKind;
use super::measure;
use super::search::{At, Part, Search};
use offload_format::Error;

/// Compilers align containers to 8 at least.
const STEP: usize = 8;

impl<'a> Search<'a> {
    /// Every container whose recorded size fits; what lies inside of one is its own.
    pub(super) fn scan(&mut self, file: &'a [u8], at: At<'a>) -> Result<(), Error> {
        self.budget.spend(file.len() as u64)?;
        let mut offset = 0;
        while let Some(rest) = file.get(offset..).filter(|rest| !rest.is_empty()) {
            let size = candidate(rest)
                .then(|| FileKind::detect(rest))
                .flatten()
                .and_then(|it| measure::size(it, rest));
            let step = match size {
                Some(size) => {
                    self.add(Part { file, offset: offset as u64, size }, Place::Bytes, at)?;
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

/// What may start a container that records its size: cheap to refuse, for it is asked at every word of the file.
fn candidate(rest: &[u8]) -> bool {
    let magics: [&[u8]; 5] =
        [b"OFLDPACK", b"\x10\xff\x10\xad", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x50\xed\x55\xba"];
    let first = rest.first();
    magics.iter().any(|magic| magic.first() == first && rest.starts_with(magic))
}
