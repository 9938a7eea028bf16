//! The launch limits of a CUDA device, and the check of a range against them.

use super::api::{
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, CU_DEVICE_ATTRIBUTE_WARP_SIZE, CuResult, DeviceId,
};
use crate::error::Problem;
use crate::range::NdRange;
use crate::thread_blocks::{Grid, GridLimits, Needs, shared_memory};

/// The limits of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    grid: GridLimits,
    /// Bytes of shared memory that a block gets without asking.
    pub(super) shared: u32,
    /// Bytes of shared memory that a block can ask for.
    pub(super) shared_opt_in: u32,
    /// Threads of a warp.
    pub(super) warp: u32,
    /// The device reads the program's ordinary memory by itself.
    pub(super) reads_pageable_memory: bool,
}

/// The shape of a launch as the driver takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(super) shared: u32,
    /// The most dynamic shared memory that the kernel may have; `None` if it need not ask.
    pub(super) opt_in: Option<u32>,
}

impl Limits {
    pub(super) fn new(device: DeviceId) -> CuResult<Limits> {
        let shared = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?;
        // Drivers before CUDA 9 do not know the question.
        let opt_in = device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN).unwrap_or(0);
        Ok(Limits {
            grid: GridLimits {
                interface: "CUDA",
                block: [
                    device.attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                    device.attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                    device.attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
                ],
                grid: [
                    device.attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                    device.attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                    device.attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
                ],
            },
            shared,
            shared_opt_in: opt_in.max(shared),
            warp: device.attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            // A driver that does not know the question is asked to wait: that is right on every device.
            reads_pageable_memory: device.attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS).unwrap_or(1)
                != 0,
        })
    }

    /// The shape of `range` with `local` bytes of local memory for its arguments, or why the device cannot launch it.
    #[inline]
    pub(super) fn shape(&self, needs: Needs, range: &NdRange, local: u64) -> Result<Shape, Problem> {
        let Grid { grid, block } = self.grid.grid(range, needs.max_threads)?;
        let shared = local.saturating_add(range.shared_memory().into());
        let (shared, opt_in) = self.shared(needs.static_shared, shared)?;
        Ok(Shape { grid, block, shared, opt_in })
    }

    #[inline]
    fn shared(&self, fixed: u32, dynamic: u64) -> Result<(u32, Option<u32>), String> {
        let dynamic = shared_memory(dynamic, fixed, self.shared_opt_in)?;
        let most = self.shared_opt_in.saturating_sub(fixed);
        Ok((dynamic, (dynamic.saturating_add(fixed) > self.shared).then_some(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Limits = Limits {
        grid: GridLimits { interface: "CUDA", block: [1024, 1024, 64], grid: [0x7fff_ffff, 65535, 65535] },
        shared: 48 << 10,
        shared_opt_in: 227 << 10,
        warp: 32,
        reads_pageable_memory: false,
    };
    const NEEDS: Needs = Needs { max_threads: 512, static_shared: 1024 };

    fn shape(range: NdRange, shared: u64) -> Result<Shape, Problem> {
        H200.shape(NEEDS, &range, shared)
    }

    #[test]
    fn blocks_and_grids_are_counted() {
        let shape = shape(NdRange::new([1024, 6, 4], [256, 2, 1]), 64).unwrap();
        assert_eq!(shape, Shape { grid: [4, 3, 4], block: [256, 2, 1], shared: 64, opt_in: None });
    }

    #[test]
    fn what_the_device_cannot_launch_is_refused_with_the_limit() {
        for (range, shared, reason) in [
            (
                NdRange::new([2048], [2048]),
                0,
                "local size [2048, 1, 1] is more than the device's [1024, 1024, 64]",
            ),
            (NdRange::new([1024], [1024]), 0, "1024 work-items is more than the 512 that this kernel allows"),
            (
                NdRange::new([1 << 31], [1]),
                0,
                "work-groups are more than the device's [2147483647, 65535, 65535]",
            ),
            (NdRange::new([1, 65536], [1, 1]), 0, "[1, 65536, 1] work-groups"),
            (NdRange::new([1], [1]), 227 << 10, "can have 231424 on this device: 232448 less 1024 of"),
            (NdRange::new([1], [1]), u64::MAX, "can have 231424"),
        ] {
            let error = shape(range, shared).unwrap_err().text;
            assert!(error.contains(reason), "{error}");
        }
        let offset = NdRange::new([4], [4]).with_offset([1]);
        let error = H200.shape(NEEDS, &offset, 0).unwrap_err();
        assert!(error.text.contains("no global offset, [1, 0, 0]") && error.hint.is_some(), "{error:?}");
    }

    #[test]
    fn more_shared_memory_than_usual_is_asked_for() {
        fn opt_in(shared: u64) -> Option<u32> {
            shape(NdRange::new([1], [1]), shared).unwrap().opt_in
        }
        assert_eq!(opt_in(47 << 10), None);
        assert_eq!(opt_in((47 << 10) + 1), Some(226 << 10));
        let range = NdRange::new([1], [1]).with_shared_memory(100);
        assert_eq!(H200.shape(NEEDS, &range, 16).unwrap().shared, 116);
    }
}
