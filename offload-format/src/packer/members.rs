//! What lies in a block.

use super::source::RawImage;
use crate::codec::Filter;

/// The images of a block.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// All of the images go through it.
    pub(super) filter: Filter,
    pub(super) images: Vec<RawImage>,
}

impl Members {
    pub(super) fn size(&self) -> u64 {
        total(&self.images)
    }
}

/// Images one after another, in groups of at most `limit` bytes.
pub(super) fn cut(images: &[RawImage], limit: u64) -> Vec<Vec<RawImage>> {
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
    use crate::{Hash128, ImageKind};

    #[test]
    fn blocks_are_full_and_in_order() {
        let image =
            |size: u64| RawImage { hash: Hash128::of(&size.to_le_bytes()), size, kind: ImageKind::SpirV };
        let images: Vec<RawImage> = [60, 30, 20, 90, 5, 5].into_iter().map(image).collect();
        let sizes: Vec<Vec<u64>> =
            cut(&images, 100).iter().map(|block| block.iter().map(|image| image.size).collect()).collect();
        assert_eq!(sizes, [vec![60, 30], vec![20], vec![90, 5, 5]]);
    }
}
