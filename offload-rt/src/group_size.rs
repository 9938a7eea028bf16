//! The work-group sizes of suggested launches.

use crate::range::NdRange;

/// The work-items that occupy a unit of most devices, for drivers that do not tell: more in a group leave fewer groups.
#[allow(dead_code, reason = "it is unused without the feature of a back end")]
pub(crate) const USUAL_GROUP: usize = 256;

/// The least work-items of a group that small launches are divided into. On a CPU a work-item of a vector addition
/// took up to 3 times as long in groups of 16 as in groups of 256, and up to 1.6 times in groups of 64.
const LEAST_SHARE: usize = 64;

/// The work-group sizes that suit a kernel on its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupSizes {
    /// The best size where there is work for the whole device.
    pub(crate) best: usize,
    /// Sizes are best multiples of this.
    pub(crate) multiple: usize,
    /// The units that a small launch is spread over; 1 if the best size is right for it too.
    pub(crate) units: usize,
}

impl GroupSizes {
    /// The largest multiple of `multiple` up to `most`; `most` if there is none.
    #[allow(dead_code, reason = "it is unused without the feature of a back end")]
    pub(crate) fn with_most(most: usize, multiple: usize) -> GroupSizes {
        let multiple = multiple.max(1);
        let whole = most.saturating_sub(most.checked_rem(multiple).unwrap_or(0));
        let best = if whole == 0 { most.max(1) } else { whole };
        GroupSizes { best, multiple, units: 1 }
    }

    /// The size for a launch of at least `items` work-items: no larger than it needs to be.
    fn for_items(self, items: usize) -> usize {
        let share = items.div_ceil(self.units.max(1)).max(items.clamp(1, LEAST_SHARE));
        let multiple = self.multiple.max(1);
        share.checked_next_multiple_of(multiple).map_or(self.best, |size| size.min(self.best)).max(1)
    }

    /// At least `items` work-items in groups of a size that suits.
    pub(crate) fn range(self, items: usize) -> NdRange {
        NdRange::linear_at_least(items, self.for_items(items))
    }
}

/// At least `items` work-items in groups of the required size `group`, which lie along the first dimension.
pub(crate) fn required_range(items: usize, group: [u32; 3]) -> NdRange {
    let [x, y, z] = group.map(|size| size as usize);
    if y == 1 && z == 1 {
        return NdRange::linear_at_least(items, x);
    }
    let size = x.saturating_mul(y).saturating_mul(z);
    let groups = items.checked_div(size).unwrap_or(0);
    let groups = groups.saturating_add(usize::from(items.checked_rem(size) != Some(0)));
    let width = groups.saturating_mul(x);
    if z == 1 { NdRange::new([width, y], [x, y]) } else { NdRange::new([width, y, z], [x, y, z]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_multiples_and_no_larger_than_the_launch() {
        let sizes = GroupSizes { best: 768, multiple: 32, units: 1 };
        for (items, group, groups) in
            [(0, 32, 0), (1, 32, 1), (33, 64, 1), (768, 768, 1), (769, 768, 2), (1 << 20, 768, 1366)]
        {
            let range = sizes.range(items);
            assert_eq!((range.local(), range.group_count()), ([group, 1, 1], groups), "{items}");
            assert!(range.is_valid() && range.global()[0] >= items);
        }
        assert!(!sizes.range(usize::MAX).is_valid());
    }

    #[test]
    fn small_launches_are_spread_over_the_units() {
        let sizes = GroupSizes { units: 8, ..GroupSizes::with_most(256, 16) };
        for (items, group, groups) in
            [(8, 16, 1), (128, 64, 2), (1024, 128, 8), (2048, 256, 8), (1 << 20, 256, 4096)]
        {
            let range = sizes.range(items);
            assert_eq!((range.local()[0], range.group_count()), (group, groups), "{items}");
        }
    }

    #[test]
    fn the_best_size_is_a_multiple_if_there_is_one() {
        for (most, multiple, best) in [(256, 32, 256), (250, 32, 224), (8, 32, 8), (0, 32, 1), (100, 0, 100)]
        {
            assert_eq!(GroupSizes::with_most(most, multiple).best, best, "{most} {multiple}");
        }
    }

    #[test]
    fn required_sizes_stay() {
        assert_eq!(required_range(1000, [64, 1, 1]), NdRange::linear_at_least(1000, 64));
        assert_eq!(required_range(1000, [16, 16, 1]), NdRange::new([64, 16], [16, 16]));
        assert_eq!(required_range(512, [8, 8, 8]), NdRange::new([8, 8, 8], [8, 8, 8]));
        assert!(required_range(0, [16, 16, 1]).is_empty());
        assert!(!required_range(5, [0, 16, 1]).is_valid());
    }
}
