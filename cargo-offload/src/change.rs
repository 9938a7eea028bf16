//! Rewriting of packs, and of the programs and files that hold them.

pub(crate) mod raw_images;
pub(crate) mod relocate;
pub(crate) mod repack;
pub(crate) mod rewrite;
