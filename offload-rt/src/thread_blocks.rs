//! What CUDA and HIP share: grids of thread blocks, parameters of a launch, and the kernels of a loaded image.

mod grid;
mod kernels;
mod parameters;

pub(crate) use self::grid::{Grid, GridLimits, Needs, shared_memory};
pub(crate) use self::kernels::{Resolved, ResolvedKernels, Resources};
#[cfg(test)]
pub(crate) use self::parameters::ON_STACK;
pub(crate) use self::parameters::{Filled, LocalMemory, Parameters};
