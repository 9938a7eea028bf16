//! LLVM's base64 of property sets: groups of six bits, least significant bit first, over the length in bits as u64 and
//! the bytes, without padding (<https://github.com/intel/llvm/blob/sycl/llvm/include/llvm/Support/Base64.h>).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes the first `bits` bits of `bytes`.
pub(super) fn encode(bits: u64, bytes: &[u8]) -> String {
    let all = [&bits.to_le_bytes(), bytes].concat();
    let mut out = String::with_capacity(all.len().div_ceil(3).saturating_mul(4));
    for group in all.chunks(3) {
        let value = group.iter().rev().fold(0u32, |value, byte| value << 8 | u32::from(*byte));
        // One byte takes two characters, two take three.
        let digits = (0..=group.len()).map(|digit| value >> (6 * digit) & 63);
        out.extend(digits.filter_map(|digit| ALPHABET.get(digit as usize).copied().map(char::from)));
    }
    out
}

/// The number of valid bits, and the bytes that hold them.
pub(super) fn decode(text: &str) -> Option<(u64, Vec<u8>)> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut value = 0u32;
        for char in group.iter().rev() {
            value = value << 6 | digit(*char)?;
        }
        // A single character at the end holds no byte, and crashes Intel's runtime.
        let count = group.len().checked_sub(1).filter(|count| *count > 0)?;
        bytes.extend(value.to_le_bytes().into_iter().take(count));
    }
    let (length, content) = bytes.split_at_checked(8)?;
    let bits = u64::from_le_bytes(length.try_into().ok()?);
    // Other readers would read out of bounds for a length beyond the text.
    let size = usize::try_from(bits.div_ceil(8)).ok()?;
    Some((bits, content.get(..size)?.to_vec()))
}

fn digit(char: u8) -> Option<u32> {
    let digit = match char {
        b'A'..=b'Z' => char - b'A',
        b'a'..=b'z' => char - b'a' + 26,
        b'0'..=b'9' => char - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(digit.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the runtime of oneAPI 2026.2 writes them.
    #[test]
    fn check_values() {
        for (bytes, text) in [
            (b"x86_64".as_slice(), "wAAAAAAAAAAe4YzX2QD"),
            (b"", "AAAAAAAAAAA"),
            (b"spir64-unknown-unknown", "wCAAAAAAAAwcwlmc2QTL152au92du1Sdutmbvdnb"),
            (&[6, 0, 0, 0], "gAAAAAAAAAgBAAAA"),
        ] {
            let bits = bytes.len() as u64 * 8;
            assert_eq!(encode(bits, bytes), text);
            assert_eq!(decode(text).unwrap(), (bits, bytes.to_vec()));
        }
    }

    #[test]
    fn every_length_round_trips_and_bits_are_kept() {
        for size in 0..20usize {
            let bytes: Vec<u8> = (0..size).map(|at| (at * 37 + 129) as u8).collect();
            for bits in (size.saturating_sub(1) * 8 + 1).min(size * 8)..=size * 8 {
                assert_eq!(decode(&encode(bits as u64, &bytes)), Some((bits as u64, bytes.clone())));
            }
        }
    }

    #[test]
    fn a_length_beyond_the_text_and_bad_characters_are_refused() {
        assert_eq!(decode(&encode(8, b"")), None);
        assert_eq!(decode(&encode(u64::MAX, b"abc")), None);
        for bad in ["", "A", "AAAAAAAAAA", "AAAAAAAAAAA=", "AAAAAAAAAA\u{e4}", "AAAAAAAAAAAAA"] {
            assert_eq!(decode(bad), None, "{bad:?}");
        }
    }
}
