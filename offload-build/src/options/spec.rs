//! Specialisation constants, from their declaration in build.rs or the configuration to the definitions that compilers
//! get.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::{SpecConstant, SpecUse, SpecValue, Variant};

use crate::error::{Error, Result};
use crate::settings::Value;

/// What reads the macro of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecForm {
    /// LLVM's SPIR-V back end, which makes an `OpSpecConstant` of a call.
    Spirv,
    /// A compiler that knows nothing of such constants.
    Literal,
}

/// `{ TILE = { int = 16 }, WIDE = { bool = false } }`.
pub(super) fn read(value: Value<'_>) -> Result<BTreeMap<String, SpecValue>> {
    value.table()?.collect(one)
}

fn one(value: Value<'_>) -> Result<SpecValue> {
    let mut entries = value.as_table().into_iter().flat_map(|table| table.entries());
    let constant = match (entries.next(), entries.next()) {
        (Some((type_name, default)), None) => SpecValue::parse(type_name, &default.to_string()),
        _ => None,
    };
    constant.ok_or_else(|| {
        let error = Error::new(format!("`{value}` is not a specialisation constant"));
        let hint = "write the type and the default, as `{ int = 16 }`; types are bool, int, uint, long, ulong, float \
                    and double";
        value.refuse(error.with_hint(hint))
    })
}

/// The constants of a module in one variant: where the variant has a value for one, that is its default.
pub(crate) fn for_variant(
    declared: &BTreeMap<String, SpecValue>,
    variant: &Variant,
) -> Result<Vec<SpecConstant>> {
    let mut constants = Vec::new();
    for (name, default) in declared {
        let default = match variant.get(name) {
            None => *default,
            Some(text) => SpecValue::parse(default.type_name(), text).ok_or_else(|| {
                let error =
                    format!("the variant `{name}={text}` is not of the type `{}`", default.type_name());
                Error::new(error).with_hint(format!("`{name}` is a specialisation constant of that type"))
            })?,
        };
        constants.push(SpecConstant::new(name, SpecUse::Fixed, default));
    }
    Ok(constants)
}

/// What else names the macros of a module.
pub(super) struct Others<'a> {
    pub(super) definitions: BTreeSet<&'a str>,
    pub(super) variants: &'a BTreeMap<String, Vec<String>>,
}

/// Refuses constants that no source, or no Rust, could have.
pub(super) fn check(declared: &BTreeMap<String, SpecValue>, others: &Others<'_>) -> Result<()> {
    for (name, default) in declared {
        let is_identifier = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !is_identifier || ["", "_", "self", "Self", "super", "crate"].contains(&name.as_str()) {
            let error = format!("`{}` cannot name a specialisation constant", name.escape_default());
            return Err(Error::new(error).with_hint("use letters, digits and `_`, with a letter first"));
        }
        if others.definitions.contains(name.as_str()) {
            let error = format!("`{name}` is a definition and a specialisation constant");
            return Err(Error::new(error).with_hint("leave the definition out: the constant has its default"));
        }
        if !default.is_finite() {
            let error = format!("the specialisation constant `{name}` has the default {default}");
            return Err(Error::new(error).with_hint("give a number; the program can choose any value"));
        }
        let Some(values) = others.variants.get(name) else { continue };
        if !values.iter().any(|text| SpecValue::parse(default.type_name(), text) == Some(*default)) {
            let error = format!("`{name}` has no variant with its default {default}");
            return Err(Error::new(error).with_hint(format!("add {default} to the variants by `{name}`")));
        }
    }
    Ok(())
}

/// What defines the macros of `constants`, as flags.
///
/// LLVM's back end knows a call by its mangled name, which the label of the declaration gives in every language
/// (<https://github.com/llvm/llvm-project/blob/main/llvm/test/CodeGen/SPIRV/transcoding/spec_const.ll>). The block around it
/// makes an expression of declaration and call, so that no header is needed.
///
/// `boolean` is the language's word for that type.
pub(crate) fn definitions(
    constants: &[SpecConstant],
    form: SpecForm,
    boolean: &'static str,
) -> impl Iterator<Item = String> {
    constants.iter().zip(0u32..).map(move |(constant, id)| {
        let name = &constant.name;
        let literal = literal(constant.default);
        match form {
            SpecForm::Literal => format!("-D{name}={literal}"),
            SpecForm::Spirv => {
                let SpecNames { c_type, mangled } = spec_names(constant.default, boolean);
                format!(
                    "-D{name}=(__extension__({{ {c_type} __offload_spec_{name}(unsigned, {c_type}) \
                     __asm(\"_Z20__spirv_SpecConstantj{mangled}\") __attribute__((const)); \
                     __offload_spec_{name}({id}u, {literal}); }}))"
                )
            }
        }
    })
}

/// Lines that define the macros of `constants` in OpenCL C that a driver compiles, with bits that it may be given.
pub(crate) fn opencl_c(constants: &[SpecConstant]) -> String {
    let mut lines = String::new();
    for constant in constants {
        let name = &constant.name;
        let default = constant.default;
        let bits = SpecConstant::bits_macro(name);
        let value = match default {
            SpecValue::Bool(_) => format!("((bool)({bits} != 0))"),
            _ => format!("as_{}({bits})", default.type_name()),
        };
        let given = default.bits_literal();
        lines += &format!("#ifndef {bits}\n#define {bits} {given}\n#endif\n#define {name} {value}\n");
    }
    lines
}

