//! LLVM's OffloadBinary: device images with strings that describe them.
//!
//! Follows `llvm/include/llvm/Object/OffloadBinary.h`
//! (<https://github.com/llvm/llvm-project/blob/main/llvm/include/llvm/Object/OffloadBinary.h>).
//! Version 1 holds one image, and a file or section `.llvm.offloading` has one binary after another; version 2 (LLVM 23)
//! holds several; version 3 may be compressed as a whole. Every field is little-endian.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | 4 bytes | `10 FF 10 AD` |
//! | 4 | u32 | version |
//! | 8 | u64 | size of the binary |
//! | 16 | u64 | offset of the entries |
//! | 24 | u64 | version 1: size of the entry, 40; then: number of entries |
//! | 32 | u64 | version 3: size when inflated, 0 if it is not compressed |
//!
//! ```
//! use offload_containers::offload_binary::{NewEntry, Version, parse, write};
//! use offload_format::{ImageKind, Limits, OffloadKind};
//!
//! let entry = NewEntry::new(ImageKind::Ptx, OffloadKind::Cuda, b".version 7.0\n").with_string("arch", "sm_70");
//! let file = write(&[entry.clone(), entry], Version::V1)?;
//! let binaries = parse(&file, &Limits::default())?;
//! assert_eq!(binaries.len(), 2);
//! let first = binaries[0].entries().next().unwrap();
//! assert_eq!((first.text("arch"), first.image), (Some("sm_70"), b".version 7.0\n".as_slice()));
//! # Ok::<(), offload_format::Error>(())
//! ```

mod inflate;
mod kind;
mod raw;
mod read;
mod strings;
mod write;

pub use self::kind::OffloadKindNumber;
pub use self::raw::{RawEntry, RawHeader};
pub use self::read::{Binaries, Binary, OffloadEntry, binaries, parse};
#[cfg(feature = "syclbin")]
pub(crate) use self::read::{borrowed, first};
pub use self::write::{NewEntry, NewString, Version, write};

/// First bytes of every version.
pub const MAGIC: [u8; 4] = [0x10, 0xff, 0x10, 0xad];
/// Every binary starts at a multiple of this.
pub const ALIGN: u64 = 8;
/// The flag of an entry that has strings and no image.
pub const FLAG_METADATA: u32 = 1;
