//! The NDRange of a launch: its work-items and work-groups.

/// The most work-items of a range: more than any device runs in a lifetime, and their count fits a signed number.
const MAX_ITEMS: usize = isize::MAX as usize;

/// The work-items and work-groups of a launch: an NDRange
/// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#_execution_model>).
///
/// The global size is in work-items, for every device and language. CUDA's and HIP's grid is
/// [`groups`](NdRange::groups), the global size divided by the local size.
///
/// Making a range does not fail. A launch over a range whose local size has a zero fails, and one over a range whose local
/// size does not divide the global size, unless it is made by [`uneven`](NdRange::uneven).
///
/// ```
/// use offload_rt::NdRange;
///
/// let range = NdRange::new([1024, 64], [16, 16]);
/// assert_eq!((range.groups(), range.group_count()), ([64, 4, 1], 256));
/// // A launch over it succeeds, and runs nothing.
/// assert!(NdRange::new([0], [256]).is_empty());
/// ```
///
/// ```compile_fail
/// // A range has one to three dimensions, the same in both sizes.
/// let range = offload_rt::NdRange::new([1024, 64], [16]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    dimensions: u32,
    global: [usize; 3],
    local: [usize; 3],
    /// Kept, because a launch that divides again costs three divisions.
    groups: [usize; 3],
    offset: [usize; 3],
    shared_memory: u32,
    mode: LaunchMode,
    /// Whether the last groups of a dimension are smaller.
    is_uneven: bool,
    refusal: Option<RangeRefusal>,
}

/// What a launch asks for beside its work-items; only some devices have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchMode {
    /// All work-groups run at the same time.
    pub(crate) is_cooperative: bool,
    /// Work-groups of a cluster in each dimension.
    pub(crate) cluster: Option<[u32; 3]>,
    /// The work before it in the stream need not have ended.
    pub(crate) is_dependent: bool,
}

#[allow(dead_code, reason = "a program without back ends launches nothing")]
impl LaunchMode {
    /// Whether it asks for nothing.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        !self.is_cooperative && self.cluster.is_none() && !self.is_dependent
    }
}

/// The reason why no device launches a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RangeRefusal {
    /// The local size has a zero, or does not divide the global size.
    Indivisible,
    /// More work-items than [`MAX_ITEMS`].
    TooLarge,
    /// [`NdRange::linear_at_least`] cannot round the work-items up to whole groups.
    Linear,
    /// The offset has this number of dimensions, and another one than the range, or an id would overflow.
    Offset { dimensions: u32 },
    /// The cluster has this number of dimensions, and another one than the range, or does not divide its work-groups.
    Cluster { dimensions: u32 },
}

/// The sizes of one to three dimensions; implemented for arrays of `usize`.
#[diagnostic::on_unimplemented(message = "a range has one to three dimensions")]
pub trait Dimensions: sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for [usize; 1] {}
impl sealed::Sealed for [usize; 2] {}
impl sealed::Sealed for [usize; 3] {}
impl Dimensions for [usize; 1] {}
impl Dimensions for [usize; 2] {}
impl Dimensions for [usize; 3] {}

impl NdRange {
    /// `global` work-items in groups of `local`, in one to three dimensions. A size of `global` may be zero: a launch over
    /// such a range succeeds, and runs nothing.
    ///
    /// A launch fails if a size of `local` is zero, if `local` does not divide `global`, or over more than 2⁶³
    /// work-items.
    #[must_use]
    pub fn new<const D: usize>(global: [usize; D], local: [usize; D]) -> NdRange
    where
        [usize; D]: Dimensions,
    {
        let range = NdRange::uneven(global, local);
        if range.is_uneven {
            NdRange { is_uneven: false, refusal: Some(RangeRefusal::Indivisible), ..range }
        } else {
            range
        }
    }

