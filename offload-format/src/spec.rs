//! Specialisation constants, which a program sets when it loads an image, and their text form in a pack.

use std::fmt;

/// The value of a specialisation constant, with its type.
///
/// Two values are equal if type and bits are: `0.0` and `-0.0` are two.
///
/// ```
/// use offload_format::SpecValue;
///
/// let value = SpecValue::from(16);
/// assert_eq!((value.type_name(), value.to_string().as_str()), ("int", "16"));
/// assert_eq!(SpecValue::parse("int", "16"), Some(value));
/// assert_ne!(SpecValue::from(16u32), value);
/// ```
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

/// How an image takes the value of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecUse {
    /// It was compiled with the default, and has no other value.
    Fixed,
    /// It takes a value when it is loaded, under this number.
    Id(u32),
    /// Its code does not depend on the value.
    Unused,
}

/// A specialisation constant of an image.
///
/// ```
/// use offload_format::{SpecConstant, SpecUse};
///
/// let all = SpecConstant::list("SCALE@0:float=1.5,TILE:int=16,WIDE@:bool=false");
/// assert_eq!((all[0].name.as_str(), all[0].usage), ("SCALE", SpecUse::Id(0)));
/// assert_eq!((all[1].usage, all[2].usage), (SpecUse::Fixed, SpecUse::Unused));
/// assert_eq!(all[1].default, 16.into());
/// assert_eq!(all[0].to_string(), "SCALE@0:float=1.5");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpecConstant {
    /// Its name in the kernels' source.
    pub name: String,
    /// How the image takes a value.
    pub usage: SpecUse,
    /// The default value.
    pub default: SpecValue,
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

    /// Parses a value of the type `type_name`, as [`Display`](fmt::Display) writes it; `None` for an unknown type.
    pub fn parse(type_name: &str, text: &str) -> Option<SpecValue> {
        Some(match type_name {
            "bool" => SpecValue::Bool(text.parse().ok()?),
            "int" => SpecValue::Int(text.parse().ok()?),
            "uint" => SpecValue::UInt(text.parse().ok()?),
            "long" => SpecValue::Long(text.parse().ok()?),
            "ulong" => SpecValue::ULong(text.parse().ok()?),
            "float" => SpecValue::Float(text.parse().ok()?),
            "double" => SpecValue::Double(text.parse().ok()?),
            _ => return None,
        })
    }

    /// The bits, in the low bytes.
    pub fn bits(self) -> u64 {
        match self {
            SpecValue::Bool(value) => value.into(),
            SpecValue::Int(value) => value.cast_unsigned().into(),
            SpecValue::UInt(value) => value.into(),
            SpecValue::Long(value) => value.cast_unsigned(),
            SpecValue::ULong(value) => value,
            SpecValue::Float(value) => value.to_bits().into(),
            SpecValue::Double(value) => value.to_bits(),
        }
    }

    /// Bytes of a value of this type; a `bool` has one.
    pub fn size(self) -> usize {
        match self {
            SpecValue::Bool(_) => 1,
            SpecValue::Int(_) | SpecValue::UInt(_) | SpecValue::Float(_) => 4,
            SpecValue::Long(_) | SpecValue::ULong(_) | SpecValue::Double(_) => 8,
        }
    }

    /// The bits as an unsigned integer literal of OpenCL C: `0x10u`, `0x10ul`.
    pub fn bits_literal(self) -> String {
        let suffix = if self.size() == 8 { "ul" } else { "u" };
        format!("{:#x}{suffix}", self.bits())
    }

    /// Whether it is a number: neither infinite nor NaN.
    pub fn is_finite(self) -> bool {
        match self {
            SpecValue::Float(value) => value.is_finite(),
            SpecValue::Double(value) => value.is_finite(),
            _ => true,
        }
    }
}

impl PartialEq for SpecValue {
    fn eq(&self, other: &SpecValue) -> bool {
        self.type_name() == other.type_name() && self.bits() == other.bits()
    }
}

impl Eq for SpecValue {}

macro_rules! from {
    ($($type:ty => $case:ident,)*) => {
        $(
            impl From<$type> for SpecValue {
                fn from(value: $type) -> SpecValue {
                    SpecValue::$case(value)
                }
            }
        )*
    };
}

