//! Inline PTX as LLVM IR, for machines other than NVIDIA's.
//!
//! Sources for CUDA hold single instructions of PTX, for a conversion, an approximate function, or a load with a cache
//! hint. Each such text of arithmetic, conversions and accesses to memory becomes a function with the same effect, which
//! is inlined where the text stood. Texts with other instructions stay: they are foreign code. The instructions are those
//! of <https://docs.nvidia.com/cuda/parallel-thread-execution/>.
//!
//! Results are those of PTX but for two freedoms: approximate functions are as precise as the machine's own, and
//! subnormal numbers are kept where `.ftz` flushes them.

mod arithmetic;
mod bits;
mod body;
mod conversion;
mod lowering;
mod memory;
mod special;
mod template;
mod types;
mod warp;

use std::collections::BTreeSet;
use std::fmt::Write;

use offload_workgroup::ir::{Parameters, global_name, parameters};

use self::body::{Body, Value};
use self::template::Template;
use self::types::Form;
pub use self::types::Machine;
use crate::inline_assembly::template_text;

/// What the name of a function for a text begins with.
const PREFIX: &str = "__offload_ptx.";

/// What products of matrices have in their texts.
const PRODUCT: &str = "mma.sync";
/// A file with more products than these is one for matrix instructions, whose code for a CPU takes minutes to compile.
const MAX_HOST_PRODUCTS: usize = 64;

/// What may stand between `call` and a type (<https://llvm.org/docs/LangRef.html#fast-math-flags>).
const FAST_MATH_FLAGS: [&str; 8] = ["nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"];

/// `module` with functions in place of inline PTX, as far as that is known.
pub fn with_inline_ptx(module: &str, machine: Machine) -> String {
    if !module.contains(" asm ") {
        return module.to_string();
    }
    // On a CPU a product is hundreds of instructions with barriers between them.
    let products = module.lines().filter(|line| line.contains(" asm ") && line.contains(PRODUCT)).count();
    let has_many_products = machine == Machine::Host && products > MAX_HOST_PRODUCTS;
    let mut out = String::with_capacity(module.len());
    let mut functions = String::new();
    let mut needed = BTreeSet::new();
    let mut count = 0u32;
    for line in module.split_inclusive('\n') {
        if has_many_products && line.contains(PRODUCT) {
            out.push_str(line);
            continue;
        }
        let name = format!("@{PREFIX}{count}");
        let Some(translated) = Call::parse(line).and_then(|call| call.translate(&name, machine)) else {
            out.push_str(line);
            continue;
        };
        count = count.saturating_add(1);
        out.push_str(&translated.line);
        functions.push_str(&translated.function);
        needed.extend(translated.declarations);
    }
    if count == 0 {
        return out;
    }
    out.push('\n');
    let known = declared(module);
    for declaration in needed {
        if global_name(&declaration).is_some_and(|name| !known.contains(name)) {
            let _ = writeln!(out, "{declaration}");
        }
    }
    out.push_str(&functions);
    out
}

/// The names of functions that a module declares or defines, and of its variables.
fn declared(module: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for line in module.lines() {
        if line.starts_with("declare ") || line.starts_with("define ") || line.starts_with('@') {
            names.extend(global_name(line));
        }
    }
    names
}

/// A call of an assembler's text.
struct Call<'l> {
    /// The line up to the type of the result.
    before: &'l str,
    result: &'l str,
    template: String,
    constraints: &'l str,
    arguments: Parameters<'l>,
    /// The arguments, with their parentheses.
    list: &'l str,
}

/// A call of a function in place of a text, and that function.
struct Translated {
    line: String,
    function: String,
    declarations: Vec<String>,
}

