//! The memory that a file takes while it is searched.

/// What holds the bytes of a file.
pub trait Memory {
    /// Lets `bytes` of the file go from memory: whoever looks at them again has them read again.
    fn release(&self, bytes: &[u8]);
}
