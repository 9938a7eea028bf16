//! Containers of GPU device images of every tool chain: search, readers and writers.
//!
//! | module | container |
//! |---|---|
//! | [`offload_binary`] | LLVM's OffloadBinary |
//! | [`bundle`], [`ccob`] | bundles of clang and HIP; compressed ones |
//! | [`fatbin`] | CUDA's fatbins |
//! | [`ocloc`] | archives and ELF files of Intel's ocloc |
//! | [`kpack`] | AMD's kpack |
//! | [`syclbin`] | SYCLBIN |
//! | [`carrier`] | the search for these in programs, libraries, objects and archives |
//! | [`contents`] | the images of any of these, in one form |
//!
//! Each module has a feature of its own name. The crate does no I/O, has no unsafe code, and panics on no input.
//!
//! Readers take [`Limits`]:
//!
//! | limit | readers | error |
//! |---|---|---|
//! | [`Limits::raw_bytes`] | decompression ([`ccob`], [`fatbin`], [`kpack`], compressed OffloadBinaries) of one image or bundle; [`contents`]: everything inflated for a list | [`ErrorKind::TooLarge`] |
//! | [`Limits::ratio`] | decompression, for each stream above [`Limits::any_ratio`] | [`ErrorKind::TooLarge`] |
//! | [`Limits::entries`] | every table of every format, and the lists of [`carrier`] and [`contents`] | [`ErrorKind::TooMany`] |
//! | [`Limits::depth`] | [`carrier`] for archives, [`contents`] for nested containers | [`ErrorKind::Nested`] |
//!
//! Errors distinguish truncation ([`ErrorKind::Truncated`]), another format ([`ErrorKind::Magic`]), a later version
//! ([`ErrorKind::Version`]), an unknown value ([`ErrorKind::Unsupported`]), an impossible value ([`ErrorKind::Invalid`]),
//! malformed text ([`ErrorKind::Text`]), and damaged compressed bytes ([`ErrorKind::Compression`],
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

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "contents"))]
#[doc = include_str!("../README.md")]
struct Readme;