    /// `global` work-items in groups of `local`, in one to three dimensions. Where `local` does not divide `global`, the last
    /// groups of that dimension are smaller: no work-item is beyond `global`. There `get_local_size` is the size of the
    /// smaller group, and `get_enqueued_local_size` is `local`
    /// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#_mapping_work_items_onto_an_ndrange>).
    ///
    /// The host CPU launches such a range, and OpenCL devices with non-uniform work-groups, for kernels in OpenCL C 2.0 or
    /// later. CUDA, HIP, other OpenCL devices, and kernels with a required size of work-groups refuse it unless `local`
    /// divides `global`: their error names the range that fits.
    ///
    /// ```
    /// let range = offload_rt::NdRange::uneven([1000], [256]);
    /// assert_eq!((range.global()[0], range.group_count()), (1000, 4));
    /// assert!(range.is_uneven() && !offload_rt::NdRange::uneven([1024], [256]).is_uneven());
    /// ```
    ///
    /// A launch fails if a size of `local` is zero, or over more than 2⁶³ work-items.
    #[must_use]
    pub fn uneven<const D: usize>(global: [usize; D], local: [usize; D]) -> NdRange
    where
        [usize; D]: Dimensions,
    {
        let mut groups = [1; 3];
        let mut is_uneven = false;
        for (groups, (global, local)) in groups.iter_mut().zip(global.iter().zip(&local)) {
            is_uneven |= global.checked_rem(*local).is_some_and(|rest| rest != 0);
            *groups = if *local == 0 { 0 } else { global.div_ceil(*local) };
        }
        let items = global.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
        let items = if global.contains(&0) { Some(0) } else { items };
        let refusal = if local.contains(&0) {
            Some(RangeRefusal::Indivisible)
        } else if items.is_none_or(|items| items > MAX_ITEMS) {
            Some(RangeRefusal::TooLarge)
        } else {
            None
        };
        NdRange {
            dimensions: D as u32,
            global: padded(&global, 1),
            local: padded(&local, 1),
            groups,
            offset: [0; 3],
            shared_memory: 0,
            mode: LaunchMode::default(),
            is_uneven: is_uneven && refusal.is_none(),
            refusal,
        }
    }

    /// At least `items` work-items in one dimension, in groups of `group`: the number is rounded up to whole groups, and
    /// the kernel compares its id with the number that it needs.
    ///
    /// ```
    /// let range = offload_rt::NdRange::linear_at_least(1000, 256);
    /// assert_eq!((range.global()[0], range.group_count()), (1024, 4));
    /// ```
    ///
    /// A launch fails if `group` is zero, or over more than 2⁶³ work-items.
    #[inline]
    #[must_use]
    pub fn linear_at_least(items: usize, group: usize) -> NdRange {
        let groups = if group == 0 { 0 } else { items.div_ceil(group) };
        let global = groups.checked_mul(group).filter(|global| *global <= MAX_ITEMS && group != 0);
        NdRange {
            dimensions: 1,
            global: [global.unwrap_or(items), 1, 1],
            local: [group, 1, 1],
            groups: [groups, 1, 1],
            offset: [0; 3],
            shared_memory: 0,
            mode: LaunchMode::default(),
            is_uneven: false,
            refusal: if global.is_none() { Some(RangeRefusal::Linear) } else { None },
        }
    }

    /// The same range with ids that start at `offset`, which has the dimensions of the range: otherwise, and if an id
    /// overflows, a launch fails.
    #[must_use]
    pub fn with_offset<const D: usize>(mut self, offset: [usize; D]) -> NdRange
    where
        [usize; D]: Dimensions,
    {
        let dimensions = D as u32;
        let ends = self.global.iter().zip(&offset).all(|(size, offset)| offset.checked_add(*size).is_some());
        self.offset = padded(&offset, 0);
        if matches!(self.refusal, None | Some(RangeRefusal::Offset { .. })) {
            let fits = dimensions == self.dimensions && ends;
            self.refusal = if fits { None } else { Some(RangeRefusal::Offset { dimensions }) };
        }
        self
    }

    /// The same range with `bytes` of shared memory for the `extern __shared__` array of a CUDA C++ or HIP C++ kernel, for each
    /// work-group.
    ///
    /// This is the third parameter of CUDA's and HIP's launches
    /// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#execution-configuration>). The
    /// host CPU has it for CUDA C++, and other devices refuse it. [`KernelArg::local`](crate::KernelArg::local) is for kernels with a local pointer argument.
    #[must_use]
    pub fn with_shared_memory(mut self, bytes: u32) -> NdRange {
        self.shared_memory = bytes;
        self
    }

