//! Blocks for clusters: of each cluster a member at a time, so that a block with the second members of some clusters can
//! build on the one with their first members.
//!
//! A file that is compiled for twenty targets has a few clusters of images that hardly differ. A block that held a whole
//! cluster would be full of what one frame says in a few bytes, and have no room for other files, which share templates.

use std::collections::BTreeMap;

use super::members::cut;
use super::similarity_order;
use super::sketch::{self, Sketch};
use super::source::RawImage;
use crate::Hash128;

/// Members of a cluster share so many tenths of their windows.
const TENTHS: usize = 8;

/// What lies in each block, of `images` in an order in which similar ones are neighbours; in a block are at most `limit`
/// bytes.
pub(super) fn blocks(
    images: &[RawImage],
    sketches: &BTreeMap<Hash128, Sketch>,
    limit: u64,
) -> Vec<Vec<RawImage>> {
    let clusters = clusters(images, sketches);
    // Members differ in size: second ones have to fit where first ones do.
    let groups = grouped(&clusters, limit - limit / 8);
    groups.into_iter().flat_map(ranks).flat_map(|rank| cut(&rank, limit)).collect()
}

type Cluster = Vec<RawImage>;

/// Neighbours that resemble the first of them, in an order in which related clusters are neighbours.
fn clusters(images: &[RawImage], sketches: &BTreeMap<Hash128, Sketch>) -> Vec<Cluster> {
    let mut clusters: Vec<(&[u64], Cluster)> = Vec::new();
    for image in images {
        let sketch = sketches.get(&image.hash).map(Vec::as_slice).unwrap_or_default();
        match clusters.last_mut() {
            Some((first, cluster)) if sketch::shared(first, sketch) * 10 > first.len() * TENTHS => {
                cluster.push(*image);
            }
            _ => clusters.push((sketch, vec![*image])),
        }
    }
    let sketches: Vec<Sketch> = clusters.iter().map(|(first, _)| first.to_vec()).collect();
    let order = similarity_order::order(&sketches);
    order.into_iter().filter_map(|place| clusters.get(place)).map(|(_, cluster)| cluster.clone()).collect()
}

/// Clusters whose first members fill a block.
fn grouped(clusters: &[Cluster], limit: u64) -> Vec<&[Cluster]> {
    let first = |cluster: &Cluster| cluster.first().map_or(0, |image| image.size);
    let mut groups = Vec::new();
    let mut rest = clusters;
    while !rest.is_empty() {
        let mut size = 0u64;
        let fits = |cluster: &&Cluster| {
            size = size.saturating_add(first(cluster));
            size <= limit
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (group, left) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        groups.push(group);
        rest = left;
    }
    groups
}

/// The first members, the second ones, and so on.
fn ranks(group: &[Cluster]) -> Vec<Vec<RawImage>> {
    let most = group.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).map(|rank| group.iter().filter_map(|cluster| cluster.get(rank)).copied().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ImageKind;

    /// Files of two clusters each: the second file has the templates of the first one, its second cluster more images.
    #[test]
    fn members_of_a_rank_lie_together() {
        let image = |name: u64| RawImage {
            hash: Hash128::of(&name.to_le_bytes()),
            size: 100,
            kind: ImageKind::Object,
        };
        let names = [10, 11, 20, 21, 22, 30, 40];
        let images: Vec<RawImage> = names.into_iter().map(image).collect();
        let sketch = |name: u64| (name / 10 * 100..name / 10 * 100 + 10).collect::<Sketch>();
        let sketches = names.into_iter().map(|name| (image(name).hash, sketch(name))).collect();
        let of = |limit: u64| -> Vec<Vec<u64>> {
            let blocks = blocks(&images, &sketches, limit);
            let name =
                |found: &RawImage| names.into_iter().find(|name| image(*name).hash == found.hash).unwrap();
            blocks.iter().map(|block| block.iter().map(name).collect()).collect()
        };
        assert_eq!(of(1000), [vec![10, 20, 30, 40], vec![11, 21], vec![22]]);
        assert_eq!(of(240), [vec![10, 20], vec![11, 21], vec![22], vec![30, 40]]);
        // What does not fit is alone.
        assert_eq!(of(50), [vec![10], vec![11], vec![20], vec![21], vec![22], vec![30], vec![40]]);
    }
}
