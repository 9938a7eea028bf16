//! What commands change: packs made of the images of others, and the programs and files that they go to.

pub(crate) mod raw_images;
pub(crate) mod relocate;
pub(crate) mod repack;
pub(crate) mod rewrite;
