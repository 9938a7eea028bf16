//! A byte code for small tables: Lempel and Ziv's matches without entropy coding.
//!
//! Pages of an index are mostly hashes, which do not shrink, and columns that repeat: an entropy coder saves a few per cent
//! of them, and takes longer to start than they take to decode.
//!
//! The code is a series of sequences. A sequence is a byte, whose high four bits are a number of literals and whose low
//! four bits are the length of a match minus three, then the literals, then the distance of the match. Distances, and what
//! is above 15 of the numbers, are unsigned LEB128. The code ends with the content, after literals or after a match.

use super::memory::Output;
use super::patch::read_leb128;
#[cfg(feature = "write")]
use super::patch::write_leb128;
use crate::{Error, ErrorKind};

/// The shortest match.
const MIN_MATCH: usize = 3;
/// The number in four bits from which the rest follows.
const ESCAPE: usize = 15;

/// The ratio of content to code for which memory is reserved.
const USUAL_RATIO: usize = 16;

/// Decompresses `code`, whose content must have the size of `output`.
pub(super) fn decompress(code: &[u8], output: Output<'_>) -> Result<Vec<u8>, Error> {
    let size = usize::try_from(output.size).map_err(|_| damaged())?;
    // A damaged size must not take memory: the content grows with the code.
    let mut out = Vec::with_capacity(size.min(code.len().saturating_mul(USUAL_RATIO)));
    let mut rest = code;
    while out.len() < size {
        decode_sequence(&mut rest, &mut out, size).ok_or_else(damaged)?;
    }
    if rest.is_empty() { Ok(out) } else { Err(damaged()) }
}

/// Decodes a sequence to `out`, which becomes at most `size` bytes.
fn decode_sequence(code: &mut &[u8], out: &mut Vec<u8>, size: usize) -> Option<()> {
    let (token, tail) = code.split_first()?;
    *code = tail;
    let literals = read_length(code, usize::from(token >> 4))?;
    let (bytes, tail) = code.split_at_checked(literals)?;
    *code = tail;
    if literals > size.checked_sub(out.len())? {
        return None;
    }
    out.extend_from_slice(bytes);
    if out.len() == size {
        return Some(());
    }
    let distance = read_leb128(code)?;
    let length = read_length(code, usize::from(token & 15))?.checked_add(MIN_MATCH)?;
    if length > size.checked_sub(out.len())? {
        return None;
    }
    let start = out.len().checked_sub(distance).filter(|start| *start < out.len())?;
    if distance >= length {
        out.extend_from_within(start..start.checked_add(length)?);
    } else {
        // What the match has copied so far doubles until it is long enough.
        let mut left = length;
        while left > 0 {
            let copied = left.min(out.len().checked_sub(start)?);
            out.extend_from_within(start..start.checked_add(copied)?);
            left = left.checked_sub(copied)?;
        }
    }
    Some(())
}

/// The number of which four bits are `bits`.
fn read_length(code: &mut &[u8], bits: usize) -> Option<usize> {
    if bits < ESCAPE { Some(bits) } else { read_leb128(code)?.checked_add(ESCAPE) }
}

fn damaged() -> Error {
    ErrorKind::Damaged { what: "a page of the index" }.into()
}

/// A match of the encoder.
#[cfg(feature = "write")]
#[derive(Clone, Copy, Debug, Default)]
struct Match {
    distance: usize,
    length: usize,
}

/// The number of earlier places that are compared.
#[cfg(feature = "write")]
const MAX_CHAIN: usize = 64;
/// The length from which no longer match is searched.
#[cfg(feature = "write")]
const GOOD_LENGTH: usize = 64;
/// The distances whose code is a byte.
#[cfg(feature = "write")]
const ONE_BYTE_DISTANCES: usize = 128;

