//! Inline PTX that clang refuses before it makes IR, and nvcc compiles: constraints that name NVIDIA's registers, for other
//! machines, and names behind a single `%`, as in `setp.lt.u32 %p, %0, %1;`, which nvcc takes for text.
//!
//! Only the IR shows which kernels reach the assembly. So a file that is refused for it is compiled once more from
//! preprocessed text, in which constraints ask for any register, as `"=l"` becomes `"=r"`, and a `%` before a name is
//! escaped. No line of the text moves. The assembly stays as it is, and is found in the IR.

use crate::tokens::{Edit, Lexer, Token, TokenKind, edited};

/// The registers of NVIDIA's GPUs by kind
/// (<https://docs.nvidia.com/cuda/inline-ptx-assembly/#constraints>).
const REGISTERS: &[u8] = b"bchrlfdq";
/// What clang takes for every machine.
const ANY_REGISTER: u8 = b'r';
/// What stands before the register: https://gcc.gnu.org/onlinedocs/gcc/Modifiers.html
const MODIFIERS: &[u8] = b"=+&%";

/// The constraints of the text that clang gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraints {
    /// As they are written.
    Nvidia,
    /// `"r"`, which every machine has.
    AnyRegister,
}

/// `text`, preprocessed C++, as clang takes it where the assembly is PTX; `None` if there is nothing to change.
pub fn rewrite(text: &str, constraints: Constraints) -> Option<String> {
    let bytes = text.as_bytes();
    let mut lexer = Lexer::new(text);
    let mut edits = Vec::new();
    while let Some(token) = lexer.next() {
        if !token.is_word(&lexer, &["asm", "__asm", "__asm__"]) {
            continue;
        }
        let Some(statement) = Statement::read(&mut lexer) else { continue };
        if !statement.is_of_nvidia() {
            continue;
        }
        let names = statement.names(bytes);
        if !names.is_empty() && !statement.is_volatile {
            // The name is declared in another statement: both stay in their order.
            edits.push(Edit { at: token.end, removed: 0, text: " volatile" });
        }
        edits.extend(names.into_iter().map(|at| Edit { at, removed: 0, text: "%" }));
        if constraints == Constraints::AnyRegister {
            let registers = statement.registers(bytes).into_iter();
            let known = registers.filter(|at| bytes.get(*at) != Some(&ANY_REGISTER));
            edits.extend(known.map(|at| Edit { at, removed: 1, text: "r" }));
        }
    }
    if edits.is_empty() {
        return None;
    }
    edited(text, edits)
}

/// Whether a text for an assembler is PTX: names of its instructions have types behind dots, where AMD's have underscores.
pub fn is_ptx(template: &str) -> bool {
    template.split([';', '\n', '{']).any(|statement| {
        let words = statement.split_whitespace().find(|word| !word.starts_with('@'));
        let opcode = words.unwrap_or_default();
        let starts = opcode.starts_with(|c: char| c.is_ascii_lowercase());
        let name = opcode.split_once('.').map(|(name, _)| name);
        starts && name.is_some_and(|name| !name.contains('_'))
    })
}

/// A statement with assembly.
#[derive(Default)]
struct Statement {
    /// The text, with escapes.
    template: String,
    /// What stands between the quotes of each part of it.
    parts: Vec<Token>,
    /// What stands between the quotes of each constraint.
    constraints: Vec<Token>,
    is_volatile: bool,
    /// Whether a `:` follows the text: `%` is an escape only then.
    has_operands: bool,
}