    /// The same range for a cooperative launch: all work-groups run at the same time, so that they may wait for each other,
    /// as by `grid.sync()` of CUDA's and HIP's cooperative groups
    /// (<https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/cooperative-groups.html>).
    ///
    /// A launch of more groups than the device has room for fails;
    /// [`Kernel::max_cooperative_groups`](crate::Kernel::max_cooperative_groups) tells how many those are. OpenCL devices and
    /// the host CPU refuse it.
    #[must_use]
    pub fn cooperative(mut self) -> NdRange {
        self.mode.is_cooperative = true;
        self
    }

    /// The same range with work-groups in clusters of `groups`, which share their local memory and can wait for each other:
    /// thread-block clusters of NVIDIA GPUs since sm_90
    /// (<https://docs.nvidia.com/cuda/cuda-programming-guide/01-introduction/programming-model.html>).
    ///
    /// A cluster has the dimensions of the range, and divides its groups: otherwise a launch fails. Every GPU with clusters
    /// has room for 8 groups in one, some for 16. Devices without them refuse it. A kernel that was compiled for clusters
    /// of one size (`__cluster_dims__`) has them without this.
    ///
    /// ```
    /// let range = offload_rt::NdRange::new([1024, 64], [256, 1]).with_cluster([2, 4]);
    /// assert_eq!(range.cluster(), Some([2, 4, 1]));
    /// ```
    #[must_use]
    pub fn with_cluster<const D: usize>(mut self, groups: [u32; D]) -> NdRange
    where
        [usize; D]: Dimensions,
    {
        let mut cluster = [1; 3];
        for (size, given) in cluster.iter_mut().zip(&groups) {
            *size = *given;
        }
        let divides = |(groups, size): (&usize, &u32)| groups.checked_rem(*size as usize) == Some(0);
        let dimensions = D as u32;
        self.mode.cluster = Some(cluster);
        if matches!(self.refusal, None | Some(RangeRefusal::Cluster { .. })) {
            let fits = dimensions == self.dimensions && self.groups.iter().zip(&cluster).all(divides);
            self.refusal = if fits { None } else { Some(RangeRefusal::Cluster { dimensions }) };
        }
        self
    }

    /// The same range for a programmatic dependent launch: the kernel may start before the work before it in the stream has
    /// ended, and waits for that itself, with `griddepcontrol.wait` of PTX (`cudaGridDependencySynchronize`)
    /// (<https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/programmatic-dependent-launch.html>).
    ///
    /// NVIDIA GPUs have it since sm_90. Other devices refuse it, and so do graphs.
    #[must_use]
    pub fn programmatic_dependent(mut self) -> NdRange {
        self.mode.is_dependent = true;
        self
    }

    /// Whether all work-groups run at the same time.
    #[inline]
    pub fn is_cooperative(&self) -> bool {
        self.mode.is_cooperative
    }

    /// Work-groups of a cluster in each dimension.
    #[inline]
    pub fn cluster(&self) -> Option<[u32; 3]> {
        self.mode.cluster
    }

    #[inline]
    #[allow(dead_code, reason = "as above")]
    pub(crate) fn mode(&self) -> &LaunchMode {
        &self.mode
    }

    /// The number of dimensions, 1 to 3.
    #[inline]
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// Work-items in each dimension.
    #[inline]
    pub fn global(&self) -> [usize; 3] {
        self.global
    }

    /// Work-items of a work-group in each dimension.
    #[inline]
    pub fn local(&self) -> [usize; 3] {
        self.local
    }

    /// The first global id in each dimension.
    #[inline]
    pub fn offset(&self) -> [usize; 3] {
        self.offset
    }

    /// Bytes of shared memory for an `extern __shared__` array.
    #[inline]
    pub fn shared_memory(&self) -> u32 {
        self.shared_memory
    }

    /// The number of work-groups in each dimension; 0 for a local size of 0.
    #[inline]
    pub fn groups(&self) -> [usize; 3] {
        self.groups
    }

    /// All work-groups.
    #[inline]
    pub fn group_count(&self) -> usize {
        if self.is_empty() { 0 } else { product(self.groups) }
    }

    /// Whether the last groups of a dimension are smaller than [`local`](NdRange::local).
    #[inline]
    pub fn is_uneven(&self) -> bool {
        self.is_uneven
    }

