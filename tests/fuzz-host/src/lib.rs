//! Differential fuzzing of the work-group compiler: generated kernels run on the target `host` in every build, on PoCL, and
//! on an executor that shares no pass with either.

pub mod builds;
pub mod case;
pub mod check;
pub mod compare;
pub mod executor;
pub mod faults;
pub mod harness;
pub mod hunt;
pub mod launch;
pub mod program;
pub mod reduction;
pub mod report;
pub mod written;

mod bisection;
mod process;
