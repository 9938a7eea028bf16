//! The text of an `asm` statement as statements of PTX
//! (<https://docs.nvidia.com/cuda/parallel-thread-execution/#syntax>).

/// A text for NVIDIA's assembler.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Template {
    pub(super) statements: Vec<Statement>,
}

/// A statement, or the limit of a scope of names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Statement {
    Open,
    Close,
    /// `.reg .b32 a, b<4>;`
    Registers {
        suffix: String,
        names: Vec<String>,
    },
    Instruction(Instruction),
}

/// An instruction, which a predicate may guard.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) guard: Option<Guard>,
    /// The name, as `cvt`.
    pub(super) name: String,
    /// The words behind dots, as `rn`, `f16` and `f32`.
    pub(super) suffixes: Vec<String>,
    pub(super) operands: Vec<Operand>,
}

/// `@p`, or `@!p`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guard {
    pub(super) register: Operand,
    pub(super) is_negated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// The operand of the statement in C++ with this number.
    Number(usize),
    /// A register that the text declares.
    Name(String),
    /// A register of the machine, as `%laneid`.
    Special(String),
    Constant(i64),
    /// A number in bits, as `0f3F800000`.
    Bits {
        value: u64,
        width: u32,
    },
    /// `[%0 + 16]`
    Address {
        base: Box<Operand>,
        offset: i64,
    },
    /// `{a, b}`
    List(Vec<Operand>),
    /// `_`, in place of a result.
    Unused,
}

impl Template {
    /// Reads `text`, a text of LLVM's; `None` for what is not known, as labels.
    pub(super) fn parse(text: &str) -> Option<Template> {
        // In IR for machines with dialects of assembly, braces are escaped.
        let text = text.replace("$(", "{").replace("$)", "}").replace("$|", "|");
        let text = without_comments(&text);
        let mut statements = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('{') {
                statements.push(Statement::Open);
                rest = after.trim_start();
                continue;
            }
            if let Some(after) = rest.strip_prefix('}') {
                statements.push(Statement::Close);
                rest = after.trim_start();
                continue;
            }
            if let Some(after) = rest.strip_prefix(';') {
                rest = after.trim_start();
                continue;
            }
            let (statement, after) = rest.split_once(';')?;
            statements.push(Statement::parse(statement.trim())?);
            rest = after.trim_start();
        }
        Some(Template { statements })
    }
}

/// `text` without comments of either kind.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let line = rest.find("//");
        let block = rest.find("/*");
        let Some(start) = line.into_iter().chain(block).min() else { break };
        let (before, comment) = rest.split_at(start);
        out.push_str(before);
        out.push(' ');
        let end = if Some(start) == line { "\n" } else { "*/" };
        rest = comment.split_once(end).map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

impl Statement {
    fn parse(text: &str) -> Option<Statement> {
        if let Some(declared) = text.strip_prefix(".reg") {
            let declared = declared.trim_start().strip_prefix('.')?;
            let (suffix, names) = declared.split_once(|c: char| c.is_whitespace())?;
            let mut all = Vec::new();
            for name in names.split(',') {
                declare(name.trim(), &mut all)?;
            }
            return Some(Statement::Registers { suffix: suffix.to_string(), names: all });
        }
        if text.starts_with('.') {
            // `.pragma` is a hint; other directives declare what is no register.
            return text.starts_with(".pragma").then_some(Statement::Instruction(Instruction {
                guard: None,
                name: "pragma".to_string(),
                suffixes: Vec::new(),
                operands: Vec::new(),
            }));
        }
        Some(Statement::Instruction(Instruction::parse(text)?))
    }
}

/// Adds the names that `name<4>` or `name` declares.
fn declare(name: &str, all: &mut Vec<String>) -> Option<()> {
    /// More than any text declares.
    const MAX_COUNT: u32 = 1024;
    let name = name.trim_start_matches('%');
    let Some((start, count)) = name.split_once('<') else {
        is_name(name).then(|| all.push(name.to_string()))?;
        return Some(());
    };
    let count: u32 = count.strip_suffix('>')?.trim().parse().ok().filter(|count| *count <= MAX_COUNT)?;
    all.extend((0..count).map(|number| format!("{start}{number}")));
    Some(())
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$';
    bytes.next().is_some_and(is_start) && bytes.all(|byte| is_start(byte) || byte.is_ascii_digit())
}

impl Instruction {
    fn parse(text: &str) -> Option<Instruction> {
        let mut rest = text;
        let mut guard = None;
        if let Some(guarded) = text.strip_prefix('@') {
            let (is_negated, register) = match guarded.strip_prefix('!') {
                Some(register) => (true, register),
                None => (false, guarded),
            };
            let (register, after) = register.trim_start().split_once(|c: char| c.is_whitespace())?;
            guard = Some(Guard { register: Operand::parse(register)?, is_negated });
            rest = after.trim_start();
        }
        let end = rest.find(|c: char| c.is_whitespace()).unwrap_or(rest.len());
        let (opcode, operands) = rest.split_at_checked(end)?;
        let mut words = opcode.split('.');
        let name = words.next()?;
        if !is_name(name) {
            return None;
        }
        let mut list = Vec::new();
        for operand in split_operands(operands.trim())? {
            list.push(Operand::parse(operand)?);
        }
        Some(Instruction {
            guard,
            name: name.to_string(),
            suffixes: words.map(str::to_string).collect(),
            operands: list,
        })
    }

