//! Device aspects that an image requires: optional hardware features by SYCL's names
//! (<https://registry.khronos.org/SYCL/specs/sycl-2020/html/sycl-2020.html#sec:device-aspects>), and optional features of
//! a driver's SPIR-V compiler (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Env.html>).

use std::fmt;
use std::ops::BitOr;

/// A set of optional features of devices that an image uses.
///
/// Unknown bits are preserved. No device of this release has them, so that an image with one is never selected.
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

const NAMES: [(Aspects, &str); 20] = [
    (Aspects::FP16, "fp16"),
    (Aspects::FP64, "fp64"),
    (Aspects::ATOMIC64, "atomic64"),
    (Aspects::BF16, "bf16"),
    (Aspects::IMAGE, "image"),
    (Aspects::GENERIC_POINTER, "generic-pointer"),
    (Aspects::GROUPS, "groups"),
    (Aspects::SUB_GROUP_VOTE, "sub-group-vote"),
    (Aspects::SUB_GROUP_ARITHMETIC, "sub-group-arithmetic"),
    (Aspects::SUB_GROUP_BALLOT, "sub-group-ballot"),
    (Aspects::SUB_GROUP_SHUFFLE, "sub-group-shuffle"),
    (Aspects::SUB_GROUP_SHUFFLE_RELATIVE, "sub-group-shuffle-relative"),
    (Aspects::SUB_GROUP_CLUSTERED, "sub-group-clustered"),
    (Aspects::INTEL_SUB_GROUPS, "intel-sub-groups"),
    (Aspects::DOT_PRODUCT, "dot-product"),
    (Aspects::FLOAT_ATOMICS, "float-atomics"),
    (Aspects::IMAGE_READ_WRITE, "image-read-write"),
    (Aspects::PIPES, "pipes"),
    (Aspects::LINKER, "linker"),
    (Aspects::GLOBAL_VARIABLES, "global-variables"),
];

/// The first aspects are of the hardware, the others of a driver's compiler.
const HARDWARE: u32 = 31;

impl Aspects {
    /// Every aspect that this release knows.
    pub const ALL: Aspects = Aspects(0xf_ffff);
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
    /// Pointers to any kind of memory.
    pub const GENERIC_POINTER: Aspects = Aspects(1 << 5);
    /// Functions that a whole work-group or sub-group calls.
    pub const GROUPS: Aspects = Aspects(1 << 6);
    /// Non-uniform votes of a sub-group.
    pub const SUB_GROUP_VOTE: Aspects = Aspects(1 << 7);
    /// Non-uniform reductions and scans of a sub-group.
    pub const SUB_GROUP_ARITHMETIC: Aspects = Aspects(1 << 8);
    /// Ballots of a sub-group.
    pub const SUB_GROUP_BALLOT: Aspects = Aspects(1 << 9);
    /// Shuffles of a sub-group.
    pub const SUB_GROUP_SHUFFLE: Aspects = Aspects(1 << 10);
    /// Shuffles of a sub-group by a relative distance.
    pub const SUB_GROUP_SHUFFLE_RELATIVE: Aspects = Aspects(1 << 11);
    /// Clustered reductions of a sub-group.
    pub const SUB_GROUP_CLUSTERED: Aspects = Aspects(1 << 12);
    /// Shuffles and block reads of Intel's extension.
    pub const INTEL_SUB_GROUPS: Aspects = Aspects(1 << 13);
    /// Dot products of vectors of 8-bit integers.
    pub const DOT_PRODUCT: Aspects = Aspects(1 << 14);
    /// Atomic addition, minimum and maximum of floating-point numbers.
    pub const FLOAT_ATOMICS: Aspects = Aspects(1 << 15);
    /// Images that a kernel reads and writes.
    pub const IMAGE_READ_WRITE: Aspects = Aspects(1 << 16);
    /// Pipes of OpenCL 2.
    pub const PIPES: Aspects = Aspects(1 << 17);
    /// Linking images at load time. Images that import or export functions require it.
    pub const LINKER: Aspects = Aspects(1 << 18);

    /// Program-scope variables in global memory. Images for OpenCL whose kernels assert require it.
    pub const GLOBAL_VARIABLES: Aspects = Aspects(1 << 19);

    /// The set with these bits.
    pub fn from_bits(bits: u32) -> Aspects {
        Aspects(bits)
    }

    /// The bits on disk.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The name of each aspect of the set; unknown ones are `unknown(BITS)`.
    pub fn names(self) -> Vec<String> {
        let known = NAMES.iter().filter(|(aspect, _)| self.0 & aspect.0 != 0);
        let mut names: Vec<String> = known.map(|(_, name)| (*name).to_string()).collect();
        let rest = self.missing_from(Aspects::ALL);
        if !rest.is_empty() {
            names.push(format!("unknown({:#x})", rest.0));
        }
        names
    }

    /// The hardware features of the set, which native code requires too; without those of a driver's compiler.
    #[must_use]
    pub fn hardware(self) -> Aspects {
        Aspects(self.0 & HARDWARE)
    }

    /// The aspects of this set that `device` lacks.
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
        assert_eq!((Aspects::FP64 | Aspects(0x60_0000)).names(), ["fp64", "unknown(0x600000)"]);
        assert_eq!((Aspects::IMAGE | Aspects::PIPES).hardware(), Aspects::IMAGE);
    }
}
