//! Resource limits for reading untrusted files: inflated sizes, record counts, nesting.

use crate::{Error, ErrorKind};

/// The limits of one call; every reader of a foreign format takes them.
///
/// ```
/// use offload_format::Limits;
///
/// let limits = Limits::default().with_raw_bytes(64 << 20);
/// assert_eq!((limits.raw_bytes, limits.depth), (64 << 20, 8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The sum of what one call may inflate, in bytes.
    pub raw_bytes: u64,
    /// The most records of a table.
    pub entries: u64,
    /// The deepest nesting of containers.
    pub depth: u32,
    /// The highest compression ratio of data above [`Limits::any_ratio`].
    pub ratio: u64,
    /// The size in bytes up to which any compression ratio is accepted.
    pub any_ratio: u64,
}

impl Default for Limits {
    /// 4 GiB, 1,048,576 records, 8 containers, a ratio of 128, 8 MiB.
    ///
    /// At a ratio of 128, one MiB of a file is inflated, hashed with MD5 and written in less than 400 ms of CPU time; at
    /// 256, MD5 alone takes that long.
    fn default() -> Limits {
        Limits { raw_bytes: 4 << 30, entries: 1 << 20, depth: 8, ratio: 128, any_ratio: 8 << 20 }
    }
}

impl Limits {
    /// For files that the caller has written itself: only the inflated size is limited.
    pub fn trusting() -> Limits {
        Limits { ratio: u64::MAX, any_ratio: u64::MAX, ..Limits::default() }
    }

    /// These limits with another inflated size.
    #[must_use]
    pub fn with_raw_bytes(self, raw_bytes: u64) -> Limits {
        Limits { raw_bytes, ..self }
    }

    /// These limits with another number of records.
    #[must_use]
    pub fn with_entries(self, entries: u64) -> Limits {
        Limits { entries, ..self }
    }

    /// These limits with another depth.
    #[must_use]
    pub fn with_depth(self, depth: u32) -> Limits {
        Limits { depth, ..self }
    }

    /// These limits with another ratio.
    #[must_use]
    pub fn with_ratio(self, ratio: u64) -> Limits {
        Limits { ratio, ..self }
    }

    /// These limits with another size up to which any ratio is accepted.
    #[must_use]
    pub fn with_any_ratio(self, any_ratio: u64) -> Limits {
        Limits { any_ratio, ..self }
    }

    /// The most bytes that `compressed` ones may inflate to, in one piece or in many.
    ///
    /// ```
    /// use offload_format::Limits;
    ///
    /// let limits = Limits::default().with_ratio(100).with_any_ratio(5000);
    /// assert_eq!((limits.allowance(10), limits.allowance(1000)), (5000, 100_000));
    /// ```
    pub fn allowance(&self, compressed: u64) -> u64 {
        compressed.saturating_mul(self.ratio).max(self.any_ratio)
    }

    /// Returns `declared` if `compressed` bytes may inflate to that size.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] with the name `what`.
    pub fn inflated(&self, what: &'static str, declared: u64, compressed: u64) -> Result<u64, Error> {
        let limit = self.allowance(compressed).min(self.raw_bytes);
        if declared <= limit {
            return Ok(declared);
        }
        Err(ErrorKind::TooLarge { what, size: declared, limit }.into())
    }

    /// Returns `count` if it is within the limit of records. `what` names the table in the error.
    ///
    /// # Errors
    /// [`ErrorKind::TooMany`].
    pub fn records(&self, what: &'static str, count: u64) -> Result<u64, Error> {
        if count <= self.entries {
            return Ok(count);
        }
        Err(ErrorKind::TooMany { what, count, limit: self.entries }.into())
    }
}

/// A budget of bytes for following references. Many records of a file may refer to the same bytes: without a budget,
/// following all of them takes time and memory quadratic in the size of the file.
#[derive(Debug)]
pub struct Budget {
    what: &'static str,
    limit: u64,
    left: u64,
}

impl Budget {
    /// 1 MiB and eight times the size of the file. `what` names the data in the error.
    pub fn for_file(what: &'static str, size: u64) -> Budget {
        let limit = size.saturating_mul(8).saturating_add(1 << 20);
        Budget::new(what, limit)
    }

    /// A budget of `limit` bytes. `what` names the data in the error.
    pub fn new(what: &'static str, limit: u64) -> Budget {
        Budget { what, limit, left: limit }
    }

    /// Takes `bytes` from it.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] when less is left.
    pub fn spend(&mut self, bytes: u64) -> Result<(), Error> {
        let left = self.left.checked_sub(bytes);
        let size = self.limit.saturating_sub(self.left).saturating_add(bytes);
        self.left = left.ok_or(ErrorKind::TooLarge { what: self.what, size, limit: self.limit })?;
        Ok(())
    }
}

/// Appends `item`, growing the list by a quarter: doubling would take more memory than small records have bytes.
pub fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 4 + 8);
    }
    list.push(item);
}
