//! Objects and static libraries with which programs link packs of device images.
//!
//! [`PackObject`] has the sections of [`offload_format::section`] and their relocations: a note, the descriptor, and the
//! pack, which is streamed behind them. [`archive`] writes the static library around it, and [`assembly`] the same sections
//! for an assembler, where the relocations of a machine are not known here.
//!
//! ```
//! use offload_embed::archive::{self, Member};
//! use offload_embed::{Content, Machine, PackInfo, PackObject};
//! use offload_format::pack::PackBuilder;
//!
//! let layout = PackBuilder::new("package", "1.0.0").finish()?;
//! let pack = layout.index.clone();
//! let info = PackInfo { size: pack.size(), id: layout.id, flags: 0 };
//! let object = PackObject::new(Machine::X86_64, "package_images", info, &pack)?;
//! let member = Member { name: "images.o", symbols: vec!["package_images"], content: &object };
//! let mut library = Vec::new();
//! archive::write(&mut library, &[member])?;
//! assert!(library.starts_with(b"!<arch>\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod archive;
pub mod assembly;
mod object;

use std::fmt;
use std::io::{self, Write};

use offload_format::Hash128;

pub use self::object::{Machine, PackObject};

/// Bytes whose number is known before they are written.
pub trait Content {
    /// In bytes.
    fn size(&self) -> u64;

    /// Writes as many bytes as [`Content::size`] says.
    ///
    /// # Errors
    /// Those of `out`, and of what the bytes are read from.
    fn write_to(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl Content for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self)
    }
}

/// What the descriptor of a pack says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackInfo {
    /// Of the whole pack, in bytes.
    pub size: u64,
    /// The pack's hash.
    pub id: Hash128,
    /// Flags of [`offload_format::section::Descriptor`].
    pub flags: u16,
}

impl PackInfo {
    /// The alignment of the pack's section. A large pack begins at a page, so that it is mapped and dropped page by page.
    pub fn align(&self) -> u64 {
        if self.size >= 64 << 10 { 4096 } else { 16 }
    }
}

/// A pack that no object can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the images are too large for an object")
    }
}

impl std::error::Error for TooLarge {}
