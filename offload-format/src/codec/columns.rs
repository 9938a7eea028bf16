//! Records by columns: the first bytes of all, then the second ones, and so on. A compressor finds more in them.

/// The shape of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Bytes of a row.
    pub(crate) row: usize,
    /// How many rows there are.
    pub(crate) rows: usize,
}

impl Shape {
    /// The shape of the same bytes column by column.
    pub(crate) fn turned(self) -> Shape {
        Shape { row: self.rows, rows: self.row }
    }
}

/// So many bytes are a word; so many words are turned at a time.
const WORD: usize = 8;

/// `from`, a table of this shape, column by column.
pub(crate) fn transpose(from: &[u8], to: &mut [u8], shape: Shape) {
    let Shape { row, rows } = shape;
    // Rows of no bytes, of which a record may claim any number.
    if row == 0 {
        return;
    }
    let (whole_row, whole_rows) = (row / WORD * WORD, rows / WORD * WORD);
    for first_row in (0..whole_rows).step_by(WORD) {
        for column in (0..whole_row).step_by(WORD) {
            let start = first_row * row + column;
            let words = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| word(from, start + number * row));
            for (number, word) in turned(words).into_iter().enumerate() {
                set_word(to, (column + number) * rows + first_row, word);
            }
        }
    }
    // What is left at the right, and below.
    for at in 0..rows {
        let first = if at < whole_rows { whole_row } else { 0 };
        for column in first..row {
            if let (Some(slot), Some(byte)) = (to.get_mut(column * rows + at), from.get(at * row + column)) {
                *slot = *byte;
            }
        }
    }
}

/// Eight words as the rows of a table: those of its columns. Halves are exchanged, then quarters, then bytes.
fn turned([a, b, c, d, e, f, g, h]: [u64; WORD]) -> [u64; WORD] {
    const HALF: u64 = 0x0000_0000_ffff_ffff;
    const QUARTER: u64 = 0x0000_ffff_0000_ffff;
    const BYTE: u64 = 0x00ff_00ff_00ff_00ff;
    let ([a, e], [b, f]) = (exchanged::<32, HALF>([a, e]), exchanged::<32, HALF>([b, f]));
    let ([c, g], [d, h]) = (exchanged::<32, HALF>([c, g]), exchanged::<32, HALF>([d, h]));
    let ([a, c], [b, d]) = (exchanged::<16, QUARTER>([a, c]), exchanged::<16, QUARTER>([b, d]));
    let ([e, g], [f, h]) = (exchanged::<16, QUARTER>([e, g]), exchanged::<16, QUARTER>([f, h]));
    let ([a, b], [c, d]) = (exchanged::<8, BYTE>([a, b]), exchanged::<8, BYTE>([c, d]));
    let ([e, f], [g, h]) = (exchanged::<8, BYTE>([e, f]), exchanged::<8, BYTE>([g, h]));
    [a, b, c, d, e, f, g, h]
}

/// The bits of the first word that are `BITS` above `MASK`, exchanged for those of the second one within it.
fn exchanged<const BITS: u32, const MASK: u64>([first, second]: [u64; 2]) -> [u64; 2] {
    let differ = ((first >> BITS) ^ second) & MASK;
    [first ^ differ << BITS, second ^ differ]
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
            let (shape, mut columns) = (Shape { row, rows }, vec![0; from.len()]);
            transpose(&from, &mut columns, shape);
            for (at, byte) in from.iter().enumerate() {
                assert_eq!(columns[at % row * rows + at / row], *byte, "{row} x {rows}: {at}");
            }
            let mut back = vec![0; from.len()];
            transpose(&columns, &mut back, shape.turned());
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
