//! The byte format of embedded device images: written by `offload-build`, read by `offload-rt` and `cargo offload`.
//!
//! - [`Target`]: the machine that an image is compiled for, with a text form that round-trips;
//! - [`pack`]: the container of compressed device images, the same embedded, in a sidecar or vendored;
//! - [`section`]: the sections and descriptors by which a linked program refers to its packs;
//! - [`codec`]: compressed frames with verified decoding;
//! - [`launchers`]: the interface between the host part of CUDA C++ and its runtime;
//! - behind features: writing packs (`write`), records of vendored images ([`provenance`]), and the nearest names in
//!   errors of unknown targets (`suggestions`).
//!
//! The crate `offload-images` reads the images themselves, `offload-containers` the containers of other tool chains, and
//! `offload-packer` plans delta chains and blocks.
//!
//! The crate does no I/O, reads no environment and starts no process; it has no unsafe code, and no input makes it
//! panic. Sizes and offsets are `u64` with checked arithmetic.
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
pub mod launchers;
pub mod limits;
pub mod pack;
pub mod section;

#[cfg(feature = "provenance")]
pub mod provenance;

mod aspects;
mod error;
mod hash;
mod import;
mod kind;
mod register_file;
mod spec;
mod target;
mod variant;

pub use crate::aspects::Aspects;
pub use crate::error::{Error, ErrorKind};
pub use crate::hash::Hash128;
pub use crate::import::Import;
pub use crate::kind::{ImageKind, OffloadKind};
pub use crate::limits::Limits;
pub use crate::register_file::{RegisterFile, RegisterFileChoice};
pub use crate::spec::{SpecConstant, SpecUse, SpecValue};
pub use crate::target::{
    AmdArch, Arch, HostLevel, IntelArch, PtxVersion, SmArch, SpirvVersion, Target, TargetSet, UnknownTarget,
};
pub use crate::variant::{InvalidVariant, Variant};

/// The example of the README, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
