//! Launch limits of a device, and the grid of thread blocks for a range.

use crate::backend::uneven_range;
use crate::error::Problem;
use crate::properties::DeviceProperties;
use crate::range::NdRange;

/// The limits of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// `CUDA` or `HIP`, for messages.
    pub(crate) interface: &'static str,
    /// Threads of a block in each dimension.
    pub(crate) block: [u32; 3],
    /// Blocks of a grid in each dimension.
    pub(crate) grid: [u32; 3],
    /// Threads of a grid in each dimension, if they are limited beside its blocks.
    pub(crate) global: Option<u32>,
    /// Bytes of shared memory that a block gets without opting in.
    pub(crate) shared: u32,
    /// Bytes of shared memory that a block can opt in to.
    pub(crate) shared_opt_in: u32,
    /// Threads that run in step: those of a warp or a wavefront.
    pub(crate) sub_group: u32,
    /// Multiprocessors, or compute units.
    pub(crate) units: u32,
}

/// The static resources of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// The most threads of a block that it was compiled for, or that its registers allow.
    pub(crate) max_threads: u32,
    /// Bytes of its own shared variables.
    pub(crate) static_shared: u32,
}

/// The shape of a launch as libraries take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
    /// The most dynamic shared memory that the kernel can opt in to; `None` if the launch needs no opt-in.
    pub(crate) opt_in: Option<u32>,
}

impl Limits {
    /// The shape of `range` with `local` bytes of local memory for its arguments, or why the device cannot launch it.
    #[inline]
    pub(crate) fn shape(&self, needs: Needs, range: &NdRange, local: u64) -> Result<Shape, Problem> {
        let block = within(range.local(), self.block);
        let grid = within(range.groups(), self.grid);
        let fits = range.offset() == [0; 3]
            && !range.is_uneven()
            && range.group_size() <= needs.max_threads as usize
            && self.has_threads(range);
        let (Some(block), Some(grid), true) = (block, grid, fits) else {
            return Err(self.refusal(range, needs.max_threads));
        };
        let dynamic = local.saturating_add(range.shared_memory().into());
        let shared = self.shared_memory(dynamic, needs.static_shared)?;
        let most = self.shared_opt_in.saturating_sub(needs.static_shared);
        let is_opt_in = shared.saturating_add(needs.static_shared) > self.shared;
        Ok(Shape { grid, block, shared, opt_in: is_opt_in.then_some(most) })
    }

    /// The limits as properties of the device.
    pub(crate) fn properties(&self) -> DeviceProperties {
        DeviceProperties {
            sub_group_sizes: if self.sub_group == 0 { Vec::new() } else { vec![self.sub_group] },
            max_work_items: known(self.block),
            max_groups: known(self.grid),
            local_memory: (self.shared > 0).then_some(self.shared.into()),
            local_memory_opt_in: (self.shared_opt_in > 0).then_some(self.shared_opt_in.into()),
            ..DeviceProperties::default()
        }
    }

    /// Whether a grid can have the threads of `range`.
    #[inline]
    fn has_threads(&self, range: &NdRange) -> bool {
        self.global.is_none_or(|most| range.global().iter().all(|size| *size <= most as usize))
    }

    /// Why there is no grid of `range`.
    #[cold]
    fn refusal(&self, range: &NdRange, max_threads: u32) -> Problem {
        if range.offset() != [0; 3] {
            let problem = format!("{} has no global offset, {:?} is given", self.interface, range.offset());
            return Problem::with_hint(problem, "pass it to the kernel as an argument");
        }
        if range.is_uneven() {
            return uneven_range(range, self.interface);
        }
        if within(range.local(), self.block).is_none() {
            return format!("local size {:?} is more than the device's {:?}", range.local(), self.block)
                .into();
        }
        if range.group_size() > max_threads as usize {
            let size = range.group_size();
            let problem = format!(
                "a work-group of {size} work-items is more than the {max_threads} that this kernel allows"
            );
            return problem.into();
        }
        if within(range.groups(), self.grid).is_none() {
            let groups = range.groups();
            return format!("{groups:?} work-groups are more than the device's {:?}", self.grid).into();
        }
        format!("global size {:?} is more than {}'s 2^32 - 1", range.global(), self.interface).into()
    }

    /// `dynamic` bytes of shared memory, if a kernel with `fixed` bytes of its own can have them.
    #[inline]
    fn shared_memory(&self, dynamic: u64, fixed: u32) -> Result<u32, Problem> {
        match u32::try_from(dynamic) {
            Ok(bytes) if bytes <= self.shared_opt_in.saturating_sub(fixed) => Ok(bytes),
            _ => Err(too_much_shared(dynamic, fixed, self.shared_opt_in)),
        }
    }
}

/// Sizes that the library tells.
fn known(sizes: [u32; 3]) -> Option<[u64; 3]> {
    (!sizes.contains(&0)).then(|| sizes.map(u64::from))
}

