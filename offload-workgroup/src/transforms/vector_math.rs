//! Vector variants of the mathematical functions of PoCL's library.
//!
//! PoCL has each function for scalars and for vectors. Calls of the scalar ones stay calls, so that LLVM can vectorise a
//! work-item loop around them by the variants that the call declares
//! (<https://llvm.org/docs/LangRef.html#call-site-attributes>, `vector-function-abi-variant`).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use crate::ir::numbering::ModuleNumbers;
use crate::ir::{closing, global_name, global_symbol};

/// The prefix of the functions until work-groups are generated: no such function has a body to inline.
pub(crate) const MATH_PREFIX: &str = "@__offload_math.";

/// Functions of one operand. Those of angles are not among them: PoCL's vector variants are wrong for some.
const UNARY: [&str; 19] = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cosh", "erf", "erfc", "exp", "exp10", "exp2",
    "expm1", "log", "log10", "log1p", "log2", "sinh",
];
/// Functions of two operands.
const BINARY: [&str; 3] = ["atan2", "pow", "powr"];

/// A scalar function of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MathFunction {
    symbol: String,
    /// The symbol without parameters: `_Z7_cl_exp`.
    stem: String,
    element: Element,
    parameters: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Float,
    Double,
}

impl Element {
    fn mangled(self) -> char {
        match self {
            Element::Float => 'f',
            Element::Double => 'd',
        }
    }

    fn name(self) -> &'static str {
        match self {
            Element::Float => "float",
            Element::Double => "double",
        }
    }

    fn bits(self) -> u32 {
        match self {
            Element::Float => 32,
            Element::Double => 64,
        }
    }
}

/// The functions of the library that a module declares, and so calls.
pub(crate) struct MathCalls {
    declared: HashSet<String>,
}

impl MathCalls {
    pub(crate) fn new(module: &str) -> MathCalls {
        let mut known = HashSet::new();
        known.extend(functions().into_iter().map(|function| function.symbol));
        let mut declared = HashSet::new();
        for line in module.lines().filter(|line| line.starts_with("declare ")) {
            declared.extend(global_name(line).and_then(|name| known.take(name)));
        }
        MathCalls { declared }
    }

    /// `line` with names that PoCL's library does not have, so that no body is inlined.
    pub(crate) fn rename(&self, line: String) -> String {
        if self.declared.is_empty() {
            return line;
        }
        let mut renamed = String::new();
        let mut rest = line.as_str();
        while let Some((before, symbol)) = rest.find('@').and_then(|at| rest.split_at_checked(at)) {
            let name = global_name(symbol).filter(|name| self.declared.contains(*name));
            let called =
                name.and_then(|name| symbol.strip_prefix('@')?.strip_prefix(name)?.strip_prefix('('));
            renamed.push_str(before);
            match (name, called) {
                (Some(name), Some(arguments)) => {
                    renamed.push_str(&format!("{MATH_PREFIX}{name}("));
                    rest = arguments;
                }
                _ => {
                    renamed.push('@');
                    rest = symbol.strip_prefix('@').unwrap_or_default();
                }
            }
        }
        if renamed.is_empty() {
            return line;
        }
        renamed.push_str(rest);
        renamed
    }
}

/// `module` with the library's names, and calls that declare vector variants of at most `vector_bits` bits.
pub(crate) fn declare_vector_variants(module: String, vector_bits: u32) -> String {
    let prefix = MATH_PREFIX.trim_start_matches('@');
    let mut called: HashSet<&str> = HashSet::new();
    for line in module.lines() {
        called.extend(global_symbols(line).filter_map(|name| name.strip_prefix(prefix)));
    }
    let mut used = functions();
    used.retain(|function| called.contains(function.symbol.as_str()));
    if used.is_empty() {
        return module;
    }
    let vector_bits = if may_declare_variants(&module) { vector_bits } else { 0 };
    let mut number = ModuleNumbers::new(&module).free.attributes;
    // The sources may call functions of vectors, too.
    let present = functions_present(&module);
    let text = annotate_calls(&module, &used, number);
    let mut tail = String::new();
    let mut kept = BTreeSet::new();
    for function in &used {
        let mut lane_counts = Vec::new();
        for bits in [128, 256, 512] {
            if bits <= vector_bits {
                lane_counts.push(bits / function.element.bits());
            }
        }
        let variants: Vec<String> = lane_counts.iter().map(|lanes| function.abi_variant(*lanes)).collect();
        let variants = if variants.is_empty() {
            String::new()
        } else {
            format!("\"vector-function-abi-variant\"=\"{}\" ", variants.join(","))
        };
        let _ = writeln!(
            tail,
            "attributes #{number} = {{ noinline nounwind willreturn memory(none) {variants}}}"
        );
        if !lane_counts.is_empty() {
            // Where all calls have the same constant, passes would drop the parameter, and no variant would fit.
            kept.insert(format!("ptr @{}", function.symbol));
        }
        for lanes in lane_counts {
            let name = function.vector_symbol(lanes);
            if !present.contains(name.as_str()) {
                let ty = format!("<{lanes} x {}>", function.element.name());
                let parameters = vec![ty.as_str(); function.parameters].join(", ");
                let _ = writeln!(tail, "declare {ty} @{name}({parameters})");
            }
            kept.insert(format!("ptr @{name}"));
        }
        number = number.saturating_add(1);
    }
    if !kept.is_empty() {
        let list: Vec<String> = kept.iter().cloned().collect();
        let _ = writeln!(
            tail,
            "@llvm.compiler.used = appending global [{} x ptr] [{}], section \"llvm.metadata\"",
            kept.len(),
            list.join(", ")
        );
    }
    text + &tail
}

