//! SPIR-V versions.

use std::fmt;

/// A SPIR-V version from 1.0 to 1.6, shown as `v1.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpirvVersion(u8);

impl SpirvVersion {
    /// SPIR-V 1.2, which every OpenCL driver with SPIR-V support accepts.
    pub const V1_2: SpirvVersion = SpirvVersion(2);
    /// SPIR-V 1.3, the first with functions of sub-groups for some of their work-items.
    pub const V1_3: SpirvVersion = SpirvVersion(3);

    /// The version 1.`minor`, if there is one.
    pub fn new(minor: u8) -> Option<SpirvVersion> {
        (minor <= 6).then_some(SpirvVersion(minor))
    }

    /// The minor number.
    pub fn minor(self) -> u8 {
        self.0
    }

    /// The version word of a module's header, as `0x00010200` for 1.2.
    pub fn word(self) -> u32 {
        0x0001_0000 | u32::from(self.0) << 8
    }

    pub(super) fn parse(text: &str) -> Option<SpirvVersion> {
        SpirvVersion::new(text.strip_prefix("v1.")?.parse().ok()?)
    }
}

impl Default for SpirvVersion {
    /// [`SpirvVersion::V1_2`].
    fn default() -> SpirvVersion {
        SpirvVersion::V1_2
    }
}

impl fmt::Display for SpirvVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v1.{}", self.0)
    }
}
