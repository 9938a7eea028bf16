//! Ranges as grids of thread blocks.

use crate::error::Problem;
use crate::range::NdRange;

/// The largest blocks and grids of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridLimits {
    /// `CUDA` or `HIP`, for messages.
    pub(crate) interface: &'static str,
    /// Threads of a block in each dimension.
    pub(crate) block: [u32; 3],
    /// Blocks of a grid in each dimension.
    pub(crate) grid: [u32; 3],
}

/// The static resources of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// The most threads of a block that it was compiled for, or that its registers allow.
    pub(crate) max_threads: u32,
    /// Bytes of its own shared variables.
    pub(crate) static_shared: u32,
}

/// A range as the driver takes it.
pub(crate) struct Grid {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
}

impl GridLimits {
    /// The grid of `range` for a kernel that allows `max_threads` in a block, or why the device cannot launch it.
    #[inline]
    pub(crate) fn grid(&self, range: &NdRange, max_threads: u32) -> Result<Grid, Problem> {
        let block = within(range.local(), self.block);
        let grid = within(range.groups(), self.grid);
        let fits = range.offset() == [0; 3] && range.group_size() <= max_threads as usize;
        match (block, grid) {
            (Some(block), Some(grid)) if fits => Ok(Grid { grid, block }),
            _ => Err(self.refusal(range, max_threads)),
        }
    }

    /// Why there is no grid of `range`.
    #[cold]
    fn refusal(&self, range: &NdRange, max_threads: u32) -> Problem {
        if range.offset() != [0; 3] {
            let problem = format!("{} has no global offset, {:?} is given", self.interface, range.offset());
            return Problem::with_hint(problem, "pass it to the kernel as an argument");
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
        format!("{:?} work-groups are more than the device's {:?}", range.groups(), self.grid).into()
    }
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

/// `dynamic` bytes of shared memory, if a kernel with `fixed` bytes of its own can have them of `all`.
#[inline]
pub(crate) fn shared_memory(dynamic: u64, fixed: u32, all: u32) -> Result<u32, String> {
    match u32::try_from(dynamic) {
        Ok(bytes) if bytes <= all.saturating_sub(fixed) => Ok(bytes),
        _ => Err(too_much_shared(dynamic, fixed, all)),
    }
}

#[cold]
fn too_much_shared(dynamic: u64, fixed: u32, all: u32) -> String {
    let most = all.saturating_sub(fixed);
    format!(
        "the launch asks for {dynamic} bytes of shared memory, and a work-group can have {most} on this device: {all} \
         less {fixed} of the kernel's own"
    )
}
