//! Patches: differences between images of the same size, as runs of replaced bytes.
//!
//! A patch is a sequence of runs: the number of equal bytes since the last run, the number of replaced bytes (at least
//! one), and the bytes. Both numbers are unsigned LEB128 (DWARF 5, section 7.6, <https://dwarfstd.org/dwarf5std.html>).

use crate::{Error, ErrorKind};

/// The longest stretch of equal bytes that is cheaper within a run than between two.
const MAX_GAP: usize = 2;
/// Equal bytes are compared in pieces of this size.
const PIECE: usize = 256;

/// A patch under construction, piece by piece.
#[derive(Debug)]
pub struct PatchBuilder {
    patch: Vec<u8>,
    limit: usize,
    /// Equal bytes since the last run.
    equal: u64,
}

impl PatchBuilder {
    /// The size of pieces. Runs end at the end of a piece, whether the image is fed in pieces or as a whole.
    pub const PIECE: usize = 256 << 10;

    /// A patch of at most `limit` bytes.
    pub fn new(limit: usize) -> PatchBuilder {
        PatchBuilder { patch: Vec::new(), limit, equal: 0 }
    }

    /// Feeds the next pieces of parent and image. Returns false if their sizes differ, or the patch exceeds the limit.
    pub fn feed(&mut self, parent: &[u8], image: &[u8]) -> bool {
        let mut done = 0;
        for (start, end) in (Runs { parent, image, at: 0 }) {
            let equal = self.equal.saturating_add(start.saturating_sub(done) as u64);
            write_leb128(&mut self.patch, equal);
            write_leb128(&mut self.patch, end.saturating_sub(start) as u64);
            self.patch.extend_from_slice(image.get(start..end).unwrap_or_default());
            if self.patch.len() > self.limit {
                return false;
            }
            self.equal = 0;
            done = end;
        }
        self.equal = self.equal.saturating_add(image.len().saturating_sub(done) as u64);
        parent.len() == image.len()
    }

    /// The patch.
    pub fn finish(self) -> Vec<u8> {
        self.patch
    }
}

/// The patch from `parent` to `image`, if their sizes are equal and the patch is not above `limit` bytes.
pub(super) fn diff(parent: &[u8], image: &[u8], limit: usize) -> Option<Vec<u8>> {
    if parent.len() != image.len() {
        return None;
    }
    let mut diff = PatchBuilder::new(limit);
    for (parent, image) in parent.chunks(PatchBuilder::PIECE).zip(image.chunks(PatchBuilder::PIECE)) {
        if !diff.feed(parent, image) {
            return None;
        }
    }
    Some(diff.finish())
}

/// Replaces the runs of `patch` in `content`.
pub(super) fn apply(content: &mut [u8], patch: &[u8]) -> Result<(), Error> {
    let mut rest = patch;
    let mut at: usize = 0;
    while !rest.is_empty() {
        let (start, end) = read_run(&mut rest, at).ok_or_else(damaged)?;
        let target = content.get_mut(start..end).ok_or_else(damaged)?;
        let (bytes, tail) = rest.split_at_checked(target.len()).ok_or_else(damaged)?;
        target.copy_from_slice(bytes);
        rest = tail;
        at = end;
    }
    Ok(())
}

/// Start and end of the next run, whose equal bytes begin at `at`.
fn read_run(patch: &mut &[u8], at: usize) -> Option<(usize, usize)> {
    let equal = read_leb128(patch)?;
    let replaced = read_leb128(patch)?;
    if replaced == 0 {
        return None;
    }
    let start = at.checked_add(equal)?;
    Some((start, start.checked_add(replaced)?))
}

/// An iterator over the differing ranges of two buffers of the same size.
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
        while let Some(next) = self.difference_within_gap(end) {
            end = next.saturating_add(1);
        }
        self.at = end;
        Some((start, end))
    }
}

impl Runs<'_> {
    fn first_difference(&self, from: usize) -> Option<usize> {
        let parent = self.parent.get(from..)?;
        let image = self.image.get(from..)?;
        let pieces = parent.chunks(PIECE).zip(image.chunks(PIECE));
        let equal = pieces.take_while(|(a, b)| a == b).count().saturating_mul(PIECE);
        let within = first_difference(parent.get(equal..)?, image.get(equal..)?)?;
        from.checked_add(equal)?.checked_add(within)
    }

    fn difference_within_gap(&self, from: usize) -> Option<usize> {
        let end = from.saturating_add(MAX_GAP).saturating_add(1).min(self.image.len());
        let within = first_difference(self.parent.get(from..end)?, self.image.get(from..end)?)?;
        from.checked_add(within)
    }
}

fn first_difference(parent: &[u8], image: &[u8]) -> Option<usize> {
    parent.iter().zip(image).position(|(a, b)| a != b)
}

pub(super) fn write_leb128(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn read_leb128(rest: &mut &[u8]) -> Option<usize> {
    let mut value: u64 = 0;
    for shift in (0..63).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
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
        let parent = vec![7; PatchBuilder::PIECE * 2 + 100];
        let mut image = parent.clone();
        // One run lies across two pieces.
        for at in [
            5,
            PatchBuilder::PIECE - 1,
            PatchBuilder::PIECE,
            2 * PatchBuilder::PIECE - 5,
            2 * PatchBuilder::PIECE + 99,
        ] {
            image[at] = 1;
        }
        let mut pieces = PatchBuilder::new(usize::MAX);
        let mut both = parent.chunks(PatchBuilder::PIECE).zip(image.chunks(PatchBuilder::PIECE));
        assert!(both.all(|(parent, image)| pieces.feed(parent, image)));
        let patch = pieces.finish();
        assert_eq!(Some(&patch), diff(&parent, &image, usize::MAX).as_ref());
        let mut again = parent;
        apply(&mut again, &patch).unwrap();
        assert_eq!(again, image);
        assert!(!PatchBuilder::new(usize::MAX).feed(&[1, 2], &[1]));
    }

    #[test]
    fn too_different_is_no_patch() {
        let parent = vec![0; 1000];
        let image = vec![1; 1000];
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