    /// The work-items of the group at `group`, of which the last ones of an uneven range are smaller.
    #[cfg(all(feature = "host", any(unix, windows)))]
    pub(crate) fn local_at(&self, group: [u64; 3]) -> [u64; 3] {
        let mut sizes = widened(self.local);
        for ((size, global), number) in sizes.iter_mut().zip(widened(self.global)).zip(group) {
            let before = number.saturating_mul(*size);
            *size = global.saturating_sub(before).min(*size);
        }
        sizes
    }

    /// The expression of a range of whole groups with at least the work-items of this one.
    #[cold]
    pub(crate) fn fitting(&self) -> String {
        let mut global = self.global;
        for (global, (groups, local)) in global.iter_mut().zip(self.groups.iter().zip(&self.local)) {
            *global = groups.saturating_mul(*local);
        }
        let global = in_dimensions(&global, self.dimensions);
        let local = in_dimensions(&self.local, self.dimensions);
        format!("NdRange::new({global:?}, {local:?})")
    }

    /// What to do where a range of whole groups is needed, and this is none.
    #[cold]
    pub(crate) fn fitting_hint(&self) -> String {
        format!("launch `{}`, and return from work-items beyond the data in the kernel", self.fitting())
    }

    /// What to do about the [`refusal`](NdRange::refusal).
    #[cold]
    pub(crate) fn refusal_hint(&self) -> Option<String> {
        if self.refusal != Some(RangeRefusal::Indivisible) || self.local.contains(&0) {
            return None;
        }
        Some(format!(
            "{}; `NdRange::uneven` has smaller last groups, on the host CPU and OpenCL devices that have them",
            self.fitting_hint()
        ))
    }

    /// Whether it has no work-items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.global.contains(&0)
    }

    /// The work-items of one work-group.
    #[inline]
    pub fn group_size(&self) -> usize {
        product(self.local)
    }

    /// Whether a device may launch it.
    #[inline]
    pub(crate) fn is_valid(&self) -> bool {
        self.refusal.is_none()
    }

    /// Why no device launches it.
    #[cold]
    pub(crate) fn refusal(&self) -> Option<String> {
        let global = in_dimensions(&self.global, self.dimensions);
        let local = in_dimensions(&self.local, self.dimensions);
        Some(match self.refusal? {
            RangeRefusal::Indivisible => {
                format!("local size {local:?} does not divide global size {global:?}")
            }
            RangeRefusal::TooLarge => format!("global size {global:?} is more than 2^63 work-items"),
            RangeRefusal::Linear => {
                let [items, ..] = self.global;
                let [group, ..] = self.local;
                format!("{items} work-items cannot run in groups of {group}")
            }
            RangeRefusal::Offset { dimensions } => {
                let offset = in_dimensions(&self.offset, dimensions);
                format!("offset {offset:?} does not fit the global size {global:?}")
            }
            RangeRefusal::Cluster { dimensions } => {
                let cluster = self.mode.cluster.unwrap_or_default().map(|size| size as usize);
                let cluster = in_dimensions(&cluster, dimensions);
                let groups = in_dimensions(&self.groups, self.dimensions);
                format!("clusters of {cluster:?} work-groups do not divide {groups:?} work-groups")
            }
        })
    }
}

fn product([x, y, z]: [usize; 3]) -> usize {
    x.saturating_mul(y).saturating_mul(z)
}

/// The sizes as kernels of the target `host` and limits of drivers have them.
#[cfg(any(all(feature = "host", any(unix, windows)), feature = "opencl"))]
pub(crate) fn widened(sizes: [usize; 3]) -> [u64; 3] {
    sizes.map(|size| size as u64)
}

fn in_dimensions(sizes: &[usize; 3], dimensions: u32) -> &[usize] {
    sizes.get(..dimensions as usize).unwrap_or(sizes)
}

