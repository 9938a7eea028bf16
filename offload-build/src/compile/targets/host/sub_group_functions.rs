//! The functions of OpenCL C on sub-groups. There are hundreds, with every type and operation: those that a module calls
//! are written for it, with the macros of `host_sub_groups.c`, which has those without a type of their own.

use std::collections::BTreeSet;

use offload_signatures::builtin_type;
use offload_workgroup::ir::declared_functions;

const CORE: &str = include_str!("../../device/host_sub_groups.c");

/// Whether a module with this symbol needs a function on sub-groups.
pub(crate) fn is_of_sub_groups(symbol: &str) -> bool {
    symbol.starts_with("_Z") && symbol.contains("sub_group")
}

/// C of the functions on sub-groups, if `modules` call some.
pub(super) fn source(modules: &[String]) -> Option<String> {
    let mut symbols = BTreeSet::new();
    for module in modules {
        symbols.extend(declared_functions(module).into_iter().filter(|symbol| is_of_sub_groups(symbol)));
    }
    if symbols.is_empty() {
        return None;
    }
    let mut source = CORE.to_string();
    for (index, symbol) in symbols.into_iter().enumerate() {
        if let Some(definition) = definition(symbol, index) {
            source.push_str(&definition);
        }
    }
    Some(source)
}

/// The work-items that wait for each other in a function, as `host_sub_groups.c` calls their barrier.
const WHOLE: &str = "wait_sub_group";
const ACTIVE: &str = "wait_active";

/// A function that returns the value of another work-item.
struct Exchange {
    name: &'static str,
    wait: &'static str,
    /// The parameters behind the value.
    parameters: &'static str,
    /// The lane whose value it is.
    from: &'static str,
}

const EXCHANGES: [Exchange; 7] = [
    Exchange { name: "broadcast", wait: WHOLE, parameters: ", u32 of", from: "of" },
    Exchange { name: "non_uniform_broadcast", wait: ACTIVE, parameters: ", u32 of", from: "of" },
    Exchange { name: "broadcast_first", wait: ACTIVE, parameters: "", from: "first_active()" },
    Exchange { name: "shuffle", wait: ACTIVE, parameters: ", u32 of", from: "of" },
    Exchange { name: "shuffle_xor", wait: ACTIVE, parameters: ", u32 of", from: "lane() ^ of" },
    Exchange { name: "shuffle_up", wait: ACTIVE, parameters: ", u32 of", from: "lane() - of" },
    Exchange { name: "shuffle_down", wait: ACTIVE, parameters: ", u32 of", from: "lane() + of" },
];

/// The class of a type, by which operations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Signed,
    Unsigned,
    Float,
}

/// A type of a function's value.
struct ValueType {
    /// As C has it.
    scalar: &'static str,
    class: Class,
    /// The number of elements.
    width: usize,
}

/// The definition of the function with this symbol, if it has a type of its own: `_Z20sub_group_reduce_addi`.
fn definition(symbol: &str, index: usize) -> Option<String> {
    let rest = symbol.strip_prefix("_Z")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (length, rest) = rest.split_at_checked(digits)?;
    let (name, parameters) = rest.split_at_checked(length.parse().ok()?)?;
    let name = name.strip_prefix("sub_group_")?;
    let ValueType { scalar, class, width } = value_type(parameters)?;
    let vector =
        if width == 1 { String::new() } else { format!(" __attribute__((ext_vector_type({width})))") };
    let ty = format!("t{index}");
    let typedef = format!("typedef {scalar} {ty}{vector};\n");
    let function = format!("f{index}, \"{symbol}\", {ty}");
    if let Some(Exchange { wait, parameters, from, .. }) = EXCHANGES.iter().find(|one| one.name == name) {
        return Some(format!("{typedef}EXCHANGE({function}, ({ty} v{parameters}), {wait}, {from})\n"));
    }
    if width != 1 {
        return None;
    }
    if name == "non_uniform_all_equal" {
        return Some(format!("{typedef}ALL_EQUAL({function})\n"));
    }
    let (wait, within, parameters, operation) = if let Some(operation) = name.strip_prefix("non_uniform_") {
        (ACTIVE, "~0u", "", operation)
    } else if let Some(operation) = name.strip_prefix("clustered_") {
        (ACTIVE, "cluster(count)", ", u32 count", operation)
    } else {
        (WHOLE, "~0u", "", name)
    };
    let forms = [("reduce_", "REDUCE"), ("scan_inclusive_", "INCLUSIVE"), ("scan_exclusive_", "EXCLUSIVE")];
    let (form, operation) =
        forms.iter().find_map(|(prefix, form)| Some((form, operation.strip_prefix(prefix)?)))?;
    let Operation { value, combined, identity } = Operation::new(operation, class, &ty)?;
    Some(format!(
        "{typedef}{form}({function}, ({ty} v{parameters}), {wait}, {within}, {value}, {combined}, {identity})\n"
    ))
}

