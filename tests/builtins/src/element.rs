//! Element types of OpenCL C, and the widths of their vectors.

/// The widths that OpenCL C has; 1 is the scalar.
pub(super) const WIDTHS: [usize; 6] = [1, 2, 3, 4, 8, 16];

/// A scalar type that vectors are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    Half,
    Float,
    Double,
}

use Element::{Char, Double, Float, Half, Int, Long, Short, UChar, UInt, ULong, UShort};

impl Element {
    pub(super) const INTEGERS: &'static [Element] = &[Char, UChar, Short, UShort, Int, UInt, Long, ULong];
    pub(super) const SIGNED: &'static [Element] = &[Char, Short, Int, Long];
    pub(super) const FLOATS: &'static [Element] = &[Float, Double];
    pub(super) const ALL: &'static [Element] =
        &[Char, UChar, Short, UShort, Int, UInt, Long, ULong, Float, Double];

    /// The name in OpenCL C.
    pub(super) fn name(self) -> &'static str {
        match self {
            Char => "char",
            UChar => "uchar",
            Short => "short",
            UShort => "ushort",
            Int => "int",
            UInt => "uint",
            Long => "long",
            ULong => "ulong",
            Half => "half",
            Float => "float",
            Double => "double",
        }
    }

    /// The name of a vector, or of the scalar for width 1.
    pub(super) fn vector(self, width: usize) -> String {
        if width == 1 { self.name().to_string() } else { format!("{}{width}", self.name()) }
    }

    /// The signed integer of the same size.
    pub(super) fn signed(self) -> Element {
        match self {
            Char | UChar => Char,
            Short | UShort | Half => Short,
            Int | UInt | Float => Int,
            Long | ULong | Double => Long,
        }
    }

    /// The unsigned integer of the same size.
    pub(super) fn unsigned(self) -> Element {
        match self.signed() {
            Char => UChar,
            Short => UShort,
            Int => UInt,
            _ => ULong,
        }
    }

    /// The integer of twice the size and the same sign, for `upsample`.
    pub(super) fn wide(self) -> Element {
        match self {
            Char => Short,
            UChar => UShort,
            Short => Int,
            UShort => UInt,
            Int => Long,
            _ => ULong,
        }
    }
}
