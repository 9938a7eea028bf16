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
//! Each module stands behind a feature of its own name. The crate does no I/O and holds no unsafe code, and no input
//! makes it panic.
//!
//! A reader takes [`Limits`], and refuses with an [`ErrorKind`] what passes them:
//!
//! | limit | who looks at it | error |
//! |---|---|---|
//! | [`Limits::raw_bytes`] | whatever inflates ([`ccob`], [`fatbin`], [`kpack`], compressed OffloadBinaries): one image or bundle; [`contents`]: all that has to be inflated for a list | [`ErrorKind::TooLarge`] |
//! | [`Limits::ratio`] | the same, for each compressed part above [`Limits::any_ratio`] | [`ErrorKind::TooLarge`] |
//! | [`Limits::entries`] | every table of every format, and the lists of [`carrier`] and [`contents`] | [`ErrorKind::TooMany`] |
//! | [`Limits::depth`] | [`carrier`] for archives, [`contents`] for containers in one another | [`ErrorKind::Nested`] |
//!
//! All readers tell what is cut ([`ErrorKind::Truncated`]), of another format ([`ErrorKind::Magic`]), of a later version
//! ([`ErrorKind::Version`]), not known ([`ErrorKind::Unsupported`]), impossible ([`ErrorKind::Invalid`]), no text
//! ([`ErrorKind::Text`]), or damaged in its compressed bytes ([`ErrorKind::Compression`],
//! [`ErrorKind::Damaged`]); each names the structure, and the offset or the value.
//!
//! Every device image of any file:
//!
//! ```
//! # fn list(file: &[u8]) -> Result<(), offload_containers::Error> {
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
#[cfg(feature = "contents")]
pub mod deep;
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

#[cfg(any(feature = "fatbin", feature = "offload-binary"))]
mod checksum;
#[cfg(any(feature = "ccob", feature = "fatbin", feature = "kpack", feature = "offload-binary"))]
mod frame;
#[cfg(all(feature = "zlib", any(feature = "ccob", feature = "offload-binary")))]
mod zlib;

#[cfg(any(feature = "fatbin", feature = "offload-binary"))]
pub use self::checksum::Checksum;
pub use offload_format::{Error, ErrorKind, ImageKind, Limits, OffloadKind, Target};

/// Compiles what the README shows.
#[cfg(all(doctest, feature = "contents"))]
#[doc = include_str!("../README.md")]
struct Readme;
