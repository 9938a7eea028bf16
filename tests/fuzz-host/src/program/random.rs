//! A small generator of pseudo-random numbers (SplitMix64), so that a seed gives the same programs on every machine.

/// The state of the generator.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator for one of the independent sequences of `seed`.
    pub fn new(seed: u64, sequence: u64) -> Random {
        let mut random = Random { state: seed ^ sequence.wrapping_mul(0xd1b5_4a32_d192_ed03) };
        random.bits();
        random
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits().checked_rem(bound).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let count = high.saturating_sub(low).saturating_add(1);
        low.saturating_add(self.below(count))
    }

    /// Whether an event with this probability in percent happens.
    pub fn percent(&mut self, probability: u64) -> bool {
        self.below(100) < probability
    }

    /// One of `items`; the default of the type if there are none.
    pub fn pick<T: Clone + Default>(&mut self, items: &[T]) -> T {
        let index = self.below(items.len() as u64);
        usize::try_from(index).ok().and_then(|index| items.get(index)).cloned().unwrap_or_default()
    }
}