/// Compresses `content` with the sequences of least size.
#[cfg(feature = "write")]
pub(super) fn compress(content: &[u8]) -> Vec<u8> {
    let choices = choose(content);
    let mut out = Vec::new();
    let mut literals = 0usize;
    let mut at = 0usize;
    while at < content.len() {
        match choices.get(at).copied().flatten() {
            Some(found) => {
                write_sequence(
                    &mut out,
                    content.get(at.saturating_sub(literals)..at).unwrap_or_default(),
                    found,
                );
                literals = 0;
                at = at.saturating_add(found.length);
            }
            None => {
                literals = literals.saturating_add(1);
                at = at.saturating_add(1);
            }
        }
    }
    if literals > 0 {
        let rest = content.get(at.saturating_sub(literals)..).unwrap_or_default();
        write_sequence(&mut out, rest, Match::default());
    }
    out
}

/// Writes a sequence; one at the end has no match.
#[cfg(feature = "write")]
fn write_sequence(out: &mut Vec<u8>, literals: &[u8], Match { distance, length }: Match) {
    let beyond = length.saturating_sub(MIN_MATCH);
    out.push((literals.len().min(ESCAPE) << 4 | beyond.min(ESCAPE)) as u8);
    if let Some(more) = literals.len().checked_sub(ESCAPE) {
        write_leb128(out, more as u64);
    }
    out.extend_from_slice(literals);
    if length == 0 {
        return;
    }
    write_leb128(out, distance as u64);
    if let Some(more) = beyond.checked_sub(ESCAPE) {
        write_leb128(out, more as u64);
    }
}

/// The match to take at each place, or a literal: those of the least size, computed from the end.
#[cfg(feature = "write")]
fn choose(content: &[u8]) -> Vec<Option<Match>> {
    let matches = matches(content);
    let mut sizes = vec![0usize; content.len().saturating_add(1)];
    let mut choices = vec![None; content.len()];
    for at in (0..content.len()).rev() {
        let size_from = |at: usize| sizes.get(at).copied().unwrap_or(0);
        let mut best = size_from(at.saturating_add(1)).saturating_add(1);
        let mut choice = None;
        for Match { distance, length } in matches.get(at).copied().unwrap_or_default() {
            // The longest match, or as much of it as a sequence has without a further number.
            for length in [length, length.min(MIN_MATCH + ESCAPE - 1)] {
                if length < MIN_MATCH {
                    continue;
                }
                let size = match_size(distance, length).saturating_add(size_from(at.saturating_add(length)));
                if size < best {
                    best = size;
                    choice = Some(Match { distance, length });
                }
            }
        }
        if let Some((size, slot)) = sizes.get_mut(at).zip(choices.get_mut(at)) {
            *size = best;
            *slot = choice;
        }
    }
    choices
}

/// The size of a sequence with a match and without literals.
#[cfg(feature = "write")]
fn match_size(distance: usize, length: usize) -> usize {
    let leb128 = |number: usize| {
        1 + usize::from(number >= ONE_BYTE_DISTANCES)
            + usize::from(number >= ONE_BYTE_DISTANCES * ONE_BYTE_DISTANCES)
    };
    let more = length.saturating_sub(MIN_MATCH).checked_sub(ESCAPE);
    1 + leb128(distance) + more.map_or(0, leb128)
}

/// The longest match at each place, and the longest one whose distance is a byte.
#[cfg(feature = "write")]
fn matches(content: &[u8]) -> Vec<[Match; 2]> {
    use std::collections::BTreeMap;

    let mut last: BTreeMap<[u8; MIN_MATCH], usize> = BTreeMap::new();
    // The place before each place that starts with the same bytes.
    let mut earlier: Vec<Option<usize>> = vec![None; content.len()];
    let mut all = Vec::with_capacity(content.len());
    let mut previous = [Match::default(); 2];
    for at in 0..content.len() {
        let rest = content.get(at..).unwrap_or_default();
        let Some(start) = rest.first_chunk::<MIN_MATCH>() else {
            all.push([Match::default(); 2]);
            continue;
        };
        let before = last.insert(*start, at);
        if let Some(slot) = earlier.get_mut(at) {
            *slot = before;
        }
        let [longest, _] = previous;
        if longest.length > GOOD_LENGTH {
            // The rest of the match of the last place.
            previous = previous.map(|found| Match { length: found.length.saturating_sub(1), ..found });
        } else {
            previous = search(content, at, &earlier);
        }
        all.push(previous);
    }
    all
}

