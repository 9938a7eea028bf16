//! The bundle state of a file, and its image kind in the envelope.

use std::fmt;

/// The state of the kernels in a file (`sycl::bundle_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleState {
    /// Source for compiling and linking.
    Input,
    /// Objects for linking.
    Object,
    /// Launchable kernels.
    Executable,
}

impl BundleState {
    /// The number on disk.
    pub fn to_u32(self) -> u32 {
        match self {
            BundleState::Input => 0,
            BundleState::Object => 1,
            BundleState::Executable => 2,
        }
    }

    /// The state with this number.
    pub fn from_u32(number: u32) -> Option<BundleState> {
        [BundleState::Input, BundleState::Object, BundleState::Executable]
            .into_iter()
            .find(|state| state.to_u32() == number)
    }
}

impl fmt::Display for BundleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            BundleState::Input => "input",
            BundleState::Object => "object",
            BundleState::Executable => "executable",
        })
    }
}

/// The image kind of a SYCLBIN in its envelope, which changed between releases of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageKindNumber(pub u16);

impl ImageKindNumber {
    /// Read by oneAPI 2025.3 only.
    pub const ONEAPI_2025_3: ImageKindNumber = ImageKindNumber(6);
    /// Read by oneAPI 2026.0 and later.
    pub const ONEAPI_2026: ImageKindNumber = ImageKindNumber(7);
}

impl Default for ImageKindNumber {
    /// Read by oneAPI 2026.0 and later.
    fn default() -> ImageKindNumber {
        ImageKindNumber::ONEAPI_2026
    }
}
