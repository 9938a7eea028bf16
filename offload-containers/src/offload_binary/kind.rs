//! The number of the programming model, which changed its meaning without a new version.

use std::fmt;

use offload_format::OffloadKind;

/// The number as it is on disk. LLVM 21 turned the numbers into a bit mask
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
    /// As a producer of LLVM 20 and older, or of DPC++ 2025.2 and older, means it.
    pub fn before_llvm_21(self) -> OffloadKind {
        match self.0 {
            3 => OffloadKind::Hip,
            4 => OffloadKind::Sycl,
            0..=2 => OffloadKind::from_u16(self.0),
            other => OffloadKind::Unknown(other),
        }
    }

    /// As a producer of LLVM 21 and newer means it.
    pub fn since_llvm_21(self) -> OffloadKind {
        OffloadKind::from_u16(self.0)
    }

    /// The reading that agrees with the image's target `triple`; without a clue, that of the newer producers.
    pub fn for_triple(self, triple: Option<&str>) -> OffloadKind {
        let spirv = triple.is_some_and(|triple| triple.starts_with("spir"));
        match self.0 {
            3 => OffloadKind::Hip,
            4 if spirv => OffloadKind::Sycl,
            _ => self.since_llvm_21(),
        }
    }
}

impl fmt::Display for OffloadKindNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
