//! Records by columns: the first bytes of all, then the second ones, and so on. A compressor finds more in them.

/// `from`, rows of `row` bytes, column by column; `columns` are the bytes of a column.
pub(crate) fn transpose(from: &[u8], to: &mut [u8], (row, columns): (usize, usize)) {
    let mut out = to.iter_mut();
    for column in 0..row {
        let bytes = from.iter().skip(column).step_by(row.max(1)).take(columns);
        out.by_ref().zip(bytes).for_each(|(slot, byte)| *slot = *byte);
    }
}
