//! The members of a block.

use super::source::RawImage;
use offload_format::codec::Filter;

/// The images of a block.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// The filter of all images.
    pub(super) filter: Filter,
    pub(super) images: Vec<RawImage>,
}

impl Members {
    pub(super) fn size(&self) -> u64 {
        total(&self.images)
    }
}

/// Splits images into consecutive groups of at most `limit` bytes.
pub(super) fn split_by_size(images: &[RawImage], limit: u64) -> Vec<Vec<RawImage>> {
    let mut blocks: Vec<Vec<RawImage>> = Vec::new();
    for image in images {
        match blocks.last_mut() {
            Some(block) if total(block).saturating_add(image.size) <= limit => block.push(*image),
            _ => blocks.push(vec![*image]),
        }
    }
    blocks
}

fn total(block: &[RawImage]) -> u64 {
    block.iter().map(|image| image.size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offload_format::{Hash128, ImageKind};

    #[test]
    fn blocks_are_full_and_in_order() {
        let images = [60u64, 30, 20, 90, 5, 5].map(|size| RawImage {
            hash: Hash128::digest(&size.to_le_bytes()),
            size,
            kind: ImageKind::SpirV,
        });
        let mut sizes = Vec::new();
        for block in split_by_size(&images, 100) {
            sizes.push(block.iter().map(|image| image.size).collect::<Vec<_>>());
        }
        assert_eq!(sizes, [vec![60, 30], vec![20], vec![90, 5, 5]]);
    }
}
