//! Functions of OpenCL C on `half` that PoCL's library for CPUs lacks: conversions, loads and stores of vectors, and
//! mathematics by way of `float`, whose errors are far below those that the specification allows for `half`
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#relative-error-as-ulps>).
//!
//! There are thousands, with every type, width and rounding mode. Those that a module calls are written for it.

use std::collections::BTreeSet;
use std::fmt::Write;

use offload_signatures::builtin_type;
use offload_workgroup::ir::declared_functions;

/// Rounding: the nearest number, and the next one in the direction if that lies on the other side.
const PROLOGUE: &str = "\
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static half offload_directed(double x, int direction) {
  half nearest = (half)x;
  ushort bits = as_ushort(nearest);
  if (direction > 0 && nearest < x) bits += bits & 0x8000 ? -1 : 1;
  if (direction < 0 && nearest > x) bits += bits & 0x8000 ? 1 : -1;
  return as_half(bits);
}
static half offload_rtp(double x) { return offload_directed(x, 1); }
static half offload_rtn(double x) { return offload_directed(x, -1); }
static half offload_rtz(double x) { return offload_directed(x, x < 0 ? 1 : -1); }
";

/// Functions whose result is of the type of their arguments.
const MATHEMATICS: &str = " acos acosh acospi asin asinh asinpi atan atan2 atan2pi atanh atanpi cbrt ceil clamp copysign \
    cos cosh cospi cross degrees erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod hypot ldexp lgamma log \
    log10 log1p log2 logb mad max maxmag min minmag mix normalize pow pown powr radians remainder rint rootn round rsqrt \
    sign sin sinh sinpi smoothstep sqrt step tan tanh tanpi tgamma trunc ";
/// Functions of vectors whose result is one number.
const GEOMETRY: &str = " distance dot length ";
const RELATIONS: &str = " isequal isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan \
    isnotequal isordered isunordered signbit ";

/// Address spaces as clang mangles them.
const MEMORIES: [(&str, &str); 4] = [
    ("U8CLglobal", "__global "),
    ("U7CLlocal", "__local "),
    ("U10CLconstant", "__constant "),
    ("U9CLgeneric", "__generic "),
];

/// OpenCL C of the functions that `modules` call, if they call some.
pub(super) fn source(modules: &[String]) -> Option<String> {
    let mut names = BTreeSet::new();
    names.extend(modules.iter().flat_map(|module| declared_functions(module)));
    let definitions: String = names.into_iter().filter_map(definition).collect();
    (!definitions.is_empty()).then(|| format!("{PROLOGUE}{definitions}"))
}

/// The type of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Type {
    scalar: &'static str,
    width: usize,
    /// The memory that it points to.
    memory: Option<String>,
}

impl Type {
    fn is_half(&self) -> bool {
        self.scalar == "half" && self.memory.is_none()
    }

    /// As C has it.
    fn text(&self) -> String {
        match &self.memory {
            Some(memory) => format!("{memory}half *"),
            None => named(self.scalar, self.width),
        }
    }
}

fn named(scalar: &str, width: usize) -> String {
    if width == 1 { scalar.to_string() } else { format!("{scalar}{width}") }
}

/// `value` as numbers of another type.
fn cast(value: &str, scalar: &str, width: usize) -> String {
    let to = named(scalar, width);
    if width == 1 { format!("({to})({value})") } else { format!("__builtin_convertvector({value}, {to})") }
}

/// The definition of the function with this symbol, if it is one on `half` that is known here.
fn definition(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix("_Z")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (name, parameters) = rest.get(digits..)?.split_at_checked(rest.get(..digits)?.parse().ok()?)?;
    let name = name.strip_prefix("_cl_").unwrap_or(name);
    let types = types(parameters)?;
    let (result, value) = function(name, &types)?;
    let mut text = format!("{result} __attribute__((overloadable)) {name}(");
    for (index, kind) in types.iter().enumerate() {
        // Writing to a String does not fail.
        let _ = write!(text, "{}{} a{index}", if index == 0 { "" } else { ", " }, kind.text());
    }
    Some(format!("{text}) {{ {value}; }}\n"))
}

