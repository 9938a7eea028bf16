//! The bytes that `offload-build` writes, `offload-rt` reads and `cargo offload` shows.
//!
//! - [`Target`]: for which machine an image is, and its text form;
//! - [`pack`]: the container of compressed device images, the same embedded, beside a program or vendored;
//! - [`section`]: how a linked program points to its packs;
//! - [`codec`]: compressing an image into a frame and back, verified;
//! - [`variable`]: the names of environment variables, for those who read them;
//! - behind features: writing packs (`write`), [`packer`], which decides how images are stored, and [`provenance`]: what
//!   vendored images were made of, and `remote`: what build scripts and the subcommand say to one another. With `suggestions` an unknown target's error names the nearest ones.
//!
//! What images say of themselves is the crate `offload-images`; the containers of others are `offload-containers`.
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
pub mod limits;
pub mod pack;
#[cfg(feature = "packer")]
pub mod packer;
#[cfg(feature = "remote")]
pub mod remote;
pub mod section;
pub mod variable;

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

/// Compiles what the README shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
