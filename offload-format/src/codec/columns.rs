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

/// `from`, a table of this shape, column by column.
pub(crate) fn transpose(from: &[u8], to: &mut [u8], shape: Shape) {
    let mut out = to.iter_mut();
    for column in 0..shape.row {
        let bytes = from.iter().skip(column).step_by(shape.row.max(1)).take(shape.rows);
        out.by_ref().zip(bytes).for_each(|(slot, byte)| *slot = *byte);
    }
}
