//! Mathematical functions of PoCL's library: calls that stay calls, of which clang makes calls for several work-items.
//!
//! PoCL has each function for numbers and for vectors. A loop over work-items that calls one for numbers becomes one
//! that calls it for vectors if the call says which function that is
//! (<https://llvm.org/docs/LangRef.html#call-site-attributes>, `vector-function-abi-variant`).

use std::collections::BTreeSet;
use std::fmt::Write;

use super::numbered::Numbered;
use crate::ir::types::closing;

/// What the functions are called while work-items are compiled one by one: nobody knows a body to inline.
pub(super) const PREFIX: &str = "@__offload_math.";

/// Functions of one number. Those of angles are not among them: PoCL's for vectors are wrong for some.
const UNARY: [&str; 19] = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cosh", "erf", "erfc", "exp", "exp10", "exp2",
    "expm1", "log", "log10", "log1p", "log2", "sinh",
];
/// Functions of two numbers.
const BINARY: [&str; 3] = ["atan2", "pow", "powr"];

/// A function of the library for numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    symbol: String,
    /// In the name, as C++ mangles it: `_Z7_cl_exp`.
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

/// The functions that a module declares, and so calls.
pub(super) struct Calls {
    declared: Vec<Function>,
}

impl Calls {
    pub(super) fn of(module: &str) -> Calls {
        let declared = |function: &Function| {
            let call = format!("@{}(", function.symbol);
            module.lines().any(|line| line.starts_with("declare ") && line.contains(&call))
        };
        Calls { declared: functions().filter(declared).collect() }
    }

    /// `line` with names that PoCL's library does not have, so that no body is inlined.
    pub(super) fn renamed(&self, line: String) -> String {
        self.declared.iter().fold(line, |line, function| {
            let (before, after) = (format!("@{}(", function.symbol), format!("{PREFIX}{}(", function.symbol));
            if line.contains(&before) { line.replace(&before, &after) } else { line }
        })
    }
}