fn padded(sizes: &[usize], with: usize) -> [usize; 3] {
    let mut padded = [with; 3];
    for (padded, size) in padded.iter_mut().zip(sizes) {
        *padded = *size;
    }
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        let max = usize::MAX;
        let refused = [
            NdRange::new([0], [0]),
            NdRange::new([4], [0]),
            NdRange::new([6], [4]),
            NdRange::new([4, 6], [4, 4]),
            NdRange::new([max], [1]),
            NdRange::new([1 << 32, 1 << 32], [1, 1]),
            NdRange::new([1 << 31, 1 << 31, 4], [1, 1, 1]),
        ];
        for range in refused {
            assert!(!range.is_valid() && range.refusal().is_some(), "{range:?}");
        }
        let refusal = NdRange::new([6], [4]).refusal().unwrap();
        assert_eq!(refusal, "local size [4] does not divide global size [6]");
    }

    #[test]
    fn last_groups_of_uneven_ranges_are_smaller() {
        let range = NdRange::uneven([10, 6], [4, 3]);
        assert!(range.is_valid() && range.is_uneven());
        assert_eq!((range.groups(), range.group_count()), ([3, 2, 1], 6));
        assert_eq!(range.fitting(), "NdRange::new([12, 6], [4, 3])");
        #[cfg(all(feature = "host", any(unix, windows)))]
        assert_eq!((range.local_at([1, 1, 0]), range.local_at([2, 0, 0])), ([4, 3, 1], [2, 3, 1]));
        assert_eq!(NdRange::uneven([12, 6], [4, 3]), NdRange::new([12, 6], [4, 3]));
        for refused in [NdRange::uneven([4], [0]), NdRange::uneven([usize::MAX], [2])] {
            assert!(!refused.is_valid() && !refused.is_uneven(), "{refused:?}");
        }
        let hint = NdRange::new([10, 6], [4, 3]).refusal_hint().unwrap();
        assert!(hint.contains("NdRange::new([12, 6], [4, 3])"), "{hint}");
        assert_eq!(NdRange::new([4], [0]).refusal_hint(), None);
    }

    #[test]
    fn groups_are_counted_and_rounded_up() {
        assert_eq!(NdRange::new([12], [4]).groups(), [3, 1, 1]);
        assert_eq!(NdRange::new([12, 6, 5], [4, 6, 1]).groups(), [3, 1, 5]);
        for (items, group, global) in [(1, 1, 1), (7, 4, 8), (8, 4, 8), (9, 4, 12)] {
            assert_eq!(NdRange::linear_at_least(items, group), NdRange::new([global], [group]));
        }
        for (items, group) in [(4, 0), (0, 0), (usize::MAX, 2), (1 << 63, 1), (1, usize::MAX)] {
            let range = NdRange::linear_at_least(items, group);
            let refusal = format!("{items} work-items cannot run in groups of {group}");
            assert_eq!((range.is_valid(), range.refusal()), (false, Some(refusal)));
        }
    }

    #[test]
    fn a_range_may_be_empty() {
        let max = usize::MAX;
        for range in [
            NdRange::new([0], [64]),
            NdRange::new([0, 8], [4, 4]),
            NdRange::new([8, 0, 8], [1, 2, 4]),
            NdRange::new([max, max, 0], [1, 1, 1]),
        ] {
            assert!(range.is_valid() && range.is_empty() && range.group_count() == 0, "{range:?}");
        }
        assert_eq!(NdRange::linear_at_least(0, 64), NdRange::new([0], [64]));
        assert!(!NdRange::linear_at_least(1, 64).is_empty());
    }

    #[test]
    fn offsets_are_checked() {
        let range = NdRange::new([8, 8], [4, 2]);
        let moved = range.with_offset([1, 2]);
        assert_eq!((moved.offset(), moved.is_valid()), ([1, 2, 0], true));
        let refusal = range.with_offset([1]).refusal().unwrap();
        assert_eq!(refusal, "offset [1] does not fit the global size [8, 8]");
        let overflow = range.with_offset([0, usize::MAX - 7]);
        assert!(!overflow.is_valid() && overflow.with_offset([1, 2]).is_valid());
    }

    #[test]
    fn clusters_are_checked() {
        let range = NdRange::new([8, 8], [2, 4]);
        assert!(range.mode().is_plain());
        let clusters = range.with_cluster([2, 1]);
        assert!(clusters.is_valid() && !clusters.mode().is_plain() && !clusters.is_cooperative());
        let refusal = range.with_cluster([3, 1]).refusal().unwrap();
        assert_eq!(refusal, "clusters of [3, 1] work-groups do not divide [4, 2] work-groups");
        assert!(!range.with_cluster([2]).is_valid() && !range.with_cluster([0, 1]).is_valid());
        assert!(range.with_cluster([0, 1]).with_cluster([4, 2]).is_valid());
        assert!(range.cooperative().is_cooperative() && !range.programmatic_dependent().mode().is_plain());
    }
}