from! {
    bool => Bool,
    i32 => Int,
    u32 => UInt,
    i64 => Long,
    u64 => ULong,
    f32 => Float,
    f64 => Double,
}

impl fmt::Display for SpecValue {
    /// The value without its type; of a floating-point number the shortest text that gives the same bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecValue::Bool(value) => write!(f, "{value}"),
            SpecValue::Int(value) => write!(f, "{value}"),
            SpecValue::UInt(value) => write!(f, "{value}"),
            SpecValue::Long(value) => write!(f, "{value}"),
            SpecValue::ULong(value) => write!(f, "{value}"),
            SpecValue::Float(value) => write!(f, "{value:?}"),
            SpecValue::Double(value) => write!(f, "{value:?}"),
        }
    }
}

impl SpecConstant {
    /// The constant `name` with its default, in an image that takes its value as `usage` says.
    pub fn new(name: impl Into<String>, usage: SpecUse, default: SpecValue) -> SpecConstant {
        SpecConstant { name: name.into(), usage, default }
    }

    /// Parses the constants in `text`, separated by `,`. A constant in an unknown form is skipped: later releases may add
    /// types.
    pub fn list(text: &str) -> Vec<SpecConstant> {
        // The fast path: most images have none.
        if text.is_empty() {
            return Vec::new();
        }
        text.split(',').filter_map(SpecConstant::parse).collect()
    }

    /// The macro with the bits of the constant `name` in OpenCL C, which a driver redefines to specialise the source.
    pub fn bits_macro(name: &str) -> String {
        format!("__offload_bits_{name}")
    }

    fn parse(text: &str) -> Option<SpecConstant> {
        let (declaration, value) = text.split_once('=')?;
        let (name_and_id, type_name) = declaration.split_once(':')?;
        let (name, usage) = match name_and_id.split_once('@') {
            None => (name_and_id, SpecUse::Fixed),
            Some((name, "")) => (name, SpecUse::Unused),
            Some((name, id)) => (name, SpecUse::Id(id.parse().ok()?)),
        };
        let default = SpecValue::parse(type_name, value)?;
        (!name.is_empty()).then(|| SpecConstant::new(name, usage, default))
    }
}

impl fmt::Display for SpecConstant {
    /// `NAME:TYPE=VALUE` if the value is fixed, `NAME@ID:TYPE=VALUE` if the image takes one, `NAME@:TYPE=VALUE` if the
    /// image does not depend on it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.usage {
            SpecUse::Fixed => {}
            SpecUse::Id(id) => write!(f, "@{id}")?,
            SpecUse::Unused => f.write_str("@")?,
        }
        write!(f, ":{}={}", self.default.type_name(), self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTREMES: [SpecValue; 12] = [
        SpecValue::Bool(true),
        SpecValue::Int(i32::MIN),
        SpecValue::UInt(u32::MAX),
        SpecValue::Long(i64::MIN),
        SpecValue::ULong(u64::MAX),
        SpecValue::Float(-0.0),
        SpecValue::Float(f32::MIN_POSITIVE),
        SpecValue::Float(0.1),
        SpecValue::Double(0.1),
        SpecValue::Double(f64::MAX),
        SpecValue::Double(5e-324),
        SpecValue::Float(16_777_216.0),
    ];

    #[test]
    fn texts_give_the_same_bits() {
        for default in EXTREMES {
            for usage in [SpecUse::Fixed, SpecUse::Unused, SpecUse::Id(7)] {
                let constant = SpecConstant { name: "N_1".into(), usage, default };
                assert_eq!(SpecConstant::list(&constant.to_string()), [constant], "{default}");
            }
        }
    }

    #[test]
    fn values_of_two_types_or_bits_differ() {
        assert_ne!(SpecValue::from(1), SpecValue::from(1u32));
        assert_ne!(SpecValue::from(0.0f32), SpecValue::from(-0.0f32));
        assert_eq!(SpecValue::from(-1).bits_literal(), "0xffffffffu");
        assert_eq!(SpecValue::from(1.0).bits_literal(), "0x3ff0000000000000ul");
        assert_eq!((SpecValue::from(true).size(), SpecValue::from(1.0).size()), (1, 8));
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        let all = SpecConstant::list("A:half=1.0,:int=1,B@x:int=1,C:int=1.5,D@2:int=3,,E");
        assert_eq!(all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["D"]);
    }
}