impl<'l> Call<'l> {
    fn parse(line: &'l str) -> Option<Call<'l>> {
        let (before, rest) = line.split_once(" asm ")?;
        let template = template_text(line)?;
        let mut place = before.find("call ")?.checked_add("call ".len())?;
        while let Some(flag) = before.get(place..)?.split_once(' ').map(|(word, _)| word) {
            if !FAST_MATH_FLAGS.contains(&flag) {
                break;
            }
            place = place.checked_add(flag.len())?.checked_add(1)?;
        }
        let (before, result) = before.split_at_checked(place)?;
        let mut quoted = rest.splitn(5, '"');
        let constraints = quoted.nth(3)?;
        let list = quoted.next()?;
        let arguments = parameters(list)?;
        let list = list.strip_suffix(arguments.rest)?;
        Some(Call { before, result, template, constraints, arguments, list })
    }

    fn translate(&self, name: &str, machine: Machine) -> Option<Translated> {
        let results = results(self.result)?;
        let mut operands: Vec<Option<Value>> = Vec::new();
        operands.resize(results.len(), None);
        let mut body = Body::new(machine);
        let mut arguments = self.arguments.list.iter();
        let mut written = Vec::new();
        let mut number = 0usize;
        for constraint in self.constraints.split(',') {
            if constraint.contains('*') {
                // A place in memory.
                return None;
            }
            if constraint.is_empty() || constraint.starts_with(['=', '~']) {
                continue;
            }
            let argument = arguments.next()?;
            let form = Form::from_ir(argument.type_text())?;
            let literal = argument.text.rsplit(' ').next()?;
            let value = match literal.parse::<i64>() {
                Ok(constant) if form.is_integer() => Value::constant(form, constant),
                _ => Value::new(form, format!("%a{number}")),
            };
            written.push(format!("{} %a{number}", argument.type_text()));
            number = number.checked_add(1)?;
            let value = body.as_bits(value);
            if let Ok(tied) = constraint.parse::<usize>() {
                *operands.get_mut(tied)? = Some(value.clone());
            }
            operands.push(Some(value));
        }
        for (operand, form) in operands.iter_mut().zip(&results) {
            operand.get_or_insert(Value::zero(form.width()));
        }
        body.set_operands(operands.into_iter().collect::<Option<_>>()?);
        for statement in Template::parse(&self.template)?.statements {
            lowering::lower(&mut body, &statement)?;
        }
        let end = body.result(&results, self.result)?;
        let head = format!(
            "\ndefine internal {} {name}({}) alwaysinline nounwind{} {{\n",
            self.result,
            written.join(", "),
            if body.is_convergent { " convergent" } else { "" }
        );
        let behind = self.arguments.rest;
        Some(Translated {
            line: format!("{}{} {name}{}{behind}", self.before, self.result, self.list),
            function: format!("{head}{}{end}}}\n", body.text),
            declarations: body.declarations,
        })
    }
}

/// The forms of a call's results.
fn results(text: &str) -> Option<Vec<Form>> {
    if text == "void" {
        return Some(Vec::new());
    }
    let Some(fields) = text.strip_prefix("{ ").and_then(|rest| rest.strip_suffix(" }")) else {
        return Some(vec![Form::from_ir(text)?]);
    };
    fields.split(", ").map(Form::from_ir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(template: &str, constraints: &str, result: &str, arguments: &str) -> String {
        format!(
            "  %9 = call {result} asm sideeffect \"{template}\", \"{constraints}\"({arguments}) #3, !srcloc !1\n"
        )
    }

    /// The function for the only text of a module.
    fn function(line: &str, machine: Machine) -> String {
        let module = with_inline_ptx(line, machine);
        let (call, function) = module.split_once("\n\n").unwrap_or_else(|| panic!("{module}"));
        assert!(call.contains("@__offload_ptx.0("), "{call}");
        function.to_string()
    }

    #[test]
    fn a_text_becomes_a_call() {
        let line = call("cvt.f32.f16 $0, $1;\\0A", "=f,h", "contract float", "i16 noundef %x");
        let module = with_inline_ptx(&line, Machine::Host);
        assert!(
            module
                .starts_with("  %9 = call contract float @__offload_ptx.0(i16 noundef %x) #3, !srcloc !1\n")
        );
        assert!(
            module.contains("define internal float @__offload_ptx.0(i16 %a0) alwaysinline nounwind {"),
            "{module}"
        );
        assert!(module.contains("fpext half") && module.contains("ret float %"), "{module}");
    }

    #[test]
    fn operands_may_be_tied_and_constant() {
        let line = call("shl.b32 $0, $0, $2;", "=r,0,n,~{flags}", "i32", "i32 %x, i32 5");
        assert!(function(&line, Machine::Host).contains("(i32 %a0, i32 %a1)"));
        let pair = call("mov.b64 $($0, $1$), $2;", "=r,=r,l", "{ i32, i32 }", "i64 %x");
        assert!(function(&pair, Machine::Host).contains("insertvalue { i32, i32 } poison"));
    }

    #[test]
    fn a_guard_leads_around_effects() {
        let text = "$( .reg .pred p; setp.ne.b32 p, $0, 0; @p st.global.u32 [$1+4], $0; $)";
        let line = call(text, "r,l,~{memory}", "void", "i32 %x, ptr %p");
        let line = line.replace("%9 = ", "");
        let function = function(&line, Machine::Host);
        assert!(function.contains("br i1 %") && function.contains("getelementptr i8"), "{function}");
    }

    #[test]
    fn shared_memory_is_addressed_in_32_bits() {
        let line = call("ld.shared.u32 $0, [$1];", "=r,r", "i32", "i32 %x");
        assert!(function(&line, Machine::Amd).contains("load i32, ptr addrspace(3)"));
        let on_host = function(&line, Machine::Host);
        assert!(on_host.contains("ptrtoint ptr @__offload_ptx_shared"), "{on_host}");
        let global = line.replace("ld.shared", "ld.global");
        assert_eq!(with_inline_ptx(&global, Machine::Host), global);
    }

    #[test]
    fn exchanges_are_convergent() {
        let line = call("shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "=r,r", "i32", "i32 %x");
        let on_host = function(&line, Machine::Host);
        assert!(
            on_host.contains("nounwind convergent {")
                && on_host.contains("@__offload_wait_warp() convergent")
        );
        assert!(function(&line, Machine::Amd).contains("@llvm.amdgcn.ds.bpermute"));
    }

    #[test]
    fn many_products_stay_on_the_cpu() {
        let text = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 $($0,$1$), $($2,$3,$4,$5$), $($6,$7$), $($8,$9$);";
        let words = ["i32 %x"; 8].join(", ");
        let line = call(text, "=r,=r,r,r,r,r,r,r,r,r", "{ i32, i32 }", &words);
        assert!(function(&line, Machine::Host).contains("@llvm.fma.f32"));
        let many = line.repeat(MAX_HOST_PRODUCTS + 1);
        assert_eq!(with_inline_ptx(&many, Machine::Host), many);
        assert_ne!(with_inline_ptx(&many, Machine::Amd), many);
    }

    #[test]
    fn functions_are_declared_once() {
        let line = call("ex2.approx.f32 $0, $1;", "=f,f", "float", "float %x");
        let module = with_inline_ptx(&format!("{line}{line}"), Machine::Host);
        assert_eq!(module.matches("declare float @__ocml_exp2_f32(float)").count(), 1);
        let declared = format!("declare float @__ocml_exp2_f32(float noundef) #2\n{line}");
        assert_eq!(with_inline_ptx(&declared, Machine::Host).matches("declare").count(), 1);
    }

    #[test]
    fn other_texts_stay() {
        for template in [
            "bra.uni done; done:",
            "mma.sync.aligned.m16n8k16 $0, $1;",
            "add.rz.f32 $0, $1, $1;",
            "addc.u32 $0, $1, $1;",
            "v_add_f32 $0, $1, $1",
            "{ add.u32 $0, $1, $1;",
        ] {
            let line = call(template, "=r,r", "i32", "i32 %x");
            assert_eq!(with_inline_ptx(&line, Machine::Host), line, "{template}");
        }
    }
}
