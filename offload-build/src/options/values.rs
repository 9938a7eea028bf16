//! Values of options that the compiler takes from crates that a build script without it does not have.

use std::fmt;

/// The value of a specialisation constant, in OpenCL C's types.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SpecValue {
    /// `bool`.
    Bool(bool),
    /// `int`.
    Int(i32),
    /// `uint`.
    UInt(u32),
    /// `long`.
    Long(i64),
    /// `ulong`.
    ULong(u64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
}

/// The state of the kernels in a SYCLBIN (`sycl::bundle_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyclState {
    /// Source for compiling and linking.
    Input,
    /// Objects for linking.
    Object,
    /// Launchable kernels.
    Executable,
}

impl SpecValue {
    /// The type, in OpenCL C's words.
    pub fn type_name(self) -> &'static str {
        match self {
            SpecValue::Bool(_) => "bool",
            SpecValue::Int(_) => "int",
            SpecValue::UInt(_) => "uint",
            SpecValue::Long(_) => "long",
            SpecValue::ULong(_) => "ulong",
            SpecValue::Float(_) => "float",
            SpecValue::Double(_) => "double",
        }
    }
}

impl fmt::Display for SpecValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecValue::Bool(value) => write!(f, "{value}"),
            SpecValue::Int(value) => write!(f, "{value}"),
            SpecValue::UInt(value) => write!(f, "{value}"),
            SpecValue::Long(value) => write!(f, "{value}"),
            SpecValue::ULong(value) => write!(f, "{value}"),
            // Also 16.0 has a fraction, and no digit is lost.
            SpecValue::Float(value) => write!(f, "{value:?}"),
            SpecValue::Double(value) => write!(f, "{value:?}"),
        }
    }
}

macro_rules! from {
    ($($variant:ident($rust:ty)),+) => {
        $(impl From<$rust> for SpecValue {
            fn from(value: $rust) -> SpecValue {
                SpecValue::$variant(value)
            }
        })+
    };
}

from!(Bool(bool), Int(i32), UInt(u32), Long(i64), ULong(u64), Float(f32), Double(f64));

#[cfg(test)]
#[cfg(feature = "compiler")]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_a_build_script_that_compiles() {
        macro_rules! same {
            ($($value:expr),+) => {$(
                let own = SpecValue::from($value);
                let other = offload_format::SpecValue::from($value);
                assert_eq!((own.type_name(), own.to_string()), (other.type_name(), other.to_string()));
            )+};
        }
        same!(true, i32::MIN, u32::MAX, i64::MIN, u64::MAX, 1e-45f32, -0.0f32, 16.0f32, f64::MAX, 0.1f64);
        let states = [SyclState::Input, SyclState::Object, SyclState::Executable];
        let names = crate::options::SYCL_STATES.map(|(_, state)| format!("{state:?}"));
        assert_eq!(states.map(|state| format!("{state:?}")), names);
    }
}
