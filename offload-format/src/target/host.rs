//! Levels of the host's instruction set.

use std::fmt;

/// The instruction set level of a `host` image.
///
/// The levels of x86-64 are those of the psABI (<https://gitlab.com/x86-psABIs/x86-64-ABI>).
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
}

impl HostLevel {
    pub(super) fn parse(text: &str) -> Option<HostLevel> {
        match text {
            "x86-64-v2" => Some(HostLevel::X86V2),
            "x86-64-v3" => Some(HostLevel::X86V3),
            "x86-64-v4" => Some(HostLevel::X86V4),
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
        })
    }
}
