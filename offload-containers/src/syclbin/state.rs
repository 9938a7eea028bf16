//! What a file is made for, and the number by which a runtime knows it.

use std::fmt;

/// What a SYCL program may do with the file (`sycl::bundle_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// To be compiled and linked.
    Input,
    /// To be linked.
    Object,
    /// To be launched.
    Executable,
}

impl State {
    /// The number on disk.
    pub fn to_u32(self) -> u32 {
        match self {
            State::Input => 0,
            State::Object => 1,
            State::Executable => 2,
        }
    }

    /// The state with this number.
    pub fn from_u32(number: u32) -> Option<State> {
        [State::Input, State::Object, State::Executable].into_iter().find(|state| state.to_u32() == number)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            State::Input => "input",
            State::Object => "object",
            State::Executable => "executable",
        })
    }
}

/// LLVM's number for a SYCLBIN in its envelope, which changed between releases of the runtime.
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