impl Statement {
    /// Reads from behind the keyword up to the last parenthesis; `None` for what is no statement.
    fn read(lexer: &mut Lexer<'_>) -> Option<Statement> {
        const QUALIFIERS: [&str; 6] =
            ["volatile", "__volatile", "__volatile__", "goto", "inline", "__inline__"];
        const VOLATILE: [&str; 3] = ["volatile", "__volatile", "__volatile__"];
        let mut statement = Statement::default();
        let mut token = lexer.next()?;
        while token.is_word(lexer, &QUALIFIERS) {
            statement.is_volatile |= token.is_word(lexer, &VOLATILE);
            token = lexer.next()?;
        }
        if token.kind != TokenKind::Other(b'(') {
            return None;
        }
        let mut depth = 1u32;
        let mut colons = 0u32;
        while depth > 0 {
            let token = lexer.next()?;
            match token.kind {
                TokenKind::Other(b'(' | b'[' | b'{') => depth = depth.saturating_add(1),
                TokenKind::Other(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                TokenKind::Other(b':') if depth == 1 => colons = colons.saturating_add(1),
                TokenKind::Text if depth == 1 && colons == 0 => {
                    let part = lexer.bytes.get(token.start..token.end).unwrap_or_default();
                    statement.template.push_str(&String::from_utf8_lossy(part));
                    statement.parts.push(token);
                }
                TokenKind::Text if depth == 1 && colons <= 2 => statement.constraints.push(token),
                _ => {}
            }
        }
        statement.has_operands = colons > 0;
        Some(statement)
    }

    /// The places of each `%` before a name that is no operand.
    fn names(&self, bytes: &[u8]) -> Vec<usize> {
        let mut places = Vec::new();
        for part in self.parts.iter().filter(|_| self.has_operands) {
            let mut at = part.start;
            while at < part.end {
                let next = at.saturating_add(1);
                let follows = bytes.get(next).copied().unwrap_or_default();
                let is_percent = bytes.get(at) == Some(&b'%');
                if is_percent && (follows.is_ascii_alphabetic() || follows == b'_') {
                    places.push(at);
                }
                // `%%` is one.
                at = if is_percent { next.saturating_add(1) } else { next };
            }
        }
        places
    }

    /// Whether the text is PTX, or none: that keeps a value in a register.
    fn is_of_nvidia(&self) -> bool {
        let text = self.template.replace("\\n", "\n").replace("\\t", "\t");
        text.trim().is_empty() || is_ptx(&text)
    }

    /// The places of letters that name NVIDIA's registers.
    fn registers(&self, bytes: &[u8]) -> Vec<usize> {
        let mut places = Vec::new();
        for constraint in &self.constraints {
            let all = constraint.start..constraint.end;
            let letters = bytes.get(all.clone()).unwrap_or_default();
            let is_known = letters.iter().all(|byte| REGISTERS.contains(byte) || MODIFIERS.contains(byte));
            if is_known {
                let of_registers = all.zip(letters).filter(|(_, byte)| REGISTERS.contains(byte));
                places.extend(of_registers.map(|(place, _)| place));
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_is_told_from_the_assembly_of_amd() {
        assert!(is_ptx("cvt.rn.f16.f32 $0, $1;") && is_ptx("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, $1, 0;\n}"));
        assert!(
            is_ptx("@p bra.uni done;") && is_ptx("cp.async.commit_group;") && is_ptx("fence.acq_rel.gpu;")
        );
        assert!(!is_ptx("s_nop 0") && !is_ptx("v_add_f32 $0, $1, $2") && !is_ptx("") && !is_ptx(".long 0"));
    }

    #[test]
    fn registers_of_ptx_become_any() {
        let text = "# 1 \"a.cu\"\nasm volatile(\"st.global.f32 [%0], %1;\" \"\\n\" :: \"l\"(p), \"f\"(x) : \"memory\");\n\
                    asm(\"mov.b16 %0, %1;\" : \"=&h\"(y)\n# 9 \"l\" 3\n : [in] \"h\"(f(\"l\", x ? a : b)), \"n\"(3));\n\
                    __asm__ __volatile__(R\"p(cvt.rn.f16.f32 %0, %1;)p\" : \"+d\"(y));\n\
                    asm volatile(\"\" : \"+f\"(x));\n";
        let wanted = text
            .replace("\"l\"(p)", "\"r\"(p)")
            .replace("\"f\"(x) :", "\"r\"(x) :")
            .replace("\"=&h\"", "\"=&r\"")
            .replace("\"h\"(f", "\"r\"(f")
            .replace("\"+d\"", "\"+r\"")
            .replace("\"+f\"", "\"+r\"");
        assert_eq!(rewrite(text, Constraints::AnyRegister).as_deref(), Some(wanted.as_str()));
        assert_eq!(rewrite(text, Constraints::Nvidia), None);
    }

    /// As sppark has them.
    #[test]
    fn a_percent_before_a_name_is_escaped() {
        let text = "asm(\"{ .reg.pred %brw;\");\n\
                    asm(\"setp.lt.u32 %brw, %0, %1;\" :: \"r\"(a), \"r\"(b));\n\
                    asm volatile(\"@%brw \" \"add.u32 %0, %0, %[m]; mov.u32 %0, %%laneid;\" : \"+l\"(a) : [m] \"r\"(m));\n";
        let escaped = text
            .replace("asm(\"setp.lt.u32 %brw", "asm volatile(\"setp.lt.u32 %%brw")
            .replace("@%brw", "@%%brw");
        assert_eq!(rewrite(text, Constraints::Nvidia).as_deref(), Some(escaped.as_str()));
        let elsewhere = escaped.replace("\"+l\"", "\"+r\"");
        assert_eq!(rewrite(text, Constraints::AnyRegister).as_deref(), Some(elsewhere.as_str()));
    }

    #[test]
    fn other_assembly_and_other_texts_stay() {
        for text in [
            "asm(\"rdtsc\" : \"=a\"(low), \"=d\"(high));",
            "asm(\"v_add_f32 %0, %1, %2\" : \"=v\"(y) : \"v\"(x), \"v\"(x));",
            "char c = '\"'; int n = 1'000; f(\"asm(\\\"a.b\\\" : \\\"=l\\\"(x))\");",
            "int f() asm(\"_Z1fl\"); const char *s = \"l\";",
            "asm(\"mov.u32 %0, %1;\" : \"=r\"(y) : \"r\"(x));",
            "asm(\"unclosed.b32 \" : \"=l\"(x",
            "R\"x(asm(\"a.b;\" : \"=l\"(x));)x\"",
            "\"unclosed \\",
        ] {
            assert_eq!(rewrite(text, Constraints::AnyRegister), None, "{text}");
        }
    }
}
