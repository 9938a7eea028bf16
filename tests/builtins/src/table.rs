//! Every built-in function of OpenCL C 1.2, sections 6.12.1 to 6.12.14
//! (<https://registry.khronos.org/OpenCL/specs/opencl-1.2.pdf>), what the specification says of its errors, and the
//! atomic functions and those of sub-groups of extensions and later versions.

mod atomics;
mod bound;
mod math;
mod rest;
mod sub_groups;

pub(super) use self::atomics::{ATOMICS, Cells, ORDERED, PLAIN};
pub(super) use self::bound::Bound;
pub(super) use self::math::{FLOAT_ONLY, MATH};
pub(super) use self::rest::{
    COMMON, FENCES, GEOMETRIC, IMAGE_QUERIES, IMAGES, INTEGER, RELATIONAL, WORK_ITEM,
};
pub(super) use self::sub_groups::{SUB_GROUP_ARITHMETIC, SUB_GROUP_BITS, SUB_GROUP_EXCHANGES};

/// Which values an element-wise built-in is defined for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    Floats,
    Float,
    Integers,
    Signed,
    /// All but the 64-bit ones, which have no type of twice the size.
    Narrow,
    /// `int` and `uint`.
    Words,
    All,
}

/// A built-in that works on each element alone, or reduces vectors to one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    /// In the letters of `signature`.
    pub(super) signature: &'static str,
    pub(super) elements: Elements,
    pub(super) widths: &'static [usize],
    pub(super) float: Bound,
    pub(super) double: Bound,
}

pub(super) const ALL_WIDTHS: &[usize] = &super::element::WIDTHS;

/// With one bound for both types.
const fn both(name: &'static str, signature: &'static str, bound: Bound) -> BuiltIn {
    BuiltIn { name, signature, elements: Elements::Floats, widths: ALL_WIDTHS, float: bound, double: bound }
}

/// With exact results.
const fn exact(name: &'static str, signature: &'static str, elements: Elements) -> BuiltIn {
    BuiltIn { elements, ..both(name, signature, Bound::Exact) }
}
