//! The 128-bit content hash of images and packs.

use std::fmt;
use std::str::FromStr;

use blake3::hazmat::{self, ChainingValue, HasherExt, Mode};

use crate::codec::Threads;
use crate::{Error, ErrorKind};

/// The first 16 bytes of a BLAKE3 hash (<https://github.com/BLAKE3-team/BLAKE3-specs>).
///
/// Used as identity (equal images are stored once) and against damage; shown as 32 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash128(pub [u8; 16]);

impl Hash128 {
    /// Hashes `bytes`.
    ///
    /// ```
    /// use offload_format::Hash128;
    /// assert_eq!(Hash128::digest(b"").to_string(), "af1349b9f5f9a1a6a0404dea36dcc949");
    /// ```
    pub fn digest(bytes: &[u8]) -> Hash128 {
        Hash128::digest_parts(&[bytes])
    }

    /// Hashes `bytes` in up to `threads`; each takes at least a megabyte.
    ///
    /// ```
    /// use offload_format::Hash128;
    /// use offload_format::codec::Threads;
    /// let bytes = vec![7; 3 << 20];
    /// assert_eq!(Hash128::digest_on(&bytes, Threads::new(4)), Hash128::digest(&bytes));
    /// ```
    pub fn digest_on(bytes: &[u8], threads: Threads) -> Hash128 {
        let Some((left, right)) = halves(Subtree { bytes, offset: 0 }, threads) else {
            return Hash128::digest(bytes);
        };
        let [left, right] = both(left, right, threads);
        let root = hazmat::merge_subtrees_root(&left, &right, Mode::Hash);
        let mut out = [0; 16];
        out.iter_mut().zip(root.as_bytes()).for_each(|(out, byte)| *out = *byte);
        Hash128(out)
    }

    /// Hashes the concatenation of `parts`.
    pub fn digest_parts(parts: &[&[u8]]) -> Hash128 {
        let mut hasher = blake3::Hasher::new();
        if let [head, rest] = parts {
            update_in_step(&mut hasher, head, rest);
        } else {
            for part in parts {
                hasher.update(part);
            }
        }
        let mut out = [0; 16];
        hasher.finalize_xof().fill(&mut out);
        Hash128(out)
    }
}

/// The least that is worth a thread.
const MIN_SHARE: usize = 1 << 20;

/// A subtree of BLAKE3's: bytes, and where they are in the input.
#[derive(Clone, Copy)]
struct Subtree<'b> {
    bytes: &'b [u8],
    offset: u64,
}

/// The two subtrees below `tree`, if they are worth several threads.
fn halves(tree: Subtree<'_>, threads: Threads) -> Option<(Subtree<'_>, Subtree<'_>)> {
    if threads.get() < 2 || tree.bytes.len() < 2 * MIN_SHARE {
        return None;
    }
    let left = usize::try_from(hazmat::left_subtree_len(tree.bytes.len() as u64)).ok()?;
    let (left, right) = tree.bytes.split_at_checked(left)?;
    let middle = tree.offset.checked_add(left.len() as u64)?;
    Some((Subtree { bytes: left, offset: tree.offset }, Subtree { bytes: right, offset: middle }))
}

/// The chaining values of two subtrees, each in half of the threads.
fn both(left: Subtree<'_>, right: Subtree<'_>, threads: Threads) -> [ChainingValue; 2] {
    let share = Threads::new(threads.get() / 2);
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new().spawn_scoped(scope, || chaining_value(left, share));
        let right = chaining_value(right, share);
        let joined = other.ok().and_then(|other| other.join().ok());
        // Where no thread starts, this one hashes both.
        [joined.unwrap_or_else(|| chaining_value(left, share)), right]
    })
}

fn chaining_value(tree: Subtree<'_>, threads: Threads) -> ChainingValue {
    match halves(tree, threads) {
        Some((left, right)) => {
            let [left, right] = both(left, right, threads);
            hazmat::merge_subtrees_non_root(&left, &right, Mode::Hash)
        }
        None => {
            let mut hasher = blake3::Hasher::new();
            hasher.set_input_offset(tree.offset);
            hasher.update(tree.bytes);
            hasher.finalize_non_root()
        }
    }
}

/// Bytes that BLAKE3 hashes in parallel with the widest vector instructions.
const STEP: usize = 4 << 10;

/// Hashes `head` with the beginning of `rest` as one step, then the remainder: an update of less than a step misaligns all
/// that follow, which takes almost twice as long.
fn update_in_step(hasher: &mut blake3::Hasher, head: &[u8], rest: &[u8]) {
    let mut first = [0; STEP];
    if let Some((front, back)) = first.split_at_mut_checked(head.len())
        && let Some((begin, rest)) = rest.split_at_checked(back.len())
    {
        front.copy_from_slice(head);
        back.copy_from_slice(begin);
        hasher.update(&first).update(rest);
        return;
    }
    hasher.update(head).update(rest);
}

impl fmt::Display for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Hash128 {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    ///
    /// ```
    /// use offload_format::Hash128;
    /// let hash = Hash128::digest(b"");
    /// assert_eq!(hash.to_string().parse(), Ok(hash));
    /// assert!("af13".parse::<Hash128>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Hash128, Error> {
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u128::from_str_radix(text, 16).ok().filter(|_| digits);
        value
            .map(|value| Hash128(value.to_be_bytes()))
            .ok_or_else(|| ErrorKind::Text { what: "a hash", offset: 0 }.into())
    }
}

impl fmt::Debug for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash128({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_hash_of_the_whole() {
        let bytes: Vec<u8> = (0..40_000u32).map(|number| ((number * number) >> 5) as u8).collect();
        for size in [10, 2 * STEP, bytes.len()] {
            let whole = &bytes[..size];
            for at in [0, 1, 48, 1024, STEP - 1, STEP, STEP + 1, size].into_iter().filter(|at| *at <= size) {
                let (head, rest) = whole.split_at(at);
                assert_eq!(Hash128::digest_parts(&[head, rest]), Hash128::digest(whole), "{size} {at}");
                assert_eq!(Hash128::digest_parts(&[head, &[], rest]), Hash128::digest(whole), "{size} {at}");
            }
        }
        assert_ne!(Hash128::digest_parts(&[&bytes[1..], &bytes]), Hash128::digest_parts(&[&bytes, &bytes]));
    }
}
