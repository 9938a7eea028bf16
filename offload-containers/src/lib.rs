//! Containers of GPU device images, as every tool chain writes them: found in any file, listed, decoded, and written.
//!
//! | module | container |
//! |---|---|
//! | [`offload_binary`] | LLVM's OffloadBinary |
//! | [`bundle`], [`ccob`] | bundles of clang and HIP; compressed ones |
//! | [`fatbin`] | CUDA's fatbins |
//! | [`ocloc`] | archives and ELF files of Intel's ocloc |
//! | [`kpack`] | AMD's kpack |
//! | [`syclbin`] | SYCLBIN |
//! | [`carrier`] | where programs, libraries, objects and archives have any of these |
//! | [`contents`] | the images of any of these, in one form |
//!
//! Each module stands behind a feature of its own name. A reader takes [`Limits`]: what it may inflate, how many records
//! it may read, how deep containers may lie in one another. The crate does no I/O and holds no unsafe code, and no
//! input makes it panic.
//!
//! Every device image of any file:
//!
//! ```
//! # fn list(file: &[u8]) -> Result<(), crate::Error> {
//! use offload_containers::{Limits, contents};
//!
//! let limits = Limits::default();
//! for image in contents::images(file, &limits)? {
//!     println!("{image:?}");
//! }
//! # Ok(())
//! # }
//! # list(b"").unwrap();
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "bundle")]
pub mod bundle;
#[cfg(feature = "carrier")]
pub mod carrier;
#[cfg(feature = "ccob")]
pub mod ccob;
#[cfg(feature = "contents")]
pub mod contents;
#[cfg(feature = "fatbin")]
pub mod fatbin;
#[cfg(feature = "kpack")]
pub mod kpack;
#[cfg(feature = "ocloc")]
pub mod ocloc;
#[cfg(feature = "offload-binary")]
pub mod offload_binary;
#[cfg(feature = "syclbin")]
pub mod syclbin;

#[cfg(any(feature = "ccob", feature = "fatbin", feature = "kpack", feature = "offload-binary"))]
mod frame;
#[cfg(all(feature = "zlib", any(feature = "ccob", feature = "offload-binary")))]
mod zlib;

pub use offload_format::{Error, ErrorKind, ImageKind, Limits, OffloadKind, Target};