/// The variant for vectors of `lanes` elements of the scalar function `symbol`.
pub(crate) fn vector_symbol(symbol: &str, lanes: u32) -> Option<String> {
    let function = functions().into_iter().find(|function| function.symbol == symbol)?;
    Some(function.vector_symbol(lanes))
}

/// Whether [`declare_vector_variants`] can add the variants to `module`: it can have one list of globals that must be kept.
pub(crate) fn may_declare_variants(module: &str) -> bool {
    !module.lines().any(|line| line.starts_with("@llvm.compiler.used ="))
}

/// The functions that a module declares or defines.
fn functions_present(module: &str) -> HashSet<&str> {
    let mut present = HashSet::new();
    for line in module.lines() {
        if line.starts_with("declare ") || line.starts_with("define ") {
            present.extend(global_name(line));
        }
    }
    present
}

/// `module` with the library's names; calls get attributes whose numbers begin with `first`, in the order of `used`.
fn annotate_calls(module: &str, used: &[MathFunction], first: u64) -> String {
    let prefix = MATH_PREFIX.trim_start_matches('@');
    let mut numbered: HashMap<&str, (&MathFunction, u64)> = HashMap::new();
    for (function, number) in used.iter().zip(first..) {
        numbered.insert(&function.symbol, (function, number));
    }
    let mut text = String::with_capacity(module.len());
    for line in module.lines() {
        let mut mentioned = BTreeMap::new();
        for name in global_symbols(line) {
            let symbol = name.strip_prefix(prefix).unwrap_or(name);
            mentioned.extend(numbered.get(symbol).map(|(function, number)| (*number, *function)));
        }
        let mut annotated = Cow::Borrowed(line);
        for (number, function) in mentioned {
            // Calls within the library were linked with it, and may have another calling convention by now.
            let own = format!("@{}(", function.symbol);
            let linked = annotated.replace(&own, &format!("@{}.linked(", function.symbol));
            annotated = annotate_call(&linked, function, number).into();
        }
        text.push_str(&annotated);
        text.push('\n');
    }
    text
}

/// The globals that a line mentions.
fn global_symbols(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let symbol = global_symbol(rest)?;
        rest = symbol.rest;
        Some(symbol.name)
    })
}

/// `line` with the name that `function` has in the library; calls get attributes number `number`.
fn annotate_call(line: &str, function: &MathFunction, number: u64) -> String {
    let Some(call) = split_call(line, function) else { return line.to_string() };
    let own = &function.symbol;
    if line.starts_with("declare ") {
        let ty = function.element.name();
        return format!("declare {ty} @{own}({})", vec![ty; function.parameters].join(", "));
    }
    let after = match call.after.strip_prefix(" #") {
        Some(group) => group.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => call.after,
    };
    format!("{}@{own}{} #{number}{after}", call.before, call.arguments)
}

/// The parts of a line with a call.
struct CallText<'a> {
    before: &'a str,
    /// With their parentheses.
    arguments: &'a str,
    after: &'a str,
}

fn split_call<'a>(line: &'a str, function: &MathFunction) -> Option<CallText<'a>> {
    let called = format!("{MATH_PREFIX}{}(", function.symbol);
    let (before, call) = line.split_at_checked(line.find(&called)?)?;
    let from = call.get(called.len().checked_sub(1)?..)?;
    // Attributes of arguments have parentheses too: `nofpclass(nan inf)`.
    let (arguments, after) = from.split_at_checked(closing(from)?)?;
    Some(CallText { before, arguments, after })
}

impl MathFunction {
    fn new(name: &str, element: Element, parameters: usize) -> MathFunction {
        let name = format!("_cl_{name}");
        let stem = format!("_Z{}{name}", name.len());
        let mut symbol = stem.clone();
        for _ in 0..parameters {
            symbol.push(element.mangled());
        }
        MathFunction { symbol, stem, element, parameters }
    }

    /// The symbol of the variant for vectors of `lanes` elements.
    fn vector_symbol(&self, lanes: u32) -> String {
        let substitutions = "S_".repeat(self.parameters.saturating_sub(1));
        format!("{}Dv{lanes}_{}{substitutions}", self.stem, self.element.mangled())
    }

    /// The variant as LLVM's vector function ABI names it.
    fn abi_variant(&self, lanes: u32) -> String {
        let parameters = "v".repeat(self.parameters);
        format!("_ZGV_LLVM_N{lanes}{parameters}_{}({})", self.symbol, self.vector_symbol(lanes))
    }
}

