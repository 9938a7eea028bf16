//! Map from old to new file offsets.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use crate::files::pieces::Piece;

/// A run of old bytes that other bytes take the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: Range<u64>,
    pub(super) new_size: u64,
}

/// All changes of a file, in order.
#[derive(Clone, Debug)]
pub(super) struct OffsetMap {
    changes: Vec<Change>,
}

/// A file before its changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct OldFile<'f> {
    pub(super) file: &'f Arc<File>,
    /// In bytes.
    pub(super) size: u64,
    /// File offset of its packs.
    pub(super) packs: u64,
}

impl OffsetMap {
    /// `changes` do not overlap.
    pub(super) fn new(mut changes: Vec<Change>) -> OffsetMap {
        changes.sort_by_key(|change| change.old.start);
        OffsetMap { changes }
    }

    /// The new offset of the byte at `old`; for a removed byte, the end of the changed range.
    pub(super) fn map(&self, old: u64) -> u64 {
        let mut new = old;
        for Change { old: range, new_size } in &self.changes {
            let gone = old.min(range.end).saturating_sub(range.start);
            let stays = if old < range.end { gone.min(*new_size) } else { *new_size };
            new = new.saturating_sub(gone).saturating_add(stays);
        }
        new
    }

    /// The whole new file: what stays of `old`, `packs` where the old ones were, and zeros in other changes.
    pub(super) fn pieces(&self, old: &OldFile<'_>, packs: Vec<Piece>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut packs = Some(packs);
        let mut at = 0;
        for change in &self.changes {
            pieces.push(old.copy(at..change.old.start));
            match packs.take_if(|_| change.old.start == old.packs) {
                Some(packs) => pieces.extend(packs),
                None => pieces.push(Piece::Zeros(change.new_size)),
            }
            at = change.old.end;
        }
        pieces.push(old.copy(at..old.size));
        pieces
    }
}

impl OldFile<'_> {
    fn copy(&self, range: Range<u64>) -> Piece {
        Piece::Copy {
            from: self.file.clone(),
            offset: range.start,
            size: range.end.saturating_sub(range.start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_move_with_what_is_before_them() {
        let offsets = OffsetMap::new(vec![
            Change { old: 100..200, new_size: 130 },
            Change { old: 20..60, new_size: 10 },
            // Nothing lay between two segments.
            Change { old: 300..300, new_size: 8 },
        ]);
        for (old, new) in [
            (0, 0),
            (20, 20),
            (25, 25),
            (40, 30),
            (60, 30),
            (100, 70),
            (150, 120),
            (200, 200),
            (299, 299),
            (300, 308),
        ] {
            assert_eq!(offsets.map(old), new, "{old}");
        }
    }
}