/// The longest match at the place `at`, and the longest one whose distance is a byte.
#[cfg(feature = "write")]
fn search(content: &[u8], at: usize, earlier: &[Option<usize>]) -> [Match; 2] {
    let mut best = [Match::default(); 2];
    let mut next = earlier.get(at).copied().flatten();
    for _ in 0..MAX_CHAIN {
        let Some(place) = next else { break };
        let distance = at.saturating_sub(place);
        let own = content.get(at..).unwrap_or_default();
        let other = content.get(place..).unwrap_or_default();
        let length = own.iter().zip(other).take_while(|(own, other)| own == other).count();
        let [longest, near] = &mut best;
        if length > longest.length {
            *longest = Match { distance, length };
        }
        if distance < ONE_BYTE_DISTANCES && length > near.length {
            *near = Match { distance, length };
        }
        if length >= GOOD_LENGTH {
            break;
        }
        next = earlier.get(place).copied().flatten();
    }
    best
}

#[cfg(all(test, feature = "write"))]
mod tests {
    use super::*;

    fn decoded(code: &[u8], size: usize) -> Result<Vec<u8>, Error> {
        decompress(code, Output { size: size as u64, spare: &mut Vec::new() })
    }

    fn contents() -> Vec<Vec<u8>> {
        let mut state = 1u32;
        let mut noise = Vec::new();
        for _ in 0..300 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise.push((state >> 24) as u8);
        }
        let mut mixed: Vec<u8> = noise.iter().take(40).copied().collect();
        mixed.extend([0; 900]);
        mixed.extend(noise.iter().take(20));
        mixed.extend((0..200).flat_map(|number: u8| [number, 7, 7, number / 3]));
        mixed.extend_from_within(300..1500);
        vec![vec![], vec![9], vec![5; 3], vec![5; 17], vec![5; 18], vec![5; 5000], noise, mixed]
    }

    #[test]
    fn content_comes_back() {
        for content in contents() {
            let code = compress(&content);
            assert_eq!(decoded(&code, content.len()).unwrap(), content);
            // A number and a half for every byte is the most.
            assert!(code.len() <= content.len() + content.len() / 64 + 2, "{}", content.len());
        }
        assert!(compress(&[5; 5000]).len() < 8);
    }

    #[test]
    fn damage_is_an_error_or_another_content_of_the_same_size() {
        for content in contents() {
            let code = compress(&content);
            for at in 0..code.len() {
                for bit in 0..8 {
                    let mut bad = code.clone();
                    bad[at] ^= 1 << bit;
                    if let Ok(other) = decoded(&bad, content.len()) {
                        assert_eq!(other.len(), content.len());
                    }
                }
                assert!(decoded(&code[..at], content.len()).is_err());
            }
            assert!(decoded(&[&code[..], &[0]].concat(), content.len()).is_err());
        }
    }

    #[test]
    fn distances_lie_within_what_is_decoded() {
        assert_eq!(decoded(&[0x10, 7, 1], 4).unwrap(), [7; 4]);
        for code in [[0x10, 7, 0], [0x10, 7, 2], [0x11, 7, 1]] {
            assert!(decoded(&code, 4).is_err(), "{code:?}");
        }
        // A length far beyond the content takes no memory.
        assert!(decoded(&[0x1f, 7, 1, 0xff, 0xff, 0xff, 0xff, 0x0f], 4).is_err());
    }
}
