//! The checksum in the header of a PE file.

use std::fs::File;
use std::io::{self, BufReader, Read};

/// Bytes that are read at a time.
const PART: usize = 64 << 10;

/// The checksum of a PE file, whose field for it is at `field`: the sum of its words with the carries, and its size
/// (`CheckSumMappedFile`,
/// <https://learn.microsoft.com/en-us/windows/win32/api/imagehlp/nf-imagehlp-checksummappedfile>).
pub(super) fn checksum(file: &File, field: u64) -> io::Result<u32> {
    let mut reader = BufReader::with_capacity(PART, file);
    let mut sum = 0u32;
    let mut size = 0u64;
    let mut low = None;
    let mut buffer = vec![0; PART];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        for byte in buffer.iter().take(count) {
            let is_own = size >= field && size < field.saturating_add(4);
            let byte = if is_own { 0 } else { *byte };
            size = size.saturating_add(1);
            match low.take() {
                None => low = Some(byte),
                Some(low) => sum = add(sum, u16::from_le_bytes([low, byte])),
            }
        }
    }
    sum = low.map_or(sum, |low| add(sum, low.into()));
    Ok(sum.saturating_add(u32::try_from(size).unwrap_or(u32::MAX)))
}

fn add(sum: u32, word: u16) -> u32 {
    let sum = sum.saturating_add(word.into());
    (sum & 0xffff).saturating_add(sum >> 16)
}
