//! What a device must support beyond the basics, by SYCL's names
//! (<https://registry.khronos.org/SYCL/specs/sycl-2020/html/sycl-2020.html#sec:device-aspects>).

use std::fmt;
use std::ops::BitOr;

/// A set of optional features of devices that an image uses.
///
/// Bits that this release does not know are kept: an image that has one needs a device of which this release cannot
/// say whether it fits.
///
/// ```
/// use offload_format::Aspects;
///
/// let needed = Aspects::FP64 | Aspects::FP16;
/// assert_eq!(needed.to_string(), "fp16, fp64");
/// assert_eq!(needed.missing_from(Aspects::FP16), Aspects::FP64);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aspects(u32);

const NAMES: [(Aspects, &str); 5] = [
    (Aspects::FP16, "fp16"),
    (Aspects::FP64, "fp64"),
    (Aspects::ATOMIC64, "atomic64"),
    (Aspects::BF16, "bf16"),
    (Aspects::IMAGE, "image"),
];

impl Aspects {
    /// Every aspect that this release knows.
    pub const ALL: Aspects = Aspects(31);
    /// 16-bit floating-point numbers.
    pub const FP16: Aspects = Aspects(1);
    /// 64-bit floating-point numbers.
    pub const FP64: Aspects = Aspects(2);
    /// Atomic operations on 64-bit integers.
    pub const ATOMIC64: Aspects = Aspects(4);
    /// Numbers in bfloat16.
    pub const BF16: Aspects = Aspects(8);
    /// Images, read by samplers or not.
    pub const IMAGE: Aspects = Aspects(16);

    /// The set with these bits.
    pub fn from_bits(bits: u32) -> Aspects {
        Aspects(bits)
    }

    /// The bits on disk.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether nothing is needed.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The name of each aspect of the set; what this release does not know is `unknown(BITS)`.
    pub fn names(self) -> Vec<String> {
        let known = NAMES.iter().filter(|(aspect, _)| self.0 & aspect.0 != 0);
        let mut names: Vec<String> = known.map(|(_, name)| (*name).to_string()).collect();
        let rest = self.missing_from(Aspects::ALL);
        if !rest.is_empty() {
            names.push(format!("unknown({:#x})", rest.0));
        }
        names
    }

    /// What of this set is not in `device`.
    #[must_use]
    pub fn missing_from(self, device: Aspects) -> Aspects {
        Aspects(self.0 & !device.0)
    }
}

impl BitOr for Aspects {
    type Output = Aspects;

    fn bitor(self, other: Aspects) -> Aspects {
        Aspects(self.0 | other.0)
    }
}

impl FromIterator<Aspects> for Aspects {
    fn from_iter<I: IntoIterator<Item = Aspects>>(sets: I) -> Aspects {
        sets.into_iter().fold(Aspects::default(), Aspects::bitor)
    }
}

impl fmt::Display for Aspects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.names().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_what_has_a_name() {
        assert_eq!(NAMES.iter().map(|(aspect, _)| *aspect).collect::<Aspects>(), Aspects::ALL);
        assert_eq!((Aspects::FP64 | Aspects(0x60)).names(), ["fp64", "unknown(0x60)"]);
    }
}