/// The type of a function's result, and its body.
fn function(name: &str, types: &[Type]) -> Option<(String, String)> {
    if let Some(to) = name.strip_prefix("convert_") {
        return conversion(name, to, types.first()?);
    }
    if name.starts_with("vload") || name.starts_with("vstore") {
        return access(name, types);
    }
    let width = types.iter().filter(|kind| kind.is_half()).map(|kind| kind.width).max()?;
    let by_way_of = if name == "fma" { "double" } else { "float" };
    let mut arguments = Vec::new();
    for (index, kind) in types.iter().enumerate() {
        arguments.push(match kind {
            _ if kind.is_half() => cast(&format!("a{index}"), by_way_of, kind.width),
            Type { scalar: "int", .. } => format!("a{index}"),
            _ => return None,
        });
    }
    let call = format!("{name}({})", arguments.join(", "));
    if has_word(MATHEMATICS, name) {
        return Some((named("half", width), format!("return {}", cast(&call, "half", width))));
    }
    if has_word(GEOMETRY, name) {
        return Some(("half".to_string(), format!("return (half){call}")));
    }
    match (has_word(RELATIONS, name), width) {
        (true, 1) => Some(("int".to_string(), format!("return {call}"))),
        (true, _) => Some((named("short", width), format!("return {}", cast(&call, "short", width)))),
        (false, _) => (name == "ilogb").then(|| (named("int", width), format!("return {call}"))),
    }
}

