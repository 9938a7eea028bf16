//! What a GPU device image says of itself: kernels, their arguments, what they use of a device, and what they lack.
//!
//! | module | reads |
//! |---|---|
//! | [`spirv`] | SPIR-V, and changes its entry points and names |
//! | [`ptx`] | NVIDIA's PTX |
//! | [`cubin`] | NVIDIA's cubins |
//! | [`code_object`] | AMD's code objects |
//! | [`zebin`] | native images of Intel's ocloc |
//! | [`describe`] | any of these, in one form |
//! | [`machine`] | whether an image is for the target that a record names |
//! | [`msgpack`] | the encoding of what AMD's formats say of code objects |
//!
//! Each module stands behind a feature of its own name. The crate does no I/O and holds no unsafe code, and no input
//! makes it panic. Sizes and offsets are `u64`, and every sum of them is checked.
//!
//! ```
//! let ptx = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry copy(.param .u64 from) { ret; }\n";
//! let description = offload_images::describe::any(ptx)?.expect("PTX is known by its first bytes");
//! assert_eq!(description.kernels[0].name, "copy");
//! # Ok::<(), offload_images::Error>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "code-object")]
pub mod code_object;
#[cfg(feature = "cubin")]
pub mod cubin;
#[cfg(feature = "describe")]
pub mod describe;
#[cfg(any(feature = "zebin", feature = "cubin", feature = "code-object"))]
pub mod elf;
#[cfg(feature = "describe")]
pub mod machine;
#[cfg(feature = "msgpack")]
pub mod msgpack;
#[cfg(feature = "ptx")]
pub mod ptx;
#[cfg(feature = "spirv")]
pub mod spirv;
#[cfg(feature = "zebin")]
pub mod zebin;

#[cfg(any(feature = "ptx", feature = "cubin"))]
mod cuda;
mod format;

pub use offload_format::{Aspects, Error, ErrorKind, Limits};

pub use crate::format::ImageFormat;

/// Compiles what the README shows.
#[cfg(all(doctest, feature = "describe"))]
#[doc = include_str!("../README.md")]
struct Readme;
