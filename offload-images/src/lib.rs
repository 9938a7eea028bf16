//! Readers of GPU device images: kernels, arguments, resources and undefined symbols.
//!
//! | module | reads |
//! |---|---|
//! | [`spirv`] | SPIR-V, and rewrites its entry points and names |
//! | [`ptx`] | NVIDIA's PTX |
//! | [`cubin`] | NVIDIA's cubins |
//! | [`code_object`] | AMD's code objects |
//! | [`zebin`] | native images of Intel's ocloc |
//! | [`describe`] | any of these, in one form |
//! | [`machine`] | the target of an image, compared with the recorded one |
//! | [`msgpack`] | the encoding of AMD's metadata |
//!
//! Each module has a feature of its own name. The crate does no I/O, has no unsafe code, and panics on no input. Sizes
//! and offsets are `u64`, and every sum of them is checked.
//!
//! ```
//! let ptx = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry copy(.param .u64 from) { ret; }\n";
//! let description = offload_images::describe::any(ptx)?.expect("the first bytes identify PTX");
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

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "describe"))]
#[doc = include_str!("../README.md")]
struct Readme;
