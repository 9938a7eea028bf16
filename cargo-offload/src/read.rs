//! Input of commands: packs, other toolchains' containers, and their images.

pub(crate) mod disassemble;
pub(crate) mod files;
pub(crate) mod input;
pub(crate) mod inputs;
pub(crate) mod limit_hint;
pub(crate) mod metadata;
pub(crate) mod missing;
pub(crate) mod no_images;
pub(crate) mod pack_file;
pub(crate) mod packs;
pub(crate) mod program;
pub(crate) mod records;
#[cfg(feature = "devices")]
pub(crate) mod registry;
pub(crate) mod sidecar;
pub(crate) mod syclbin;