    pub(super) fn has(&self, suffix: &str) -> bool {
        self.suffixes.iter().any(|word| word == suffix)
    }
}

/// The texts between commas that no bracket or brace encloses.
fn split_operands(text: &str) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    if text.is_empty() {
        return Some(all);
    }
    let mut depth = 0u32;
    let mut start = 0;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'{' | b'[' | b'(' => depth = depth.saturating_add(1),
            b'}' | b']' | b')' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                all.push(text.get(start..place)?.trim());
                start = place.saturating_add(1);
            }
            _ => {}
        }
    }
    all.push(text.get(start..)?.trim());
    Some(all)
}

impl Operand {
    fn parse(text: &str) -> Option<Operand> {
        if let Some(list) = text.strip_prefix('{') {
            let list = split_operands(list.strip_suffix('}')?.trim())?;
            return Some(Operand::List(list.into_iter().map(Operand::parse).collect::<Option<_>>()?));
        }
        if let Some(address) = text.strip_prefix('[') {
            return Operand::address(address.strip_suffix(']')?.trim());
        }
        if text == "_" {
            return Some(Operand::Unused);
        }
        if let Some(number) = text.strip_prefix('$') {
            let number = match number.strip_prefix('{') {
                Some(modified) => modified.strip_suffix('}')?.split(':').next()?,
                None => number,
            };
            return Some(Operand::Number(number.parse().ok()?));
        }
        if let Some(name) = text.strip_prefix('%') {
            return Some(Operand::Special(name.to_string()));
        }
        if is_name(text) {
            return Some(Operand::Name(text.to_string()));
        }
        Operand::number(text)
    }

    fn address(text: &str) -> Option<Operand> {
        let (base, offset) = match text.split_once('+') {
            Some((base, offset)) => (base, integer(offset.trim())?),
            None => (text, 0),
        };
        Some(Operand::Address { base: Box::new(Operand::parse(base.trim())?), offset })
    }

    /// A constant (<https://docs.nvidia.com/cuda/parallel-thread-execution/#constants>).
    fn number(text: &str) -> Option<Operand> {
        for (prefix, width, digits) in [("0f", 32, 8), ("0F", 32, 8), ("0d", 64, 16), ("0D", 64, 16)] {
            if let Some(hex) = text.strip_prefix(prefix).filter(|hex| hex.len() == digits) {
                return Some(Operand::Bits { value: u64::from_str_radix(hex, 16).ok()?, width });
            }
        }
        if text.contains('.') && !text.starts_with("0x") {
            let value: f64 = text.parse().ok()?;
            return Some(Operand::Bits { value: value.to_bits(), width: 64 });
        }
        Some(Operand::Constant(integer(text)?))
    }
}

fn integer(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits.trim_start()),
        None => (false, text),
    };
    let digits = digits.trim_end_matches('U');
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok()?,
        None => digits.parse().ok()?,
    };
    let value = magnitude.cast_signed();
    if is_negative { value.checked_neg() } else { Some(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Instruction {
        let statements = Template::parse(text).unwrap().statements;
        let [Statement::Instruction(instruction)] = <[Statement; 1]>::try_from(statements).unwrap() else {
            panic!("{text}")
        };
        instruction
    }

    #[test]
    fn operands_have_their_kinds() {
        let instruction = only("@!p ld.global.nc.v2.u32 {$0, ${1:r}}, [$2+16]; // hint\n");
        assert_eq!((instruction.name.as_str(), instruction.suffixes.len()), ("ld", 4));
        let guard = instruction.guard.unwrap();
        assert!(guard.is_negated && guard.register == Operand::Name("p".into()));
        let list = Operand::List(vec![Operand::Number(0), Operand::Number(1)]);
        let address = Operand::Address { base: Box::new(Operand::Number(2)), offset: 16 };
        assert_eq!(instruction.operands, [list, address]);
        let constants = only("x a, 0x10, -8, 0f3F800000, 1.5, %laneid, _;").operands;
        let bits = 1.5f64.to_bits();
        assert_eq!(
            constants[1..],
            [
                Operand::Constant(16),
                Operand::Constant(-8),
                Operand::Bits { value: 0x3f80_0000, width: 32 },
                Operand::Bits { value: bits, width: 64 },
                Operand::Special("laneid".into()),
                Operand::Unused,
            ]
        );
    }

    #[test]
    fn scopes_and_registers_are_read() {
        let text = "$( .reg .pred p; /* one */ .reg.b32 t<2>, u;\n setp.ne.b32 p, $0, 0; $)";
        let statements = Template::parse(text).unwrap().statements;
        assert_eq!(statements.len(), 5);
        let names = ["t0", "t1", "u"].map(str::to_string).into();
        assert_eq!(statements[2], Statement::Registers { suffix: "b32".into(), names });
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["done: add.u32 a, b, c;", ".shared .b32 x;", "add.u32 a, b", "add.u32 a, [b; "] {
            assert_eq!(Template::parse(text), None, "{text}");
        }
    }
}
