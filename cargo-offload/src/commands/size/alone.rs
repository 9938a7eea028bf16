//! Sizes of images that are compressed separately.

use std::collections::BTreeSet;

use offload_format::Hash128;
use offload_format::codec::{self, RELEASE_LEVEL};

use crate::error::Result;
use crate::read::input::Contents;
use crate::read::records::{self, ImageRecord, Origin};

/// Maximum size of the compressor's tables, in proportion to the file, which is untrusted. From 3 MiB on
/// it has all that it asks for.
fn tables(file: u64) -> u64 {
    file.saturating_mul(32).saturating_add(4 << 20).min(128 << 20)
}

/// The sum of all images, each compressed alone; equal ones count each time.
pub(super) fn size(contents: &Contents<'_>, images: &[ImageRecord]) -> Result<u64> {
    let origins: BTreeSet<Origin> = images.iter().map(|image| image.origin).collect();
    let origins: Vec<Origin> = origins.into_iter().collect();
    let mut known = std::collections::BTreeMap::new();
    let mut sum = 0u64;
    records::each_decoded(contents, &origins, &mut |_, bytes| {
        let bytes = bytes?;
        let hash = Hash128::digest(&bytes);
        let size = match known.get(&hash) {
            Some(size) => *size,
            None => codec::compressed_size(&bytes, RELEASE_LEVEL, tables(contents.size))?,
        };
        known.insert(hash, size);
        sum = sum.saturating_add(size);
        Ok(())
    })?;
    Ok(sum)
}
