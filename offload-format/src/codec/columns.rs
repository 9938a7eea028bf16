//! Byte transposition of tables, which makes them compress better: the first bytes of all records, then the second bytes,
//! and so on.

/// The shape of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Bytes of a row.
    pub(crate) row: usize,
    /// Number of rows.
    pub(crate) rows: usize,
}

impl Shape {
    /// The shape of the transposed table.
    pub(crate) fn transposed(self) -> Shape {
        Shape { row: self.rows, rows: self.row }
    }
}

/// The bytes of a word, and the words of a tile.
const WORD: usize = 8;

/// Transposes `from`, a table of this shape, to `to`.
pub(crate) fn transpose(from: &[u8], to: &mut [u8], shape: Shape) {
    let Shape { row, rows } = shape;
    // A record may claim any number of empty rows.
    if row == 0 {
        return;
    }
    let whole_row = row / WORD * WORD;
    let whole_rows = rows / WORD * WORD;
    for first_row in (0..whole_rows).step_by(WORD) {
        for column in (0..whole_row).step_by(WORD) {
            let start = first_row * row + column;
            let words = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| word(from, start + number * row));
            for (number, word) in transpose_tile(words).into_iter().enumerate() {
                set_word(to, (column + number) * rows + first_row, word);
            }
        }
    }
    // The remainder to the right and below.
    for at in 0..rows {
        let first = if at < whole_rows { whole_row } else { 0 };
        for column in first..row {
            if let (Some(slot), Some(byte)) = (to.get_mut(column * rows + at), from.get(at * row + column)) {
                *slot = *byte;
            }
        }
    }
}

/// Transposes a tile of eight words: halves are swapped, then quarters, then bytes.
fn transpose_tile([a, b, c, d, e, f, g, h]: [u64; WORD]) -> [u64; WORD] {
    const HALF: u64 = 0x0000_0000_ffff_ffff;
    const QUARTER: u64 = 0x0000_ffff_0000_ffff;
    const BYTE: u64 = 0x00ff_00ff_00ff_00ff;
    let [a, e] = delta_swap::<32, HALF>([a, e]);
    let [b, f] = delta_swap::<32, HALF>([b, f]);
    let [c, g] = delta_swap::<32, HALF>([c, g]);
    let [d, h] = delta_swap::<32, HALF>([d, h]);
    let [a, c] = delta_swap::<16, QUARTER>([a, c]);
    let [b, d] = delta_swap::<16, QUARTER>([b, d]);
    let [e, g] = delta_swap::<16, QUARTER>([e, g]);
    let [f, h] = delta_swap::<16, QUARTER>([f, h]);
    let [a, b] = delta_swap::<8, BYTE>([a, b]);
    let [c, d] = delta_swap::<8, BYTE>([c, d]);
    let [e, f] = delta_swap::<8, BYTE>([e, f]);
    let [g, h] = delta_swap::<8, BYTE>([g, h]);
    [a, b, c, d, e, f, g, h]
}

/// Swaps the bits `BITS` above `MASK` of the first word with those in `MASK` of the second.
fn delta_swap<const BITS: u32, const MASK: u64>([first, second]: [u64; 2]) -> [u64; 2] {
    let delta = ((first >> BITS) ^ second) & MASK;
    [first ^ delta << BITS, second ^ delta]
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn set_word(bytes: &mut [u8], at: usize, word: u64) {
    if let Some(slot) = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *slot = word.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_goes_to_its_column() {
        for (row, rows) in [(1, 1), (8, 8), (16, 24), (7, 9), (9, 7), (128, 50), (96, 3), (32, 1), (3, 100)] {
            let from: Vec<u8> = (0..row * rows).map(|at| (at * 7 % 251) as u8).collect();
            let shape = Shape { row, rows };
            let mut columns = vec![0; from.len()];
            transpose(&from, &mut columns, shape);
            for (at, byte) in from.iter().enumerate() {
                assert_eq!(columns[at % row * rows + at / row], *byte, "{row} x {rows}: {at}");
            }
            let mut back = vec![0; from.len()];
            transpose(&columns, &mut back, shape.transposed());
            assert_eq!(back, from, "{row} x {rows}");
        }
    }

    #[test]
    fn tables_that_do_not_fit_their_shape_are_cut() {
        let mut to = [0xff; 4];
        transpose(&[1, 2, 3, 4], &mut to, Shape { row: 0, rows: usize::MAX });
        transpose(&[], &mut [], Shape { row: 9, rows: 9 });
        assert_eq!(to, [0xff; 4]);
    }
}
