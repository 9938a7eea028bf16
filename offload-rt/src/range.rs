//! The NDRange of a launch: its work-items and work-groups.

use crate::error::Error;

/// The most work-items of a range: more than any device runs in a lifetime, and their count fits a signed number.
const MOST_ITEMS: u64 = i64::MAX as u64;

/// The work-items and work-groups of a launch: an NDRange
/// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#_execution_model>).
///
/// ```
/// use offload_rt::NdRange;
///
/// let range = NdRange::new(&[1024, 64], &[16, 16])?;
/// assert_eq!((range.groups(), range.group_count()), ([64, 4, 1], 256));
/// assert!(NdRange::new(&[1000], &[16]).is_err());
/// // A launch over it succeeds, and runs nothing.
/// assert!(NdRange::linear(0, 256)?.is_empty());
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    dimensions: u32,
    global: [u64; 3],
    local: [u64; 3],
    /// Kept, because a launch that divides again costs three divisions.
    groups: [u64; 3],
    offset: [u64; 3],
    shared_memory: u32,
}

impl NdRange {
    /// `global` work-items in groups of `local`, in one to three dimensions. A size of `global` may be zero: a launch over
    /// such a range succeeds, and runs nothing.
    ///
    /// # Errors
    /// The dimensions differ or are none or more than three, a size of `local` is zero, `local` does not divide `global`,
    /// or there are more than 2⁶³ work-items.
    pub fn new(global: &[u64], local: &[u64]) -> Result<NdRange, Error> {
        let dimensions = u32::try_from(global.len()).unwrap_or(u32::MAX);
        if !(1..=3).contains(&dimensions) || global.len() != local.len() {
            return Err(refused(format!(
                "global size {global:?} and local size {local:?} are not of the same one to three dimensions"
            )));
        }
        let mut groups = [1; 3];
        for (groups, (global, local)) in groups.iter_mut().zip(global.iter().zip(local)) {
            *groups = whole_groups(*global, *local).ok_or_else(|| {
                refused(format!("local size {local:?} does not divide global size {global:?}"))
            })?;
        }
        let items = global.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
        let items = if global.contains(&0) { Some(0) } else { items };
        if items.is_none_or(|items| items > MOST_ITEMS) {
            return Err(refused(format!("global size {global:?} is more than 2^63 work-items")));
        }
        let global = padded(global, 1);
        let local = padded(local, 1);
        Ok(NdRange { dimensions, global, local, groups, offset: [0; 3], shared_memory: 0 })
    }

    /// At least `items` work-items in one dimension, in groups of `group`: the number is rounded up to whole groups, and
    /// the kernel compares its id with the number that it needs.
    ///
    /// ```
    /// let range = offload_rt::NdRange::linear(1000, 256)?;
    /// assert_eq!((range.global()[0], range.group_count()), (1024, 4));
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// `group` is zero, or there are more than 2⁶³ work-items.
    #[inline]
    pub fn linear(items: u64, group: u64) -> Result<NdRange, Error> {
        if group == 0 {
            return Err(no_groups(items, group));
        }
        let groups = items.div_ceil(group);
        match groups.checked_mul(group) {
            Some(global @ 0..=MOST_ITEMS) => Ok(NdRange {
                dimensions: 1,
                global: [global, 1, 1],
                local: [group, 1, 1],
                groups: [groups, 1, 1],
                offset: [0; 3],
                shared_memory: 0,
            }),
            _ => Err(no_groups(items, group)),
        }
    }

    /// The same range with ids that start at `offset`.
    ///
    /// # Errors
    /// `offset` has other dimensions than the range, or an id would pass 2⁶⁴ − 1.
    pub fn with_offset(mut self, offset: &[u64]) -> Result<NdRange, Error> {
        let ends = self.global.iter().zip(offset).all(|(size, offset)| offset.checked_add(*size).is_some());
        if offset.len() as u64 != u64::from(self.dimensions) || !ends {
            return Err(refused(format!("offset {offset:?} does not fit the global size")));
        }
        self.offset = padded(offset, 0);
        Ok(self)
    }

    /// The same range with `bytes` of shared memory for the `extern __shared__` array of a CUDA C++ or HIP C++ kernel, for each
    /// work-group.
    ///
    /// This is the third parameter of CUDA's and HIP's launches
    /// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#execution-configuration>); other devices
    /// refuse it. [`Arg::local`](crate::Arg::local) is for kernels with a local pointer argument.
    #[must_use]
    pub fn with_shared_memory(mut self, bytes: u32) -> NdRange {
        self.shared_memory = bytes;
        self
    }

