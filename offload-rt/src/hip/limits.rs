//! What a device can launch, and comparing a launch with it.

use super::api::Properties;
use crate::error::Problem;
use crate::range::NdRange;

/// The limits of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Threads of a block in each dimension.
    block: [u32; 3],
    /// Blocks of a grid in each dimension.
    grid: [u32; 3],
    /// Bytes of shared memory of a block.
    shared: u32,
    /// Threads of a wavefront.
    pub(super) wavefront: u32,
}

/// What a kernel needs of a device whatever the launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// The most threads of a block that it was compiled for.
    pub(super) max_threads: u32,
    /// Bytes of its own shared variables.
    pub(super) static_shared: u32,
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
    pub(super) fn of(properties: &Properties) -> Limits {
        let most = properties.max_threads();
        Limits {
            block: properties.max_block().map(|size| size.min(most)),
            grid: properties.max_grid(),
            shared: properties.shared_memory(),
            wavefront: properties.warp_size(),
        }
    }

    /// The shape of `range` with `local` bytes of local memory for its arguments, or why the device cannot launch it.
    pub(super) fn shape(&self, needs: Needs, range: &NdRange, local: u64) -> Result<Shape, Problem> {
        if range.offset() != [0; 3] {
            let problem = format!("HIP has no global offset, {:?} is given", range.offset());
            return Err(Problem::with_hint(problem, "pass it to the kernel as an argument"));
        }
        let block = within(range.local(), self.block).ok_or_else(|| {
            format!("local size {:?} is more than the device's {:?}", range.local(), self.block)
        })?;
        if range.group_size() > u64::from(needs.max_threads) {
            let (size, most) = (range.group_size(), needs.max_threads);
            let problem =
                format!("a work-group of {size} work-items is more than the {most} that this kernel allows");
            return Err(problem.into());
        }
        let grid = within(range.groups(), self.grid).ok_or_else(|| {
            format!("{:?} work-groups are more than the device's {:?}", range.groups(), self.grid)
        })?;
        // The runtime multiplies them to numbers of 32 bits, and looks at the first alone:
        // https://github.com/ROCm/clr/blob/rocm-6.2.x/hipamd/src/hip_module.cpp, hipModuleLaunchKernel.
        if range.global().iter().any(|size| *size > u64::from(u32::MAX)) {
            let problem = format!("global size {:?} is more than HIP's 2^32 - 1", range.global());
            return Err(problem.into());
        }
        let shared = self.shared(needs.static_shared, local.saturating_add(range.shared_memory().into()))?;
        Ok(Shape { grid, block, shared })
    }

    fn shared(&self, fixed: u32, dynamic: u64) -> Result<u32, String> {
        let most = self.shared.saturating_sub(fixed);
        u32::try_from(dynamic).ok().filter(|bytes| *bytes <= most).ok_or_else(|| {
            format!(
                "{dynamic} bytes of shared memory are asked for, a work-group can have {most} on this device: \
                 {} less {fixed} of the kernel's own",
                self.shared
            )
        })
    }
}

fn within(sizes: [u64; 3], limits: [u32; 3]) -> Option<[u32; 3]> {
    let ([x, y, z], [mx, my, mz]) = (sizes, limits);
    let fit = |size: u64, most: u32| u32::try_from(size).ok().filter(|size| *size <= most);
    Some([fit(x, mx)?, fit(y, my)?, fit(z, mz)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const MI300: Limits =
        Limits { block: [1024; 3], grid: [0x7fff_ffff, 65535, 65535], shared: 64 << 10, wavefront: 64 };
    const NEEDS: Needs = Needs { max_threads: 512, static_shared: 1024 };

    fn shape(global: &[u64], local: &[u64], shared: u64) -> Result<Shape, Problem> {
        MI300.shape(NEEDS, &NdRange::new(global, local).unwrap(), shared)
    }

    #[test]
    fn blocks_and_grids_are_counted() {
        let shape = shape(&[1024, 6, 4], &[256, 2, 1], 64).unwrap();
        assert_eq!(shape, Shape { grid: [4, 3, 4], block: [256, 2, 1], shared: 64 });
        let range = NdRange::new(&[1], &[1]).unwrap().with_shared_memory(100);
        assert_eq!(MI300.shape(NEEDS, &range, 16).unwrap().shared, 116);
    }

    #[test]
    fn what_the_device_cannot_launch_is_refused_with_the_limit() {
        for (global, local, shared, reason) in [
            (&[2048][..], &[2048][..], 0, "local size [2048, 1, 1] is more than the device's [1024, 1024"),
            (&[1024], &[1024], 0, "1024 work-items is more than the 512 that this kernel allows"),
            (&[1 << 31], &[1], 0, "work-groups are more than the device's [2147483647, 65535, 65535]"),
            (&[1, 65536], &[1, 1], 0, "[1, 65536, 1] work-groups"),
            (&[1 << 32], &[256], 0, "global size [4294967296, 1, 1] is more than HIP's 2^32 - 1"),
            (&[1], &[1], 64 << 10, "can have 64512 on this device: 65536 less 1024 of"),
            (&[1], &[1], u64::MAX, "can have 64512"),
        ] {
            let error = shape(global, local, shared).unwrap_err().text;
            assert!(error.contains(reason), "{error}");
        }
        let offset = NdRange::new(&[4], &[4]).unwrap().with_offset(&[1]).unwrap();
        let error = MI300.shape(NEEDS, &offset, 0).unwrap_err();
        assert!(error.text.contains("no global offset, [1, 0, 0]") && error.hint.is_some(), "{error:?}");
    }
}
