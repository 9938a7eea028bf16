//! What commands look at: the packs of a file and the containers of other tool chains, and the images in them.

pub(crate) mod disassemble;
pub(crate) mod files;
pub(crate) mod input;
pub(crate) mod inputs;
pub(crate) mod metadata;
pub(crate) mod missing;
pub(crate) mod nothing;
pub(crate) mod over_limit;
pub(crate) mod pack_file;
pub(crate) mod packs;
pub(crate) mod program;
pub(crate) mod records;
#[cfg(feature = "devices")]
pub(crate) mod registry;
pub(crate) mod sidecar;
pub(crate) mod syclbin;