/// Of a list with a space before and behind each word.
fn has_word(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

/// `convert_half4_rtz(float4)`, `convert_int_sat(half)`; `to` is what follows `convert_`.
fn conversion(name: &str, to: &str, from: &Type) -> Option<(String, String)> {
    let (target, mode) = to.split_once('_').unwrap_or((to, ""));
    let scalar = target.trim_end_matches(|c: char| c.is_ascii_digit());
    let width = from.width;
    let value = match (scalar, from.scalar, mode) {
        ("half", "half", _) => "a0".to_string(),
        ("half", _, "rtz" | "rtp" | "rtn") if width == 1 => format!("offload_{mode}(a0)"),
        ("half", _, "rtz" | "rtp" | "rtn") => {
            let components = (0..width).map(|index| format!("offload_{mode}(a0.s{index:x})"));
            format!("({target})({})", components.collect::<Vec<_>>().join(", "))
        }
        ("half", "float" | "double", "" | "rte") => cast("a0", scalar, width),
        // What `double` does not hold exactly is far above the largest `half`.
        ("half", _, "" | "rte") => cast(&cast("a0", "double", width), scalar, width),
        ("float" | "double", "half", _) => cast("a0", scalar, width),
        (_, "half", _) => format!("{name}({})", cast("a0", "float", width)),
        _ => return None,
    };
    Some((target.to_string(), format!("return {value}")))
}

/// `vload4(offset, pointer)` and `vstore4(data, offset, pointer)`.
fn access(name: &str, types: &[Type]) -> Option<(String, String)> {
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let (verb, width) = name.split_at_checked(digits)?;
    let width: usize = width.parse().ok()?;
    types.last().filter(|kind| kind.memory.is_some())?;
    match (verb, types.len()) {
        ("vload", 2) => {
            let components = (0..width).map(|index| format!("a1[a0 * {width} + {index}]"));
            let components = components.collect::<Vec<_>>().join(", ");
            let vector = named("half", width);
            Some((vector.clone(), format!("return ({vector})({components})")))
        }
        ("vstore", 3) => {
            let stores = (0..width).map(|index| format!("a2[a1 * {width} + {index}] = a0.s{index:x}"));
            Some(("void".to_string(), stores.collect::<Vec<_>>().join("; ")))
        }
        _ => None,
    }
}

/// The types of parameters, where all are numbers and one is `half`, or a pointer to it.
fn types(mut text: &str) -> Option<Vec<Type>> {
    let mut types = Vec::new();
    let mut vectors = Vec::new();
    while !text.is_empty() {
        let (kind, rest) = first_type(text, &mut vectors)?;
        types.push(kind);
        text = rest;
    }
    let concerned = types.iter().any(|kind| kind.scalar == "half");
    // A conversion to half has numbers of another type.
    let is_conversion = types.len() == 1;
    (concerned || is_conversion).then_some(types)
}

fn first_type<'a>(text: &'a str, vectors: &mut Vec<Type>) -> Option<(Type, &'a str)> {
    if let Some(rest) = text.strip_prefix('S') {
        let (number, rest) = rest.split_once('_')?;
        let index = if number.is_empty() { 0 } else { number.parse::<usize>().ok()?.checked_add(1)? };
        return Some((vectors.get(index)?.clone(), rest));
    }
    if let Some(rest) = text.strip_prefix("Dv") {
        let (width, rest) = rest.split_once('_')?;
        let (scalar, rest) = builtin_type(rest)?;
        let vector = Type { scalar, width: width.parse().ok()?, memory: None };
        vectors.push(vector.clone());
        return Some((vector, rest));
    }
    if let Some(rest) = text.strip_prefix('P') {
        let memory = MEMORIES.iter().find_map(|(symbol, name)| Some((*name, rest.strip_prefix(symbol)?)));
        let (memory, rest) = memory.unwrap_or(("", rest));
        let (constant, rest) = rest.strip_prefix('K').map_or(("", rest), |rest| ("const ", rest));
        let memory = Some(format!("{memory}{constant}"));
        return (rest == "Dh").then_some((Type { scalar: "half", width: 1, memory }, ""));
    }
    let (scalar, rest) = builtin_type(text)?;
    Some((Type { scalar, width: 1, memory: None }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(symbol: &str) -> String {
        definition(symbol).unwrap_or_default().replace(" __attribute__((overloadable))", "")
    }

    #[test]
    fn symbols_become_definitions() {
        for (symbol, expected) in [
            ("_Z17_cl_convert_floatDh", "float convert_float(half a0) { return (float)(a0); }\n"),
            ("_Z16convert_half_rtzf", "half convert_half_rtz(float a0) { return offload_rtz(a0); }\n"),
            ("_Z12convert_halfi", "half convert_half(int a0) { return (half)((double)(a0)); }\n"),
            (
                "_Z17convert_half2_rtpDv2_d",
                "half2 convert_half2_rtp(double2 a0) { return (half2)(offload_rtp(a0.s0), offload_rtp(a0.s1)); }\n",
            ),
            (
                "_Z23_cl_convert_int_sat_rteDh",
                "int convert_int_sat_rte(half a0) { return convert_int_sat_rte((float)(a0)); }\n",
            ),
            (
                "_Z7_cl_maxDv4_DhDh",
                "half4 max(half4 a0, half a1) { return __builtin_convertvector(max(\
                 __builtin_convertvector(a0, float4), (float)(a1)), half4); }\n",
            ),
            ("_Z8_cl_pownDhi", "half pown(half a0, int a1) { return (half)(pown((float)(a0), a1)); }\n"),
            ("_Z9_cl_isnanDh", "int isnan(half a0) { return isnan((float)(a0)); }\n"),
            (
                "_Z7_cl_dotDv2_DhS_",
                "half dot(half2 a0, half2 a1) { return (half)dot(__builtin_convertvector(a0, float2), \
                 __builtin_convertvector(a1, float2)); }\n",
            ),
            (
                "_Z10_cl_vload2mPU8CLglobalKDh",
                "half2 vload2(ulong a0, __global const half * a1) { return (half2)(a1[a0 * 2 + 0], a1[a0 * 2 + 1]); }\n",
            ),
            (
                "_Z11_cl_vstore2Dv2_DhmPDh",
                "void vstore2(half2 a0, ulong a1, half * a2) { a2[a1 * 2 + 0] = a0.s0; a2[a1 * 2 + 1] = a0.s1; }\n",
            ),
        ] {
            assert_eq!(body(symbol), expected);
        }
    }

    #[test]
    fn other_functions_are_left() {
        for symbol in [
            "_Z17_cl_convert_floati",
            "_Z7_cl_sinf",
            "_Z19_cl_vstore_half_rtzfmPU8CLglobalDh",
            "_Z14_cl_vload_halfmPU8CLglobalKDh",
            "_Z9_cl_fractDhPU8CLglobalDh",
            "_Z13_cl_nextafterDhDh",
            "_Z99_cl_x",
            "helper",
        ] {
            assert_eq!(body(symbol), "");
        }
        assert_eq!(source(&["declare float @_Z7_cl_sinf(float)\n".to_string()]), None);
    }
}
