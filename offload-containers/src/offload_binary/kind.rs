//! Offload kind numbers, whose meaning changed without a new version.

use std::fmt;

use offload_format::OffloadKind;

/// The number on disk. LLVM 21 turned the numbers into a bit mask
/// (<https://github.com/llvm/llvm-project/pull/135809>): 3 was HIP and 4 was SYCL, now 4 is HIP and 8 is SYCL.
///
/// ```
/// use offload_format::OffloadKind;
/// use offload_containers::offload_binary::OffloadKindNumber;
///
/// let four = OffloadKindNumber(4);
/// assert_eq!((four.before_llvm_21(), four.since_llvm_21()), (OffloadKind::Sycl, OffloadKind::Hip));
/// assert_eq!(four.for_triple(Some("spir64-unknown-unknown")), OffloadKind::Sycl);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffloadKindNumber(pub u16);

impl OffloadKindNumber {
    /// The meaning for LLVM up to 20 and DPC++ up to 2025.2.
    pub fn before_llvm_21(self) -> OffloadKind {
        match self.0 {
            3 => OffloadKind::Hip,
            4 => OffloadKind::Sycl,
            0..=2 => OffloadKind::from_u16(self.0),
            other => OffloadKind::Unknown(other),
        }
    }

    /// The meaning for LLVM 21 and later.
    pub fn since_llvm_21(self) -> OffloadKind {
        OffloadKind::from_u16(self.0)
    }

    /// The meaning that agrees with the image's target `triple`, or else the meaning for LLVM 21 and later.
    pub fn for_triple(self, triple: Option<&str>) -> OffloadKind {
        let is_spirv = triple.is_some_and(|triple| triple.starts_with("spir"));
        match self.0 {
            3 => OffloadKind::Hip,
            4 if is_spirv => OffloadKind::Sycl,
            _ => self.since_llvm_21(),
        }
    }
}

impl fmt::Display for OffloadKindNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
