//! Configurations of launches: as `<<<...>>>` has them, and as back ends take them.

use std::ffi::{c_int, c_uint};

use super::failure::{Failure, INVALID_CONFIGURATION, Outcome};
use crate::range::NdRange;
use crate::text::escape;

/// A `cudaStream_t`: a stream of the back end, or one of the two numbers that stand for default streams.
pub(super) type StreamHandle = *mut std::ffi::c_void;

/// `dim3` of CUDA.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Dim3 {
    pub(super) x: c_uint,
    pub(super) y: c_uint,
    pub(super) z: c_uint,
}

/// The configuration of a launch that has blocks and threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Configuration {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    /// Bytes of dynamic shared memory.
    pub(super) shared: c_uint,
    pub(super) stream: StreamHandle,
}

/// What is between `<<<` and `>>>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenConfiguration {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) shared: usize,
    pub(super) stream: StreamHandle,
}

impl GivenConfiguration {
    /// The configuration as back ends take it. Drivers have another number for a launch of nothing than CUDA's runtime,
    /// which programs ask for.
    pub(super) fn check(&self, kernel: &str) -> Outcome<Configuration> {
        let GivenConfiguration { grid, block, shared, stream } = *self;
        if [grid.x, grid.y, grid.z, block.x, block.y, block.z].contains(&0) {
            let problem = format!("the launch of `{}` has no block or no thread: {self}", escape(kernel));
            return Err(Failure::new(INVALID_CONFIGURATION, problem));
        }
        let bytes = c_int::try_from(shared).ok().and_then(|bytes| c_uint::try_from(bytes).ok());
        match bytes {
            Some(shared) => Ok(Configuration { grid, block, shared, stream }),
            None => {
                let problem =
                    format!("the launch of `{}` wants too much shared memory: {self}", escape(kernel));
                Err(Failure::new(INVALID_CONFIGURATION, problem))
            }
        }
    }
}

impl Configuration {
    /// The range of work-items, if a block has at most `max_threads`.
    pub(super) fn range(&self, max_threads: c_int) -> Outcome<NdRange> {
        let block = self.block.sizes();
        let threads = block.iter().try_fold(1usize, |threads, size| threads.checked_mul(*size));
        if threads
            .and_then(|threads| c_int::try_from(threads).ok())
            .is_none_or(|threads| threads > max_threads)
        {
            let problem = format!("a block of {block:?} threads has more than {max_threads}");
            return Err(Failure::new(INVALID_CONFIGURATION, problem));
        }
        let mut global = self.grid.sizes();
        for (size, block) in global.iter_mut().zip(block) {
            *size = size.saturating_mul(block);
        }
        Ok(NdRange::new(global, block).with_shared_memory(self.shared))
    }
}

impl Dim3 {
    fn sizes(self) -> [usize; 3] {
        [self.x, self.y, self.z].map(|size| usize::try_from(size).unwrap_or(usize::MAX))
    }
}

impl std::fmt::Display for GivenConfiguration {
    /// As the source has it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let GivenConfiguration { grid, block, shared, .. } = self;
        write!(
            f,
            "<<<({}, {}, {}), ({}, {}, {}), {shared}>>>",
            grid.x, grid.y, grid.z, block.x, block.y, block.z
        )
    }
}