#[inline]
fn within(sizes: [usize; 3], limits: [u32; 3]) -> Option<[u32; 3]> {
    let [x, y, z] = sizes;
    let [mx, my, mz] = limits;
    Some([limited(x, mx)?, limited(y, my)?, limited(z, mz)?])
}

#[inline]
fn limited(size: usize, most: u32) -> Option<u32> {
    u32::try_from(size).ok().filter(|size| *size <= most)
}

#[cold]
fn too_much_shared(dynamic: u64, fixed: u32, all: u32) -> Problem {
    let most = all.saturating_sub(fixed);
    let problem = format!(
        "the launch asks for {dynamic} bytes of shared memory, and a work-group can have {most} on this device: {all} \
         less {fixed} of the kernel's own"
    );
    problem.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Limits = Limits {
        interface: "CUDA",
        block: [1024, 1024, 64],
        grid: [0x7fff_ffff, 65535, 65535],
        global: None,
        shared: 48 << 10,
        shared_opt_in: 227 << 10,
        sub_group: 32,
        units: 132,
    };
    const MI300: Limits = Limits {
        interface: "HIP",
        block: [1024; 3],
        grid: [0x7fff_ffff, 65535, 65535],
        global: Some(u32::MAX),
        shared: 64 << 10,
        shared_opt_in: 64 << 10,
        sub_group: 64,
        units: 304,
    };
    const NEEDS: Needs = Needs { max_threads: 512, static_shared: 1024 };

    fn shape(device: Limits, range: NdRange, shared: u64) -> Result<Shape, Problem> {
        device.shape(NEEDS, &range, shared)
    }

    #[test]
    fn blocks_and_grids_are_counted() {
        for device in [H200, MI300] {
            let shape = shape(device, NdRange::new([1024, 6, 4], [256, 2, 1]), 64).unwrap();
            assert_eq!(shape, Shape { grid: [4, 3, 4], block: [256, 2, 1], shared: 64, opt_in: None });
            let range = NdRange::new([1], [1]).with_shared_memory(100);
            assert_eq!(device.shape(NEEDS, &range, 16).unwrap().shared, 116);
        }
    }

    #[test]
    fn what_the_device_cannot_launch_is_refused_with_the_limit() {
        for (device, range, shared, reason) in [
            (
                H200,
                NdRange::new([2048], [2048]),
                0,
                "local size [2048, 1, 1] is more than the device's [1024, 1024, 64]",
            ),
            (
                MI300,
                NdRange::new([2048], [2048]),
                0,
                "local size [2048, 1, 1] is more than the device's [1024, 1024",
            ),
            (
                H200,
                NdRange::new([1024], [1024]),
                0,
                "1024 work-items is more than the 512 that this kernel allows",
            ),
            (
                H200,
                NdRange::new([1 << 31], [1]),
                0,
                "work-groups are more than the device's [2147483647, 65535, 65535]",
            ),
            (
                MI300,
                NdRange::new([1 << 31], [1]),
                0,
                "work-groups are more than the device's [2147483647, 65535, 65535]",
            ),
            (H200, NdRange::new([1, 65536], [1, 1]), 0, "[1, 65536, 1] work-groups"),
            (
                MI300,
                NdRange::new([1 << 32], [256]),
                0,
                "global size [4294967296, 1, 1] is more than HIP's 2^32 - 1",
            ),
            (H200, NdRange::new([1], [1]), 227 << 10, "can have 231424 on this device: 232448 less 1024 of"),
            (H200, NdRange::new([1], [1]), u64::MAX, "can have 231424"),
            (MI300, NdRange::new([1], [1]), 64 << 10, "can have 64512 on this device: 65536 less 1024 of"),
            (MI300, NdRange::new([1], [1]), u64::MAX, "can have 64512"),
        ] {
            let error = shape(device, range, shared).unwrap_err().text;
            assert!(error.contains(reason), "{error}");
        }
        assert!(shape(H200, NdRange::new([1 << 32], [256]), 0).is_ok());
        let offset = NdRange::new([4], [4]).with_offset([1]);
        for device in [H200, MI300] {
            let error = device.shape(NEEDS, &offset, 0).unwrap_err();
            assert!(error.text.contains("no global offset, [1, 0, 0]") && error.hint.is_some(), "{error:?}");
            let error = device.shape(NEEDS, &NdRange::uneven([1000], [256]), 0).unwrap_err();
            assert!(error.hint.unwrap().contains("NdRange::new([1024], [256])"));
            assert!(device.shape(NEEDS, &NdRange::uneven([1024], [256]), 0).is_ok());
        }
    }

    #[test]
    fn more_shared_memory_than_usual_needs_an_opt_in() {
        fn opt_in(device: Limits, shared: u64) -> Option<u32> {
            shape(device, NdRange::new([1], [1]), shared).unwrap().opt_in
        }
        assert_eq!(opt_in(H200, 47 << 10), None);
        assert_eq!(opt_in(H200, (47 << 10) + 1), Some(226 << 10));
        assert_eq!(opt_in(MI300, 63 << 10), None);
    }
}
