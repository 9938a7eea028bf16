//! Release of a mapped file's memory during a search.

/// The memory of a mapped file.
pub trait Memory {
    /// Releases the pages of `bytes`; a later access reads them again from the file.
    fn release(&self, bytes: &[u8]);
}
