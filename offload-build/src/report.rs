//! What kernels use of a device: read from compilers' words and from images, and held against a budget.

mod budget;
mod ocloc;
mod ptxas;

pub(crate) use self::budget::check as check_budget;
pub(crate) use self::ocloc::add as add_ocloc;
pub(crate) use self::ptxas::add as add_ptxas;
