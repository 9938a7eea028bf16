//! Sections 6.12.1 and 6.12.3 to 6.12.14.
//!
//! Common and geometric functions have no bound in OpenCL C 1.2; those of the table of OpenCL C 3.0
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#relative-error-as-ulps>) stand in.

use super::Bound::{Absolute, Exact, Implementation, Operands, PerWidth, Ulp};
use super::Elements::{All, Floats, Integers, Narrow, Signed, Words};
use super::{BuiltIn, Elements, both, exact};

/// 6.12.1: the name and whether it takes a dimension.
pub(in super::super) const WORK_ITEM: &[(&str, bool)] = &[
    ("get_work_dim", false),
    ("get_global_size", true),
    ("get_global_id", true),
    ("get_local_size", true),
    ("get_local_id", true),
    ("get_num_groups", true),
    ("get_group_id", true),
    ("get_global_offset", true),
];

/// 6.12.3.
pub(in super::super) const INTEGER: &[BuiltIn] = &[
    exact("abs", "u=g", Integers),
    exact("abs_diff", "u=g,g", Integers),
    exact("add_sat", "g=g,g", Integers),
    exact("hadd", "g=g,g", Integers),
    exact("rhadd", "g=g,g", Integers),
    exact("clamp", "g=g,g,g", Integers),
    exact("clamp", "g=g,s,s", Integers),
    exact("clz", "g=g", Integers),
    exact("mad_hi", "g=g,g,g", Integers),
    exact("mad_sat", "g=g,g,g", Integers),
    exact("max", "g=g,g", Integers),
    exact("max", "g=g,s", Integers),
    exact("min", "g=g,g", Integers),
    exact("min", "g=g,s", Integers),
    exact("mul_hi", "g=g,g", Integers),
    exact("rotate", "g=g,g", Integers),
    exact("sub_sat", "g=g,g", Integers),
    exact("upsample", "w=g,v", Narrow),
    exact("popcount", "g=g", Integers),
    exact("mad24", "g=g,g,g", Words),
    exact("mul24", "g=g,g", Words),
];

/// 6.12.4.
pub(in super::super) const COMMON: &[BuiltIn] = &[
    exact("clamp", "g=g,g,g", Floats),
    exact("clamp", "g=g,s,s", Floats),
    both("degrees", "g=g", Ulp(2.0)),
    exact("max", "g=g,g", Floats),
    exact("max", "g=g,s", Floats),
    exact("min", "g=g,g", Floats),
    exact("min", "g=g,s", Floats),
    BuiltIn { float: Absolute(1e-3), ..both("mix", "g=g,g,g", Implementation) },
    BuiltIn { float: Absolute(1e-3), ..both("mix", "g=g,g,s", Implementation) },
    both("radians", "g=g", Ulp(2.0)),
    exact("step", "g=g,g", Floats),
    exact("step", "g=s,g", Floats),
    BuiltIn { float: Absolute(1e-5), ..both("smoothstep", "g=g,g,g", Implementation) },
    BuiltIn { float: Absolute(1e-5), ..both("smoothstep", "g=s,s,g", Implementation) },
    exact("sign", "g=g", Floats),
];

const SHORT: &[usize] = &[1, 2, 3, 4];

/// 6.12.5. The sum of a length has half the error under the root.
pub(in super::super) const GEOMETRIC: &[BuiltIn] = &[
    BuiltIn { widths: &[3, 4], ..both("cross", "g=g,g", Operands { constant: 3.0, per_element: 0.0 }) },
    BuiltIn { widths: SHORT, ..both("dot", "x=g,g", Operands { constant: -1.0, per_element: 2.0 }) },
    geometric("distance", "x=g,g", [3.0, 0.5], 1.5),
    geometric("length", "x=g", [3.0, 0.5], 0.25),
    geometric("normalize", "g=g", [2.5, 1.5], 0.5),
    fast("fast_distance", "x=g,g", 8192.0, 1.5),
    fast("fast_length", "x=g", 8192.0, 0.5),
    fast("fast_normalize", "g=g", 8192.5, 0.5),
];

const fn geometric(
    name: &'static str,
    signature: &'static str,
    [float, double]: [f64; 2],
    each: f64,
) -> BuiltIn {
    let sum = if each < 0.5 { 0.25 } else { 0.5 };
    BuiltIn {
        widths: SHORT,
        float: PerWidth { constant: float, each, sum },
        double: PerWidth { constant: double, each, sum },
        ..both(name, signature, Exact)
    }
}

const fn fast(name: &'static str, signature: &'static str, constant: f64, each: f64) -> BuiltIn {
    BuiltIn { elements: Elements::Float, ..geometric(name, signature, [constant, constant], each) }
}

/// 6.12.6.
pub(in super::super) const RELATIONAL: &[BuiltIn] = &[
    exact("isequal", "r=g,g", Floats),
    exact("isnotequal", "r=g,g", Floats),
    exact("isgreater", "r=g,g", Floats),
    exact("isgreaterequal", "r=g,g", Floats),
    exact("isless", "r=g,g", Floats),
    exact("islessequal", "r=g,g", Floats),
    exact("islessgreater", "r=g,g", Floats),
    exact("isfinite", "r=g", Floats),
    exact("isinf", "r=g", Floats),
    exact("isnan", "r=g", Floats),
    exact("isnormal", "r=g", Floats),
    exact("isordered", "r=g,g", Floats),
    exact("isunordered", "r=g,g", Floats),
    exact("signbit", "r=g", Floats),
    exact("any", "b=g", Signed),
    exact("all", "b=g", Signed),
    exact("bitselect", "g=g,g,g", All),
    exact("select", "g=g,g,j", All),
    exact("select", "g=g,g,u", All),
];

/// 6.12.8 and 6.12.9.
pub(in super::super) const FENCES: &[&str] = &["barrier", "mem_fence", "read_mem_fence", "write_mem_fence"];

/// 6.12.14.1 to 6.12.14.4: the type, its coordinates, and the element types of coordinates that a read without a
/// sampler takes. Images of three dimensions are written through an extension.
pub(in super::super) const IMAGES: &[(&str, usize)] = &[
    ("image1d_t", 1),
    ("image1d_buffer_t", 1),
    ("image1d_array_t", 2),
    ("image2d_t", 2),
    ("image2d_array_t", 4),
    ("image3d_t", 4),
];

/// 6.12.14.5: the name and the images it takes.
pub(in super::super) const IMAGE_QUERIES: &[(&str, &[&str])] = &[
    (
        "get_image_width",
        &["image1d_t", "image1d_buffer_t", "image1d_array_t", "image2d_t", "image2d_array_t", "image3d_t"],
    ),
    ("get_image_height", &["image2d_t", "image2d_array_t", "image3d_t"]),
    ("get_image_depth", &["image3d_t"]),
    (
        "get_image_channel_data_type",
        &["image1d_t", "image1d_buffer_t", "image1d_array_t", "image2d_t", "image2d_array_t", "image3d_t"],
    ),
    (
        "get_image_channel_order",
        &["image1d_t", "image1d_buffer_t", "image1d_array_t", "image2d_t", "image2d_array_t", "image3d_t"],
    ),
    ("get_image_dim", &["image2d_t", "image2d_array_t", "image3d_t"]),
    ("get_image_array_size", &["image1d_array_t", "image2d_array_t"]),
];