fn functions() -> Vec<MathFunction> {
    let mut functions = Vec::new();
    for (names, parameters) in [(&UNARY[..], 1), (&BINARY[..], 2)] {
        for name in names {
            for element in [Element::Float, Element::Double] {
                functions.push(MathFunction::new(name, element, parameters));
            }
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
define void @k() {
  %1 = tail call contract float @_Z7_cl_powff(float noundef %x, float noundef 2.0) #3, !dbg !4
  %2 = call double @_Z7_cl_expd(double %y)
  %3 = call float @_Z7_cl_sinf(float %x)
}
declare float @_Z7_cl_powff(float noundef, float noundef) local_unnamed_addr #2
declare double @_Z7_cl_expd(double)
declare float @_Z7_cl_sinf(float)
attributes #3 = { nounwind }
";

    fn rename(module: &str) -> String {
        let calls = MathCalls::new(module);
        module.lines().map(|line| calls.rename(line.to_string()) + "\n").collect()
    }

    #[test]
    fn calls_tell_their_vectors() {
        let text = declare_vector_variants(rename(MODULE), 256);
        let call = "  %1 = tail call contract float @_Z7_cl_powff(float noundef %x, float noundef 2.0) #5, !dbg !4\n";
        assert!(text.contains(call), "{text}");
        assert!(text.contains("  %2 = call double @_Z7_cl_expd(double %y) #4\n"), "{text}");
        assert!(text.contains("  %3 = call float @_Z7_cl_sinf(float %x)\n"), "{text}");
        assert!(text.contains("declare float @_Z7_cl_powff(float, float)\n"), "{text}");
        assert!(
            text.contains("declare <8 x float> @_Z7_cl_powDv8_fS_(<8 x float>, <8 x float>)\n"),
            "{text}"
        );
        assert!(text.contains("declare <4 x double> @_Z7_cl_expDv4_d(<4 x double>)\n"), "{text}");
        assert!(!text.contains("Dv16_f"), "{text}");
        let variants = "\"vector-function-abi-variant\"=\"_ZGV_LLVM_N2v__Z7_cl_expd(_Z7_cl_expDv2_d),_ZGV_LLVM_N4v__Z7_cl_expd(_Z7_cl_expDv4_d)\"";
        assert!(
            text.contains(&format!(
                "attributes #4 = {{ noinline nounwind willreturn memory(none) {variants} }}"
            )),
            "{text}"
        );
        assert!(
            text.contains("@llvm.compiler.used = appending global [6 x ptr] [ptr @_Z7_cl_expDv2_d, "),
            "{text}"
        );
        assert!(text.contains(", ptr @_Z7_cl_expd, ") && text.contains(", ptr @_Z7_cl_powff]"), "{text}");
    }

    #[test]
    fn functions_of_vectors_that_the_sources_call_are_declared_once() {
        let declared = "declare <4 x double> @_Z7_cl_expDv4_d(<4 x double> noundef) #2\n";
        let text = declare_vector_variants(rename(&format!("{MODULE}{declared}")), 256);
        assert_eq!(text.matches("declare <4 x double> @_Z7_cl_expDv4_d(").count(), 1, "{text}");
        assert!(text.contains("ptr @_Z7_cl_expDv4_d"), "{text}");
        assert!(text.contains("declare <2 x double> @_Z7_cl_expDv2_d("), "{text}");
    }

    #[test]
    fn attributes_of_arguments_have_parentheses() {
        let finite = MODULE
            .replace("double %y", "double noundef nofpclass(nan inf) %y")
            .replace("expd(double)", "expd(double noundef nofpclass(nan inf))");
        let text = declare_vector_variants(rename(&finite), 128);
        assert!(text.contains("@_Z7_cl_expd(double noundef nofpclass(nan inf) %y) #4\n"), "{text}");
        assert!(text.contains("\ndeclare double @_Z7_cl_expd(double)\n"), "{text}");
    }

    #[test]
    fn what_the_module_has_itself_stays_apart() {
        let defined = MODULE
            .replace("declare double @_Z7_cl_expd(double)", "define double @_Z7_cl_expd(double %0) {\n}");
        assert!(rename(&defined).contains("call double @_Z7_cl_expd("));
        // Linked after it was renamed.
        let linked = rename(MODULE) + "define internal fastcc double @_Z7_cl_expd(double %0) {\n}\n";
        let text = declare_vector_variants(linked, 128);
        assert!(text.contains("define internal fastcc double @_Z7_cl_expd.linked(double %0) {"), "{text}");
        assert!(text.contains("call double @_Z7_cl_expd(double %y) #"), "{text}");
    }

    #[test]
    fn a_list_of_the_modules_own_is_left() {
        let text = declare_vector_variants(
            rename(MODULE) + "@llvm.compiler.used = appending global [0 x ptr] []\n",
            256,
        );
        assert!(!text.contains("Dv8_f") && text.contains("@_Z7_cl_powff(float noundef %x"), "{text}");
    }
}
