//! Blocks by rank within clusters of similar images, so that the block with the second members of some clusters can have
//! the block with their first members as parent.
//!
//! A file compiled for twenty targets yields a few clusters of images that hardly differ. A block with a whole cluster
//! would be full of bytes that compress to almost nothing, with no room for other files, which share templates.

use std::collections::BTreeMap;

use super::members::split_by_size;
use super::similarity_order;
use super::sketch::{self, Sketch};
use super::source::RawImage;
use offload_format::Hash128;

/// The tenths of their windows that members of a cluster share.
const SHARED_TENTHS: usize = 8;

/// Groups `images`, which are in similarity order, into blocks of at most `limit` bytes.
pub(super) fn blocks(
    images: &[RawImage],
    sketches: &BTreeMap<Hash128, Sketch>,
    limit: u64,
) -> Vec<Vec<RawImage>> {
    let clusters = clusters(images, sketches);
    // Members differ in size: a block of second members must fit as well.
    let groups = group(&clusters, limit - limit / 8);
    groups.into_iter().flat_map(ranks).flat_map(|rank| split_by_size(&rank, limit)).collect()
}

type Cluster = Vec<RawImage>;

/// Splits `images` into clusters, each similar to its first member; the clusters are in similarity order.
fn clusters(images: &[RawImage], sketches: &BTreeMap<Hash128, Sketch>) -> Vec<Cluster> {
    let mut clusters: Vec<(&[u64], Cluster)> = Vec::new();
    for image in images {
        let sketch = sketches.get(&image.hash).map(Vec::as_slice).unwrap_or_default();
        match clusters.last_mut() {
            Some((first, cluster)) if sketch::shared(first, sketch) * 10 > first.len() * SHARED_TENTHS => {
                cluster.push(*image);
            }
            _ => clusters.push((sketch, vec![*image])),
        }
    }
    let sketches: Vec<Sketch> = clusters.iter().map(|(first, _)| first.to_vec()).collect();
    let order = similarity_order::order(&sketches);
    order.into_iter().filter_map(|place| clusters.get(place)).map(|(_, cluster)| cluster.clone()).collect()
}

/// Groups of clusters whose first members fill a block.
fn group(clusters: &[Cluster], limit: u64) -> Vec<&[Cluster]> {
    let mut groups = Vec::new();
    let mut rest = clusters;
    while !rest.is_empty() {
        let mut size = 0u64;
        let mut count = 0;
        for cluster in rest {
            size = size.saturating_add(cluster.first().map_or(0, |image| image.size));
            if size > limit {
                break;
            }
            count += 1;
        }
        let (group, tail) = rest.split_at_checked(count.max(1)).unwrap_or((rest, &[]));
        groups.push(group);
        rest = tail;
    }
    groups
}

/// The first members of a group, the second ones, and so on.
fn ranks(group: &[Cluster]) -> Vec<Vec<RawImage>> {
    let largest = group.iter().map(Vec::len).max().unwrap_or(0);
    (0..largest).map(|rank| group.iter().filter_map(|cluster| cluster.get(rank)).copied().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offload_format::ImageKind;

    const NAMES: [u64; 7] = [10, 11, 20, 21, 22, 30, 40];

    fn image(name: u64) -> RawImage {
        RawImage { hash: Hash128::digest(&name.to_le_bytes()), size: 100, kind: ImageKind::Object }
    }

    /// The names of the images in each block.
    fn block_names(limit: u64) -> Vec<Vec<u64>> {
        let images = NAMES.map(image);
        let mut sketches = BTreeMap::new();
        for name in NAMES {
            let cluster = name / 10 * 100;
            sketches.insert(image(name).hash, (cluster..cluster + 10).collect::<Sketch>());
        }
        let names: BTreeMap<Hash128, u64> = NAMES.into_iter().map(|name| (image(name).hash, name)).collect();
        let blocks = blocks(&images, &sketches, limit);
        blocks.iter().map(|block| block.iter().map(|image| names[&image.hash]).collect()).collect()
    }

    /// Files of two clusters each: the second file has the templates of the first one, its second cluster more images.
    #[test]
    fn members_of_a_rank_share_a_block() {
        assert_eq!(block_names(1000), [vec![10, 20, 30, 40], vec![11, 21], vec![22]]);
        assert_eq!(block_names(240), [vec![10, 20], vec![11, 21], vec![22], vec![30, 40]]);
        // An image above the limit is alone.
        assert_eq!(block_names(50), [vec![10], vec![11], vec![20], vec![21], vec![22], vec![30], vec![40]]);
    }
}
