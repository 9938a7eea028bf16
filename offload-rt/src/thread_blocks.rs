//! Launches of thread blocks, shared by the CUDA and HIP backends: grids, launch parameters and resolved kernels.

mod grid;
mod kernels;
mod parameters;

pub(crate) use self::grid::{Grid, GridLimits, Needs, shared_memory};
pub(crate) use self::kernels::{Resolved, ResolvedKernels, Resources};
#[cfg(test)]
pub(crate) use self::parameters::ON_STACK;
pub(crate) use self::parameters::{Filled, LocalMemory, Parameters};
