//! The launch limits of a HIP device, and the check of a range against them.

use super::api::Properties;
use crate::error::Problem;
use crate::range::NdRange;
use crate::thread_blocks::{Grid, GridLimits, Needs, shared_memory};

/// The limits of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    grid: GridLimits,
    /// Bytes of shared memory of a block.
    shared: u32,
    /// Threads of a wavefront.
    pub(super) wavefront: u32,
}

/// The shape of a launch as the runtime takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(super) shared: u32,
}

impl Limits {
    pub(super) fn new(properties: &Properties) -> Limits {
        let most = properties.max_threads();
        Limits {
            grid: GridLimits {
                interface: "HIP",
                block: properties.max_block().map(|size| size.min(most)),
                grid: properties.max_grid(),
            },
            shared: properties.shared_memory(),
            wavefront: properties.warp_size(),
        }
    }

    /// The shape of `range` with `local` bytes of local memory for its arguments, or why the device cannot launch it.
    #[inline]
    pub(super) fn shape(&self, needs: Needs, range: &NdRange, local: u64) -> Result<Shape, Problem> {
        let Grid { grid, block } = self.grid.grid(range, needs.max_threads)?;
        // The runtime multiplies them to numbers of 32 bits, and looks at the first alone:
        // https://github.com/ROCm/clr/blob/rocm-6.2.x/hipamd/src/hip_module.cpp, hipModuleLaunchKernel.
        if range.global().iter().any(|size| *size > u32::MAX as usize) {
            let problem = format!("global size {:?} is more than HIP's 2^32 - 1", range.global());
            return Err(problem.into());
        }
        let dynamic = local.saturating_add(range.shared_memory().into());
        let shared = shared_memory(dynamic, needs.static_shared, self.shared)?;
        Ok(Shape { grid, block, shared })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MI300: Limits = Limits {
        grid: GridLimits { interface: "HIP", block: [1024; 3], grid: [0x7fff_ffff, 65535, 65535] },
        shared: 64 << 10,
        wavefront: 64,
    };
    const NEEDS: Needs = Needs { max_threads: 512, static_shared: 1024 };

    fn shape(range: NdRange, shared: u64) -> Result<Shape, Problem> {
        MI300.shape(NEEDS, &range, shared)
    }

    #[test]
    fn blocks_and_grids_are_counted() {
        let shape = shape(NdRange::new([1024, 6, 4], [256, 2, 1]), 64).unwrap();
        assert_eq!(shape, Shape { grid: [4, 3, 4], block: [256, 2, 1], shared: 64 });
        let range = NdRange::new([1], [1]).with_shared_memory(100);
        assert_eq!(MI300.shape(NEEDS, &range, 16).unwrap().shared, 116);
    }

    #[test]
    fn what_the_device_cannot_launch_is_refused_with_the_limit() {
        for (range, shared, reason) in [
            (
                NdRange::new([2048], [2048]),
                0,
                "local size [2048, 1, 1] is more than the device's [1024, 1024",
            ),
            (NdRange::new([1024], [1024]), 0, "1024 work-items is more than the 512 that this kernel allows"),
            (
                NdRange::new([1 << 31], [1]),
                0,
                "work-groups are more than the device's [2147483647, 65535, 65535]",
            ),
            (NdRange::new([1, 65536], [1, 1]), 0, "[1, 65536, 1] work-groups"),
            (NdRange::new([1 << 32], [256]), 0, "global size [4294967296, 1, 1] is more than HIP's 2^32 - 1"),
            (NdRange::new([1], [1]), 64 << 10, "can have 64512 on this device: 65536 less 1024 of"),
            (NdRange::new([1], [1]), u64::MAX, "can have 64512"),
        ] {
            let error = shape(range, shared).unwrap_err().text;
            assert!(error.contains(reason), "{error}");
        }
        let offset = NdRange::new([4], [4]).with_offset([1]);
        let error = MI300.shape(NEEDS, &offset, 0).unwrap_err();
        assert!(error.text.contains("no global offset, [1, 0, 0]") && error.hint.is_some(), "{error:?}");
    }
}
