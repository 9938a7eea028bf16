//! Readable names: of kernels whose names a C++ compiler has mangled, and as identifiers of Rust.

/// A kernel's name without scopes, and the arguments of a template's instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelName {
    pub(crate) base: String,
    pub(crate) template_args: Vec<String>,
}

impl KernelName {
    /// Of an entry point: `saxpy`, `_Z4axpyIfEvPT_`, or `axpy<float>` as declarations are listed.
    pub(crate) fn parse(entry: &str) -> KernelName {
        if let Some(name) = entry.strip_prefix("_Z").and_then(mangled) {
            return name;
        }
        let (base, args) = entry.split_once('<').unwrap_or((entry, ""));
        let args = args.trim_end_matches('>').split(',').map(str::trim).filter(|arg| !arg.is_empty());
        KernelName { base: base.to_string(), template_args: args.map(str::to_string).collect() }
    }

    /// A Rust identifier: `axpy_float_4` for `axpy<float, 4>`.
    pub(crate) fn method(&self) -> String {
        let parts: Vec<&str> = std::iter::once(self.base.as_str())
            .chain(self.template_args.iter().map(String::as_str))
            .collect();
        identifier(&parts.join("_"))
    }
}

/// `text` as a Rust identifier.
pub fn identifier(text: &str) -> String {
    let text: String = text
        .replace("struct ", "")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let text = match text.trim_end_matches('_') {
        "" => "unnamed".to_string(),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) => format!("_{text}"),
        _ => text,
    };
    match text.as_str() {
        "self" | "Self" | "super" | "crate" => format!("{text}_"),
        word if KEYWORDS.contains(&word) => format!("r#{text}"),
        _ => text,
    }
}

/// <https://doc.rust-lang.org/reference/keywords.html>, without those that cannot be raw.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// One letter each (<https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling-builtin>).
const BUILTINS: [(&str, &str); 17] = [
    ("b", "bool"),
    ("c", "char"),
    ("a", "char"),
    ("h", "uchar"),
    ("s", "short"),
    ("t", "ushort"),
    ("i", "int"),
    ("j", "uint"),
    ("l", "long"),
    ("m", "ulong"),
    ("x", "long"),
    ("y", "ulong"),
    ("f", "float"),
    ("d", "double"),
    ("Dh", "half"),
    ("DF16_", "half"),
    ("w", "int"),
];

/// What follows `_Z`: enough of the Itanium scheme for names and the simple arguments of templates.
fn mangled(text: &str) -> Option<KernelName> {
    let text = text.strip_prefix('L').unwrap_or(text);
    let Some(nested) = text.strip_prefix('N') else {
        let (base, rest) = source_name(text)?;
        return Some(KernelName {
            base: base.to_string(),
            template_args: arguments(rest).unwrap_or_default(),
        });
    };
    let mut rest = nested;
    let mut last = None;
    loop {
        if let Some((name, after)) = source_name(rest) {
            last = Some(KernelName { base: name.to_string(), template_args: Vec::new() });
            rest = after;
        } else if rest.starts_with('I') {
            let mut name = last?;
            name.template_args = arguments(rest).unwrap_or_default();
            return Some(name);
        } else {
            return last;
        }
    }
}

/// `4axpyIf` to `axpy` and `If`.
fn source_name(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let (length, rest) = text.split_at_checked(digits)?;
    rest.split_at_checked(length.parse().ok()?)
}

/// `IfLj4EE...` to `float` and `4`; `None` if one is not simple.
fn arguments(text: &str) -> Option<Vec<String>> {
    let mut rest = text.strip_prefix('I')?;
    let mut found = Vec::new();
    while !rest.starts_with('E') {
        let (argument, after) = argument(rest)?;
        found.push(argument);
        rest = after;
    }
    Some(found)
}

fn argument(text: &str) -> Option<(String, &str)> {
    if let Some((name, rest)) = source_name(text) {
        return Some((name.to_string(), rest));
    }
    if let Some(literal) = text.strip_prefix('L') {
        let (_, literal) = builtin_type(literal)?;
        let (value, rest) = literal.split_once('E')?;
        return Some((value.replace('n', "minus_"), rest));
    }
    let (name, rest) = builtin_type(text)?;
    Some((name.to_string(), rest))
}

/// The scalar type of OpenCL C whose mangled form `text` starts with, and the rest of `text`.
pub fn builtin_type(text: &str) -> Option<(&'static str, &str)> {
    BUILTINS.iter().find_map(|(code, name)| Some((*name, text.strip_prefix(code)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_become_readable() {
        let cases = [
            ("saxpy", "saxpy"),
            ("_Z5saxpyfPKfPf", "saxpy"),
            ("_Z4axpyIfEvT_PKS0_PS0_i", "axpy_float"),
            ("axpy<float>", "axpy_float"),
            ("_Z4tileIdLj16ELin2EEvPT_", "tile_double_16_minus_2"),
            ("axpy<double, 16>", "axpy_double_16"),
            ("_ZN4blas4axpyIDF16_EEvPT_", "axpy_half"),
            ("_ZN4blas3gpu5scaleEPf", "scale"),
            ("_Z4sortI8particleEvPT_", "sort_particle"),
            ("_Z4sortIPfEvT_", "sort"),
            ("_Z999x", "_Z999x"),
            ("move", "r#move"),
            ("self", "self_"),
            ("a.b", "a_b"),
        ];
        for (entry, method) in cases {
            assert_eq!(KernelName::parse(entry).method(), method, "{entry}");
        }
    }
}