/// The first of mangled types, of numbers and vectors.
fn value_type(text: &str) -> Option<ValueType> {
    let (width, text) = match text.strip_prefix("Dv") {
        None => (1, text),
        Some(rest) => {
            let (width, element) = rest.split_once('_')?;
            (width.parse().ok()?, element)
        }
    };
    let (scalar, _) = builtin_type(text)?;
    let (scalar, class) = match scalar {
        "char" => ("signed char", Class::Signed),
        "uchar" => ("unsigned char", Class::Unsigned),
        "short" => ("short", Class::Signed),
        "ushort" => ("unsigned short", Class::Unsigned),
        "int" => ("int", Class::Signed),
        "uint" => ("u32", Class::Unsigned),
        "long" => ("long", Class::Signed),
        "ulong" => ("unsigned long", Class::Unsigned),
        "half" => ("_Float16", Class::Float),
        "float" => ("float", Class::Float),
        "double" => ("double", Class::Float),
        _ => return None,
    };
    Some(ValueType { scalar, class, width })
}

/// An operation on the values `a` and `b` of two work-items, in C.
struct Operation {
    /// What becomes of the argument `v` first.
    value: &'static str,
    combined: &'static str,
    /// What an exclusive scan begins with.
    identity: String,
}

impl Operation {
    fn new(name: &str, class: Class, ty: &str) -> Option<Operation> {
        let is_float = class == Class::Float;
        // Sums of integers wrap around.
        let (combined, identity) = match name {
            "add" if is_float => ("a + b", "0".to_string()),
            "add" => ("(u64)a + (u64)b", "0".to_string()),
            "mul" if is_float => ("a * b", "1".to_string()),
            "mul" => ("(u64)a * (u64)b", "1".to_string()),
            // As `fmin` has it, a number is less than none.
            "min" if is_float => ("b < a || a != a ? b : a", "__builtin_inff()".to_string()),
            "min" => ("b < a ? b : a", greatest(class, ty)),
            "max" if is_float => ("b > a || a != a ? b : a", "-__builtin_inff()".to_string()),
            "max" => ("b > a ? b : a", format!("~{}", greatest(class, ty))),
            "and" if !is_float => ("a & b", "~0".to_string()),
            "or" if !is_float => ("a | b", "0".to_string()),
            "xor" if !is_float => ("a ^ b", "0".to_string()),
            "logical_and" => ("a & b", "1".to_string()),
            "logical_or" => ("a | b", "0".to_string()),
            "logical_xor" => ("a ^ b", "0".to_string()),
            _ => return None,
        };
        let value = if name.starts_with("logical_") { "v != 0" } else { "v" };
        Some(Operation { value, combined, identity })
    }
}

/// The greatest number of an integer type.
fn greatest(class: Class, ty: &str) -> String {
    match class {
        Class::Signed => format!("({ty})~(1ul << (8 * sizeof({ty}) - 1))"),
        _ => format!("({ty})~0ul"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_become_functions() {
        for (symbol, expected) in [
            (
                "_Z20sub_group_reduce_addi",
                "typedef int t7;\n\
                 REDUCE(f7, \"_Z20sub_group_reduce_addi\", t7, (t7 v), wait_sub_group, ~0u, v, (u64)a + (u64)b, 0)\n",
            ),
            (
                "_Z32sub_group_non_uniform_reduce_minDh",
                "typedef _Float16 t7;\n\
                 REDUCE(f7, \"_Z32sub_group_non_uniform_reduce_minDh\", t7, (t7 v), wait_active, ~0u, v, \
                 b < a || a != a ? b : a, __builtin_inff())\n",
            ),
            (
                "_Z30sub_group_clustered_reduce_andjj",
                "typedef u32 t7;\n\
                 REDUCE(f7, \"_Z30sub_group_clustered_reduce_andjj\", t7, (t7 v, u32 count), wait_active, \
                 cluster(count), v, a & b, ~0)\n",
            ),
            (
                "_Z19sub_group_broadcastDv4_fj",
                "typedef float t7 __attribute__((ext_vector_type(4)));\n\
                 EXCHANGE(f7, \"_Z19sub_group_broadcastDv4_fj\", t7, (t7 v, u32 of), wait_sub_group, of)\n",
            ),
        ] {
            assert_eq!(definition(symbol, 7).as_deref(), Some(expected), "{symbol}");
        }
        for symbol in
            ["_Z20sub_group_reduce_addDv2_i", "_Z20sub_group_reduce_andf", "_Z13get_global_idj", "f"]
        {
            assert_eq!(definition(symbol, 0), None, "{symbol}");
        }
    }

    #[test]
    fn other_modules_have_none() {
        assert_eq!(source(&["declare i64 @_Z13get_global_idj(i32)\n".to_string()]), None);
        let text = source(&["declare i32 @_Z22get_sub_group_local_idv()\n".to_string()]).unwrap();
        assert!(text.contains("DEFINE(u32, get_sub_group_local_id,"));
    }
}
