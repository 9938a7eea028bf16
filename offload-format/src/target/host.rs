//! Levels of the host's instruction set.

use std::fmt;

/// The instruction set level of a `host` image.
///
/// The levels of x86-64 are those of the psABI (<https://gitlab.com/x86-psABIs/x86-64-ABI>), those of AArch64 are versions of
/// Arm's architecture (<https://developer.arm.com/documentation/ddi0487/latest>).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HostLevel {
    /// The baseline of the program's target.
    #[default]
    Baseline,
    /// x86-64 with SSE4.2 and POPCNT.
    X86V2,
    /// x86-64 with AVX2, BMI and FMA.
    X86V3,
    /// x86-64 with AVX-512 F, BW, CD, DQ and VL.
    X86V4,
    /// Armv8.2-A with atomics (LSE), the dot product and arithmetic on `half`: Neoverse N1, Apple M1, Cortex-A76.
    Arm82,
    /// The same with SVE: Neoverse V1, V2 and N2.
    Arm82Sve,
}

impl HostLevel {
    /// Every level but the baseline.
    pub const ABOVE_BASELINE: [HostLevel; 5] =
        [HostLevel::X86V2, HostLevel::X86V3, HostLevel::X86V4, HostLevel::Arm82, HostLevel::Arm82Sve];

    /// Whether a CPU of level `cpu` executes code of this one.
    ///
    /// ```
    /// use offload_format::HostLevel;
    ///
    /// assert!(HostLevel::X86V2.runs_on(HostLevel::X86V3));
    /// assert!(!HostLevel::Arm82.runs_on(HostLevel::X86V3));
    /// ```
    pub fn runs_on(self, cpu: HostLevel) -> bool {
        let is_arm = |level| matches!(level, HostLevel::Arm82 | HostLevel::Arm82Sve);
        self == HostLevel::Baseline || self <= cpu && is_arm(self) == is_arm(cpu)
    }

    pub(super) fn parse(text: &str) -> Option<HostLevel> {
        match text {
            "x86-64-v2" => Some(HostLevel::X86V2),
            "x86-64-v3" => Some(HostLevel::X86V3),
            "x86-64-v4" => Some(HostLevel::X86V4),
            "armv8.2-a" => Some(HostLevel::Arm82),
            "armv8.2-a+sve" => Some(HostLevel::Arm82Sve),
            _ => None,
        }
    }
}

impl fmt::Display for HostLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            HostLevel::Baseline => "baseline",
            HostLevel::X86V2 => "x86-64-v2",
            HostLevel::X86V3 => "x86-64-v3",
            HostLevel::X86V4 => "x86-64-v4",
            HostLevel::Arm82 => "armv8.2-a",
            HostLevel::Arm82Sve => "armv8.2-a+sve",
        })
    }
}