/// `module` with the library's names, and vectors of at most `widest` bits for its functions.
pub(super) fn with_vectors(module: &str, widest: u32) -> String {
    let used: Vec<Function> =
        functions().filter(|function| module.contains(&format!("{PREFIX}{}(", function.symbol))).collect();
    // The list of what must stay can stand once in a module.
    let taken = module.lines().any(|line| line.starts_with("@llvm.compiler.used ="));
    let widest = if taken { 0 } else { widest };
    let mut number = Numbered::of(module).free.attributes;
    let (mut text, mut tail, mut kept) = (module.to_string(), String::new(), BTreeSet::new());
    for function in &used {
        let own = format!("@{}(", function.symbol);
        // What the library's functions call of it was linked, and may have another calling convention by now.
        text = text.replace(&own, &format!("@{}.linked(", function.symbol));
        let variants: Vec<u32> = [128, 256, 512]
            .iter()
            .filter(|bits| **bits <= widest)
            .map(|bits| bits / function.element.bits())
            .collect();
        text = text.lines().map(|line| attributed(line, function, number) + "\n").collect();
        let names: Vec<String> = variants.iter().map(|lanes| function.variant(*lanes)).collect();
        let _ = writeln!(
            tail,
            "attributes #{number} = {{ noinline nounwind willreturn memory(none) {}}}",
            if names.is_empty() {
                String::new()
            } else {
                format!("\"vector-function-abi-variant\"=\"{}\" ", names.join(","))
            }
        );
        for lanes in variants {
            let (name, ty) = (function.vector(lanes), format!("<{lanes} x {}>", function.element.name()));
            let _ =
                writeln!(tail, "declare {ty} @{name}({})", vec![ty.as_str(); function.parameters].join(", "));
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

/// `line` with the name that `function` has in the library; calls get attributes number `number`.
fn attributed(line: &str, function: &Function, number: u64) -> String {
    let called = format!("{PREFIX}{}(", function.symbol);
    let parts = line.find(&called).and_then(|at| {
        let (before, call) = line.split_at_checked(at)?;
        let from = call.get(called.len().checked_sub(1)?..)?;
        // Attributes of arguments have parentheses too: `nofpclass(nan inf)`.
        let (arguments, after) = from.split_at_checked(closing(from)?)?;
        Some((before, arguments, after))
    });
    let Some((before, arguments, after)) = parts else { return line.to_string() };
    let own = &function.symbol;
    if line.starts_with("declare ") {
        let ty = function.element.name();
        return format!("declare {ty} @{own}({})", vec![ty; function.parameters].join(", "));
    }
    let after = match after.strip_prefix(" #") {
        Some(group) => group.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => after,
    };
    format!("{before}@{own}{arguments} #{number}{after}")
}

impl Function {
    fn new(name: &str, element: Element, parameters: usize) -> Function {
        let name = format!("_cl_{name}");
        let stem = format!("_Z{}{name}", name.len());
        let symbol = (0..parameters).fold(stem.clone(), |symbol, _| format!("{symbol}{}", element.mangled()));
        Function { symbol, stem, element, parameters }
    }

    /// The symbol of the function for vectors of `lanes` elements.
    fn vector(&self, lanes: u32) -> String {
        let again = "S_".repeat(self.parameters.saturating_sub(1));
        format!("{}Dv{lanes}_{}{again}", self.stem, self.element.mangled())
    }

    /// What tells LLVM of it.
    fn variant(&self, lanes: u32) -> String {
        let parameters = "v".repeat(self.parameters);
        format!("_ZGV_LLVM_N{lanes}{parameters}_{}({})", self.symbol, self.vector(lanes))
    }
}

fn functions() -> impl Iterator<Item = Function> {
    let all = UNARY.iter().map(|name| (name, 1)).chain(BINARY.iter().map(|name| (name, 2)));
    all.flat_map(|(name, parameters)| {
        [Element::Float, Element::Double].map(|element| Function::new(name, element, parameters))
    })
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

    fn renamed(module: &str) -> String {
        let calls = Calls::of(module);
        module.lines().map(|line| calls.renamed(line.to_string()) + "\n").collect()
    }

    #[test]
    fn calls_tell_their_vectors() {
        let text = with_vectors(&renamed(MODULE), 256);
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
            text.contains("@llvm.compiler.used = appending global [4 x ptr] [ptr @_Z7_cl_expDv2_d, "),
            "{text}"
        );
    }

    #[test]
    fn attributes_of_arguments_have_parentheses() {
        let finite = MODULE
            .replace("double %y", "double noundef nofpclass(nan inf) %y")
            .replace("expd(double)", "expd(double noundef nofpclass(nan inf))");
        let text = with_vectors(&renamed(&finite), 128);
        assert!(text.contains("@_Z7_cl_expd(double noundef nofpclass(nan inf) %y) #4\n"), "{text}");
        assert!(text.contains("\ndeclare double @_Z7_cl_expd(double)\n"), "{text}");
    }

    #[test]
    fn what_the_module_has_itself_stays_apart() {
        let defined = MODULE
            .replace("declare double @_Z7_cl_expd(double)", "define double @_Z7_cl_expd(double %0) {\n}");
        assert!(renamed(&defined).contains("call double @_Z7_cl_expd("));
        // Linked after it was renamed.
        let linked = renamed(MODULE) + "define internal fastcc double @_Z7_cl_expd(double %0) {\n}\n";
        let text = with_vectors(&linked, 128);
        assert!(text.contains("define internal fastcc double @_Z7_cl_expd.linked(double %0) {"), "{text}");
        assert!(text.contains("call double @_Z7_cl_expd(double %y) #"), "{text}");
    }

    #[test]
    fn a_list_of_the_modules_own_is_left() {
        let text =
            with_vectors(&(renamed(MODULE) + "@llvm.compiler.used = appending global [0 x ptr] []\n"), 256);
        assert!(!text.contains("Dv8_f") && text.contains("@_Z7_cl_powff(float noundef %x"), "{text}");
    }
}
