//! Filters: reversible transformations before compression.

use super::{elf_symbols, spirv_ids};
use crate::open_enum;
use crate::{Error, ErrorKind};

open_enum! {
    /// A reversible transformation applied before compression; it keeps the size.
    Filter {
        /// None.
        None = 0 => "none",
        /// Delta coding of SPIR-V ids.
        SpirvIds = 1 => "spirv-ids",
        /// Transposition of ELF symbol tables.
        ElfSymbols = 2 => "elf-symbols",
    }
}

impl Filter {
    /// The filter for the format of this image, by its magic number.
    pub fn for_image(image: &[u8]) -> Filter {
        match image {
            [3, 2, 0x23, 7, ..] => Filter::SpirvIds,
            [0x7f, b'E', b'L', b'F', 2, 1, ..] => Filter::ElfSymbols,
            _ => Filter::None,
        }
    }

    /// Applies the filter, which keeps the size; `None` if it does not apply to `image`.
    pub fn forward(self, image: &[u8]) -> Option<Vec<u8>> {
        match self {
            Filter::SpirvIds => spirv_ids::forward(image),
            Filter::ElfSymbols => elf_symbols::forward(image),
            Filter::None | Filter::Unknown(_) => None,
        }
    }

    /// Inverts the filter.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for an unknown filter; another one if `content` is not an output of
    /// [`Filter::forward`].
    pub fn inverse(self, content: Vec<u8>) -> Result<Vec<u8>, Error> {
        match self {
            Filter::None => Ok(content),
            Filter::SpirvIds => spirv_ids::inverse(content),
            Filter::ElfSymbols => elf_symbols::inverse(content),
            Filter::Unknown(value) => Err(unsupported(value)),
        }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Filter::Unknown(value) => Err(unsupported(value)),
            _ => Ok(()),
        }
    }
}

fn unsupported(value: u16) -> Error {
    ErrorKind::Unsupported { what: "filter", value: value.into() }.into()
}
