//! Numbers that look random, and are the same on every machine.

/// Marsaglia's xorshift. The state is never 0.
pub struct Random(pub u64);

impl Random {
    /// Seeds that follow one another give numbers that have nothing in common.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.number() % limit
    }

    /// A place in something that is so long.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    pub fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }
}
