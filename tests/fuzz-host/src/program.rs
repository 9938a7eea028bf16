//! Random programs: kernels that are valid by construction, and their reduction.
//!
//! A program is a tree of statements whose expressions are text, so that the reducer can drop, unwrap and simplify
//! statements of either language without a grammar. Whether a variant is still valid is what the executor finds out.

mod declarations;
mod expressions;
mod generator;
mod helpers;
mod loops;
mod plain;
mod random;
mod reducer;
mod scope;
mod shared;
mod tree;

pub use self::generator::generate;
pub use self::random::Random;
pub use self::reducer::simplifications;
pub use self::tree::{Program, Statement};