    /// The number of dimensions, 1 to 3.
    #[inline]
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// Work-items in each dimension.
    #[inline]
    pub fn global(&self) -> [u64; 3] {
        self.global
    }

    /// Work-items of a work-group in each dimension.
    #[inline]
    pub fn local(&self) -> [u64; 3] {
        self.local
    }

    /// The first global id in each dimension.
    #[inline]
    pub fn offset(&self) -> [u64; 3] {
        self.offset
    }

    /// Bytes of shared memory for an `extern __shared__` array.
    #[inline]
    pub fn shared_memory(&self) -> u32 {
        self.shared_memory
    }

    /// The number of work-groups in each dimension.
    #[inline]
    pub fn groups(&self) -> [u64; 3] {
        self.groups
    }

    /// All work-groups.
    #[inline]
    pub fn group_count(&self) -> u64 {
        if self.is_empty() { 0 } else { self.groups.iter().product() }
    }

    /// Whether it has no work-items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.groups.contains(&0)
    }

    /// The work-items of one work-group.
    #[inline]
    pub fn group_size(&self) -> u64 {
        self.local.iter().product()
    }
}

/// The number of groups of `local` in `global`, if it is a multiple.
fn whole_groups(global: u64, local: u64) -> Option<u64> {
    let groups = global.checked_div(local)?;
    (groups.checked_mul(local) == Some(global)).then_some(groups)
}

fn padded(sizes: &[u64], with: u64) -> [u64; 3] {
    let mut padded = [with; 3];
    for (padded, size) in padded.iter_mut().zip(sizes) {
        *padded = *size;
    }
    padded
}

#[cold]
fn no_groups(items: u64, group: u64) -> Error {
    refused(format!("{items} work-items cannot run in groups of {group}"))
}

fn refused(problem: String) -> Error {
    Error::device("range of a launch", problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        let max = u64::MAX;
        let refused: [(&[u64], &[u64]); 9] = [
            (&[], &[]),
            (&[1, 1, 1, 1], &[1, 1, 1, 1]),
            (&[4, 4], &[4]),
            (&[0], &[0]),
            (&[4], &[0]),
            (&[6], &[4]),
            (&[max], &[1]),
            (&[1 << 32, 1 << 32], &[1, 1]),
            (&[1 << 31, 1 << 31, 4], &[1, 1, 1]),
        ];
        for (global, local) in refused {
            assert!(NdRange::new(global, local).is_err(), "{global:?} {local:?}");
        }
    }

    #[test]
    fn groups_are_counted_and_rounded_up() {
        fn groups(global: &[u64], local: &[u64]) -> [u64; 3] {
            NdRange::new(global, local).unwrap().groups()
        }
        assert_eq!(groups(&[12], &[4]), [3, 1, 1]);
        assert_eq!(groups(&[12, 6, 5], &[4, 6, 1]), [3, 1, 5]);
        for (items, group, range) in [(1, 1, Some(1)), (7, 4, Some(8)), (8, 4, Some(8)), (9, 4, Some(12))] {
            let linear = NdRange::linear(items, group).ok();
            assert_eq!(linear, range.map(|global| NdRange::new(&[global], &[group]).unwrap()));
        }
        for (items, group) in [(4, 0), (0, 0), (u64::MAX, 2), (1 << 63, 1), (1, u64::MAX)] {
            assert!(NdRange::linear(items, group).is_err(), "{items} {group}");
        }
    }

    #[test]
    fn a_range_may_be_empty() {
        let max = u64::MAX;
        for (global, local) in [
            (&[0][..], &[64][..]),
            (&[0, 8], &[4, 4]),
            (&[8, 0, 8], &[1, 2, 4]),
            (&[max, max, 0], &[1, 1, 1]),
        ] {
            let range = NdRange::new(global, local).unwrap();
            assert!(range.is_empty() && range.group_count() == 0, "{global:?} {local:?}");
        }
        assert_eq!(NdRange::linear(0, 64).unwrap(), NdRange::new(&[0], &[64]).unwrap());
        assert!(!NdRange::linear(1, 64).unwrap().is_empty());
    }

    #[test]
    fn offsets_are_checked() {
        let range = NdRange::new(&[8, 8], &[4, 2]).unwrap();
        assert_eq!(range.with_offset(&[1, 2]).unwrap().offset(), [1, 2, 0]);
        assert!(range.with_offset(&[1]).is_err());
        assert!(range.with_offset(&[0, u64::MAX - 7]).is_err());
    }
}
