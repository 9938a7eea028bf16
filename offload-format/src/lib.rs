//! The bytes that `offload-build` writes, `offload-rt` reads and `cargo offload` shows.
//!
//! - [`Target`]: for which machine an image is, and its text form;
//! - [`pack`]: the container of compressed device images, the same embedded, beside a program or vendored;
//! - [`section`]: how a linked program points to its packs;
//! - [`codec`]: compressing an image into a frame and back, verified;
//! - behind features: [`packer`], which decides how images are stored; [`spirv`], [`zebin`], [`ptx`], [`cubin`], [`code_object`], LLVM's [`offload_binary`],
//!   [`syclbin`], the containers of others: [`bundle`] and [`ccob`] (clang, HIP), [`fatbin`] (CUDA), [`ocloc`] (Intel),
//!   [`kpack`] (AMD), [`carrier`]: where programs and libraries carry images of any tool chain, [`contents`]: the images of any container,
//!   and [`describe`]: the kernels of an image of any format.
//!
//! The crate does no I/O, reads no environment and starts no process; it holds no unsafe code and no input makes
//! it panic. Sizes and offsets are `u64` and every sum of them is checked.
//!
//! ```
//! use offload_format::Target;
//!
//! let target: Target = "intel:pvc".parse()?;
//! assert_eq!(target.to_string(), "intel:pvc");
//! let error = "intel:pcv".parse::<Target>().unwrap_err();
//! assert!(error.to_string().contains("intel:pvc"));
//! # Ok::<(), offload_format::UnknownTarget>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bytes;
pub mod codec;
pub mod pack;
#[cfg(feature = "packer")]
pub mod packer;
pub mod section;

#[cfg(feature = "bundle")]
pub mod bundle;
#[cfg(feature = "carrier")]
pub mod carrier;
#[cfg(feature = "ccob")]
pub mod ccob;
#[cfg(feature = "code-object")]
pub mod code_object;
#[cfg(feature = "contents")]
pub mod contents;
#[cfg(feature = "cubin")]
pub mod cubin;
#[cfg(feature = "describe")]
pub mod describe;
#[cfg(feature = "fatbin")]
pub mod fatbin;
#[cfg(feature = "kpack")]
pub mod kpack;
#[cfg(feature = "ocloc")]
pub mod ocloc;
#[cfg(feature = "offload-binary")]
pub mod offload_binary;
#[cfg(feature = "provenance")]
pub mod provenance;
#[cfg(feature = "ptx")]
pub mod ptx;
#[cfg(feature = "spirv")]
pub mod spirv;
#[cfg(feature = "syclbin")]
pub mod syclbin;
#[cfg(feature = "zebin")]
pub mod zebin;

mod aspects;
#[cfg(any(feature = "ptx", feature = "cubin"))]
mod cuda;
#[cfg(any(
    feature = "zebin",
    feature = "cubin",
    feature = "code-object",
    feature = "fatbin",
    feature = "ocloc"
))]
#[cfg_attr(
    not(all(feature = "zebin", feature = "cubin", feature = "code-object")),
    allow(dead_code, reason = "each format needs another part of it")
)]
mod elf;
mod error;
#[cfg(any(feature = "ccob", feature = "fatbin", feature = "kpack", feature = "offload-binary"))]
#[cfg_attr(
    not(all(feature = "ccob", feature = "fatbin")),
    allow(dead_code, reason = "each format needs another part of it")
)]
mod frame;
mod hash;
mod kind;
mod limits;
#[cfg(any(feature = "code-object", feature = "kpack"))]
mod msgpack;
mod register_file;
mod target;
mod variant;
#[cfg(all(feature = "zlib", any(feature = "ccob", feature = "offload-binary")))]
#[cfg_attr(not(feature = "ccob"), allow(dead_code, reason = "compressed bundles need more of it"))]
mod zlib;

pub use crate::aspects::Aspects;
pub use crate::error::{Error, ErrorKind};
pub use crate::hash::Hash128;
pub use crate::kind::{ImageKind, OffloadKind};
pub use crate::limits::Limits;
pub use crate::register_file::RegisterFile;
pub use crate::target::{
    AmdArch, Arch, HostLevel, IntelArch, SmArch, SpirvVersion, Target, TargetSet, UnknownTarget,
};
pub use crate::variant::{InvalidVariant, Variant};
