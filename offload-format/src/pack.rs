//! The pack: a versioned container of compressed device images with a sorted index.
//!
//! The same bytes are embedded in a program, stored in a sidecar, or vendored in a crate. `FORMAT.md` in the
//! repository describes them for readers in other languages; [`layout`] defines every constant.
//!
//! ```
//! use offload_format::codec::{self, Codec};
//! use offload_format::pack::{NewImage, Pack, PackBuilder, Pages};
//!
//! let frame = codec::encode(b"kernel source", Codec::Zstd, 19)?;
//! let mut builder = PackBuilder::new("my-crate", "0.1.0");
//! builder.image(NewImage::new("blas", "opencl-c".parse().unwrap()), frame.info())?;
//! let bytes = builder.finish()?.with_frames([&frame])?;
//!
//! let pages = Pages::default();
//! let pack = Pack::parse(&bytes, &pages)?;
//! let image = pack.images().next().unwrap()?;
//! assert_eq!((image.module, image.target_text), ("blas", "opencl-c"));
//! assert_eq!(codec::decode(&pack, &image)?, b"kernel source");
//! # Ok::<(), offload_format::Error>(())
//! ```

mod cached;
pub mod layout;
#[cfg(feature = "write")]
mod new;
mod newer;
mod page;
#[cfg(feature = "write")]
mod place;
mod proportion;
mod read;
mod record;
mod sidecar;
#[cfg(feature = "write")]
mod size;
mod tables;
#[cfg(feature = "write")]
mod write;

pub use self::cached::{CACHE, SPARE, cache_dir, cached_file, cached_name};
#[cfg(feature = "write")]
pub use self::new::{NewBlock, NewImage, Placement};
pub use self::newer::{IN_USE, in_use_line, newer_file, parse_in_use};
pub use self::page::Pages;
pub use self::proportion::PackBudget;
pub use self::read::{Pack, PackSizes, StoredImage};
pub use self::record::{
    ArgInfo, ArgKind, Block, FrameRange, Image, KernelInfo, KernelNeeds, Missing, MissingKind,
};
pub use self::sidecar::{SIDECAR, Sidecar};
#[cfg(feature = "write")]
pub use self::write::{PackBuilder, PackIndex, PackLayout, SharedLayout};
