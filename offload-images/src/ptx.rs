//! PTX modules: their kernels and undefined symbols.
//!
//! PTX is text, specified in <https://docs.nvidia.com/cuda/parallel-thread-execution/index.html>. Only declarations are
//! parsed; function bodies are skipped.
//!
//! ```
//! use offload_images::ptx::Ptx;
//!
//! let text = b".version 7.8\n.target sm_90a, debug\n.address_size 64\n\
//!     .visible .entry scale(.param .u64 .ptr .global .align 4 x, .param .align 4 .b8 by[12]) { ret; }\n";
//! let module = Ptx::parse(text)?;
//! assert_eq!((module.target(), module.version().word()), ("sm_90a", 0x0007_0800));
//! let [kernel] = module.kernels() else { panic!("one kernel") };
//! assert_eq!((kernel.name, kernel.parameters[1].size), ("scale", Some(12)));
//! # Ok::<(), offload_format::Error>(())
//! ```

mod kernel;
mod lexer;
mod module;
mod parser;
mod tokens;

pub use self::kernel::{Parameter, PtxKernel, StateSpace};
pub use self::module::Ptx;