/// How compilers call a type.
struct SpecNames {
    c_type: &'static str,
    /// <https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling-builtin>.
    mangled: char,
}

fn spec_names(value: SpecValue, boolean: &'static str) -> SpecNames {
    let (c_type, mangled) = match value {
        SpecValue::Int(_) => ("int", 'i'),
        SpecValue::UInt(_) => ("unsigned", 'j'),
        SpecValue::Long(_) => ("long", 'l'),
        SpecValue::ULong(_) => ("unsigned long", 'm'),
        SpecValue::Float(_) => ("float", 'f'),
        SpecValue::Double(_) => ("double", 'd'),
        _ => (boolean, 'b'),
    };
    SpecNames { c_type, mangled }
}

/// A value as every language of kernels has it. The least number has no literal of its own: the sign is an operator.
fn literal(value: SpecValue) -> String {
    match value {
        SpecValue::Int(i32::MIN) => format!("({}-1)", i32::MIN + 1),
        SpecValue::Long(i64::MIN) => format!("({}l-1)", i64::MIN + 1),
        SpecValue::UInt(value) => format!("{value}u"),
        SpecValue::Long(value) => format!("({value}l)"),
        SpecValue::ULong(value) => format!("{value}ul"),
        SpecValue::Float(value) => format!("({value:?}f)"),
        SpecValue::Double(value) => format!("({value:?})"),
        SpecValue::Bool(value) => format!("({}!=0)", u8::from(value)),
        other => format!("({other})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(all: &[(&str, SpecValue)]) -> BTreeMap<String, SpecValue> {
        all.iter().map(|(name, value)| (name.to_string(), *value)).collect()
    }

    #[test]
    fn every_compiler_sees_the_value_in_its_form() {
        let all = declared(&[("A", 16.into()), ("B", (-1.5f32).into()), ("C", true.into())]);
        let all = for_variant(&all, &Variant::default()).unwrap();
        let literal: Vec<String> = definitions(&all, SpecForm::Literal, "bool").collect();
        assert_eq!(literal, ["-DA=(16)", "-DB=(-1.5f)", "-DC=(1!=0)"]);
        let spirv: Vec<String> = definitions(&all, SpecForm::Spirv, "_Bool").collect();
        assert!(spirv[1].contains("\"_Z20__spirv_SpecConstantjf\""), "{spirv:?}");
        assert!(spirv[1].contains("__offload_spec_B(1u, (-1.5f));"), "{spirv:?}");
        assert!(spirv[2].contains("_Bool __offload_spec_C(unsigned, _Bool) "), "{spirv:?}");
        let source = opencl_c(&all);
        assert!(
            source.contains("#define __offload_bits_B 0xbfc00000u\n#endif\n#define B as_float("),
            "{source}"
        );
        assert!(source.contains("#define C ((bool)(__offload_bits_C != 0))\n"), "{source}");
    }

    #[test]
    fn the_least_numbers_have_literals() {
        assert_eq!(literal(i32::MIN.into()), "(-2147483647-1)");
        assert_eq!(literal(i64::MIN.into()), "(-9223372036854775807l-1)");
        assert_eq!(literal(u64::MAX.into()), "18446744073709551615ul");
    }

    #[test]
    fn a_variant_gives_its_own_default() {
        let all = declared(&[("A", 16.into()), ("B", 2u32.into())]);
        let found = for_variant(&all, &Variant::new([("A", "32"), ("T", "half")]).unwrap()).unwrap();
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["A:int=32", "B:uint=2"]);
        let error = for_variant(&all, &Variant::new([("B", "-1")]).unwrap()).unwrap_err().to_string();
        assert!(error.contains("the variant `B=-1` is not of the type `uint`"), "{error}");
    }

    fn check_one(name: &str, value: SpecValue, variants: &[&str]) -> Result<()> {
        let values = variants.iter().map(ToString::to_string).collect();
        let variants = if variants.is_empty() { BTreeMap::new() } else { [(name.into(), values)].into() };
        let others = Others { definitions: ["DEFINED"].into(), variants: &variants };
        check(&declared(&[(name, value)]), &others)
    }

    #[test]
    fn what_nobody_could_use_is_refused() {
        assert!(check_one("TILE", 16.into(), &["8", "16"]).is_ok());
        for (name, value, variants, words) in [
            ("1st", SpecValue::from(1), &[][..], "`1st` cannot name a specialisation constant"),
            ("self", 1.into(), &[], "`self` cannot name"),
            ("DEFINED", 1.into(), &[], "is a definition and a specialisation constant"),
            ("A", f32::NAN.into(), &[], "has the default NaN"),
            ("A", 16.into(), &["8", "32"], "`A` has no variant with its default 16"),
        ] {
            let error = check_one(name, value, variants).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("hint: "), "{error}");
        }
    }
}
