//! Inline PTX of arithmetic, which LLVM's passes may copy and move.
//!
//! clang takes all inline assembly of CUDA C++ for operations that depend on the threads that execute them together
//! (`convergent`, <https://llvm.org/docs/ConvergentOperations.html>). A loop with one is not unrolled unless its trip count
//! is known. NVIDIA's headers write the arithmetic of `__half` and `__nv_bfloat16` in PTX.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::inline_assembly::template_text;

const CONVERGENT: &str = " convergent ";
/// Without it the number of a loop's iterations is not known.
const RETURNS: &str = " willreturn ";
const GROUP: &str = "attributes #";

/// Instructions whose results depend on their operands alone
/// (<https://docs.nvidia.com/cuda/parallel-thread-execution/#instructions>).
const ARITHMETIC: [&str; 50] = [
    ".reg",
    "abs",
    "add",
    "and",
    "bfe",
    "bfi",
    "bfind",
    "brev",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "cvt",
    "div",
    "dp2a",
    "dp4a",
    "ex2",
    "fma",
    "lg2",
    "lop3",
    "mad",
    "max",
    "min",
    "mov",
    "mul",
    "mul24",
    "neg",
    "not",
    "or",
    "popc",
    "prmt",
    "rcp",
    "rem",
    "rsqrt",
    "sad",
    "selp",
    "set",
    "setp",
    "shf",
    "shl",
    "shr",
    "sin",
    "sqrt",
    "sub",
    "tanh",
    "testp",
    "vabsdiff4",
    "vadd4",
    "vsub4",
    "xor",
];

/// `module` in which inline PTX of arithmetic without an effect is not convergent, and is known to return.
pub(crate) fn with_movable_assembly(module: &str) -> String {
    let groups = Groups::new(module);
    let mut out = String::with_capacity(module.len());
    for line in module.split_inclusive('\n') {
        match groups.movable(line) {
            Some((before, group, after)) => {
                let _ = write!(out, "{before}#{group}{after}");
            }
            None => out.push_str(line),
        }
    }
    for (number, text) in groups.by_name.values() {
        let _ = writeln!(out, "{GROUP}{number} = {text}");
    }
    out
}

/// The groups of attributes that name no memory and are convergent.
struct Groups<'m> {
    /// The number and the text of the group that is not convergent.
    by_name: BTreeMap<&'m str, (usize, String)>,
}

impl<'m> Groups<'m> {
    fn new(module: &'m str) -> Groups<'m> {
        let mut by_name = BTreeMap::new();
        if !module.contains(" asm \"") {
            return Groups { by_name };
        }
        let mut groups = BTreeMap::new();
        groups.extend(module.lines().filter_map(|line| line.strip_prefix(GROUP)?.split_once(" = ")));
        let mut next = groups.keys().filter_map(|name| name.parse::<usize>().ok()).max().unwrap_or(0);
        for (name, text) in groups {
            if text.contains(CONVERGENT) && text.contains("memory(none)") {
                next = next.saturating_add(1);
                by_name.insert(name, (next, text.replacen(CONVERGENT, RETURNS, 1)));
            }
        }
        Groups { by_name }
    }

    /// The parts of `line` beside its group, and the group that it may have.
    fn movable<'l>(&self, line: &'l str) -> Option<(&'l str, usize, &'l str)> {
        if self.by_name.is_empty() || !line.contains(" asm \"") {
            return None;
        }
        let place = line.rfind(") #")?.checked_add(2)?;
        let (before, rest) = line.split_at_checked(place)?;
        let rest = rest.strip_prefix('#')?;
        let end = rest.find(|character: char| !character.is_ascii_digit())?;
        let (name, after) = rest.split_at_checked(end)?;
        let (number, _) = self.by_name.get(name)?;
        is_arithmetic(&template_text(line)?).then_some((before, *number, after))
    }
}

/// Whether all of `text` are instructions of arithmetic on its operands and on registers of its own.
fn is_arithmetic(text: &str) -> bool {
    // A register of the machine, as of the thread's place, is not an operand.
    if text.contains('%') {
        return false;
    }
    let statements = text.split([';', '\n']).map(|statement| {
        statement.trim_matches(|character: char| character.is_whitespace() || "{}".contains(character))
    });
    statements.filter(|statement| !statement.is_empty()).all(|statement| {
        let opcode = statement.split_whitespace().next().unwrap_or_default();
        let name = match opcode.strip_prefix('.') {
            Some(directive) => directive.split('.').next().map(|directive| format!(".{directive}")),
            None => opcode.split('.').next().map(str::to_string),
        };
        name.is_some_and(|name| ARITHMETIC.contains(&name.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: &str = "attributes #1 = { convergent nounwind }\n\
        attributes #10 = { convergent nounwind memory(none) }\n";

    /// Whether a call of `template` got other attributes.
    fn is_rewritten(template: &str, properties: &str, group: &str) -> bool {
        let call = format!(
            "  %5 = call i16 asm {properties}\"{template}\", \"=h,h\"(i16 %4) #{group}, !srcloc !1\n"
        );
        let text = with_movable_assembly(&format!("{call}{GROUPS}"));
        if text.starts_with(&call) {
            return false;
        }
        assert!(text.starts_with(&call.replace("#10,", "#11,")), "{text}");
        assert!(text.ends_with("attributes #11 = { willreturn nounwind memory(none) }\n"), "{text}");
        true
    }

    #[test]
    fn arithmetic_is_movable() {
        for template in [
            "{ add.bf16 $0,$1,$2; }\\0A",
            "cvt.rn.bf16.s32 $0, $1;",
            "{.reg .f16 low,high;\\0A  mov.b32 {low,high},$1;\\0A  cvt.f32.f16 $0, low;}\\0A",
            "{.reg.b32 f;\\0A set.eq.f16.f16 p,h, spc;\\0A{.reg.b16 a;\\0A\\09fma.rn.f16 r,p,u,r;\\0A}\\0A}",
        ] {
            assert!(is_rewritten(template, "", "10"), "{template}");
        }
    }

    #[test]
    fn other_assembly_stays() {
        for template in [
            "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;",
            "activemask.b32 $0;",
            "mov.u32 $0, %lanemask_lt;",
            "{ .reg .pred p;\\0A setp.eq.u32 p, $1, 0;\\0A @p bra done; }",
            "mov.b32 $0, $1; vote.sync.ballot.b32 $0, p, -1;",
        ] {
            assert!(!is_rewritten(template, "", "10"), "{template}");
        }
        assert!(!is_rewritten("add.u16 $0, $1, $2;", "sideeffect ", "10"));
        assert!(!is_rewritten("add.u16 $0, $1, $2;", "", "1"));
    }
}
