//! Patches: an image as another one of the same size with some bytes replaced.
//!
//! A patch is a list of runs until its end: how many bytes stay since the last run, how many are replaced (at least
//! one), then those bytes. Both numbers are unsigned LEB128 (DWARF 5, section 7.6, <https://dwarfstd.org/dwarf5std.html>).

use crate::{Error, ErrorKind};

/// Equal bytes between two runs that are cheaper replaced by themselves than by a new run.
const GAP: usize = 2;
/// Equal bytes are skipped by pieces of this size.
const PIECE: usize = 256;

/// A patch in the making, piece by piece.
#[derive(Debug)]
pub(crate) struct Diff {
    patch: Vec<u8>,
    limit: usize,
    /// Equal bytes since the last run.
    equal: u64,
}

impl Diff {
    /// Pieces of this size make the same patch as the whole at once: a run ends where a piece does.
    pub(crate) const PIECE: usize = 256 << 10;

    /// A patch of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Diff {
        Diff { patch: Vec::new(), limit, equal: 0 }
    }

    /// Takes the next pieces of parent and image. False if their sizes differ, or the patch gets too large.
    pub(crate) fn feed(&mut self, parent: &[u8], image: &[u8]) -> bool {
        let mut done = 0;
        for (start, end) in (Runs { parent, image, at: 0 }) {
            leb128(&mut self.patch, self.equal.saturating_add(start.saturating_sub(done) as u64));
            leb128(&mut self.patch, end.saturating_sub(start) as u64);
            self.patch.extend_from_slice(image.get(start..end).unwrap_or_default());
            if self.patch.len() > self.limit {
                return false;
            }
            (self.equal, done) = (0, end);
        }
        self.equal = self.equal.saturating_add(image.len().saturating_sub(done) as u64);
        parent.len() == image.len()
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.patch
    }
}

/// The patch from `parent` to `image`, if their sizes are equal and the patch is not above `limit` bytes.
pub(super) fn diff(parent: &[u8], image: &[u8], limit: usize) -> Option<Vec<u8>> {
    if parent.len() != image.len() {
        return None;
    }
    let mut diff = Diff::new(limit);
    let mut pieces = parent.chunks(Diff::PIECE).zip(image.chunks(Diff::PIECE));
    pieces.all(|(parent, image)| diff.feed(parent, image)).then(|| diff.finish())
}

/// Replaces the runs of `patch` in `content`.
pub(super) fn apply(content: &mut [u8], patch: &[u8]) -> Result<(), Error> {
    let mut rest = patch;
    let mut at: usize = 0;
    while !rest.is_empty() {
        let start = number(&mut rest).and_then(|skip| at.checked_add(skip));
        let end = number(&mut rest).filter(|length| *length > 0);
        let range = start.and_then(|start| Some(start..start.checked_add(end?)?));
        let target = range.clone().and_then(|range| content.get_mut(range));
        let target = target.ok_or_else(damaged)?;
        let (bytes, behind) = rest.split_at_checked(target.len()).ok_or_else(damaged)?;
        target.copy_from_slice(bytes);
        rest = behind;
        at = range.map_or(at, |range| range.end);
    }
    Ok(())
}

/// Where two buffers of one size differ.
struct Runs<'a> {
    parent: &'a [u8],
    image: &'a [u8],
    at: usize,
}

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let start = self.first_difference(self.at)?;
        let mut end = start.saturating_add(1);
        while let Some(next) = self.near_difference(end) {
            end = next.saturating_add(1);
        }
        self.at = end;
        Some((start, end))
    }
}

impl Runs<'_> {
    fn first_difference(&self, from: usize) -> Option<usize> {
        let (parent, image) = (self.parent.get(from..)?, self.image.get(from..)?);
        let pieces = parent.chunks(PIECE).zip(image.chunks(PIECE));
        let equal = pieces.take_while(|(a, b)| a == b).count().saturating_mul(PIECE);
        let (parent, image) = (parent.get(equal..)?, image.get(equal..)?);
        let within = parent.iter().zip(image).position(|(a, b)| a != b)?;
        from.checked_add(equal)?.checked_add(within)
    }

    fn near_difference(&self, from: usize) -> Option<usize> {
        let end = from.saturating_add(GAP).saturating_add(1).min(self.image.len());
        let (parent, image) = (self.parent.get(from..end)?, self.image.get(from..end)?);
        let within = parent.iter().zip(image).position(|(a, b)| a != b)?;
        from.checked_add(within)
    }
}

fn leb128(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let mut value: u64 = 0;
    for shift in (0..63).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(value).ok();
        }
    }
    None
}

fn damaged() -> Error {
    ErrorKind::Damaged { what: "the patch of the image" }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_come_back() {
        let parent: Vec<u8> = (0..5000u32).map(|at| (at / 3) as u8).collect();
        for changes in [&[][..], &[0], &[4999], &[0, 1, 2, 5, 6, 300, 1000, 1001, 4000, 4998, 4999]] {
            let mut image = parent.clone();
            changes.iter().for_each(|at| image[*at] ^= 0x55);
            let patch = diff(&parent, &image, 200).unwrap();
            assert!(patch.len() <= 4 * changes.len(), "{} bytes", patch.len());
            let mut again = parent.clone();
            apply(&mut again, &patch).unwrap();
            assert_eq!(again, image);
        }
    }

    #[test]
    fn pieces_make_the_patch_of_the_whole() {
        let parent = vec![7; Diff::PIECE * 2 + 100];
        let mut image = parent.clone();
        // One run lies across two pieces.
        for at in [5, Diff::PIECE - 1, Diff::PIECE, 2 * Diff::PIECE - 5, 2 * Diff::PIECE + 99] {
            image[at] = 1;
        }
        let mut pieces = Diff::new(usize::MAX);
        let mut both = parent.chunks(Diff::PIECE).zip(image.chunks(Diff::PIECE));
        assert!(both.all(|(parent, image)| pieces.feed(parent, image)));
        let patch = pieces.finish();
        assert_eq!(Some(&patch), diff(&parent, &image, usize::MAX).as_ref());
        let mut again = parent;
        apply(&mut again, &patch).unwrap();
        assert_eq!(again, image);
        assert!(!Diff::new(usize::MAX).feed(&[1, 2], &[1]));
    }

    #[test]
    fn too_different_is_no_patch() {
        let (parent, image) = (vec![0; 1000], vec![1; 1000]);
        assert_eq!(diff(&parent, &image, 999), None);
        assert!(diff(&parent, &image, 1100).is_some());
        assert_eq!(diff(&parent, &image[1..], 1100), None);
    }

    #[test]
    fn runs_outside_are_refused() {
        let patches =
            [&[8, 1, 7][..], &[0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[0, 0], &[0, 2, 1], &[0x80; 12], &[3]];
        for patch in patches {
            assert!(apply(&mut [0; 8], patch).is_err(), "{patch:?}");
        }
        assert!(apply(&mut [0; 8], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 1]).is_err());
    }
}
