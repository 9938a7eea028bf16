//! Types as sources write them, in OpenCL C's words.

use offload_format::pack::ArgKind;

use crate::Dialect;

/// The declaration of an argument, taken apart.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) type_words: Vec<String>,
    /// Empty for one without a name.
    pub(crate) name: String,
    pub(crate) stars: usize,
    /// Whether what it points to is constant.
    pub(crate) is_const: bool,
    /// Of which memory.
    pub(crate) space: Option<ArgKind>,
}

/// Words of a declaration that do not matter.
const SILENT: [&str; 17] = [
    "volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "private",
    "__private",
    "read_only",
    "__read_only",
    "write_only",
    "__write_only",
    "read_write",
    "__read_write",
    "struct",
    "union",
    "enum",
    "__grid_constant__",
    "typename",
];

const SPACES: [(&str, ArgKind); 10] = [
    ("global", ArgKind::Global),
    ("__global", ArgKind::Global),
    ("__gpu_global", ArgKind::Global),
    ("constant", ArgKind::Constant),
    ("__constant", ArgKind::Constant),
    ("__gpu_constant", ArgKind::Constant),
    ("local", ArgKind::Local),
    ("__local", ArgKind::Local),
    ("__gpu_local", ArgKind::Local),
    ("__shared__", ArgKind::Local),
];

/// C's and C++'s names of numbers whose size is the same on every GPU.
const NAMES: [(&str, &str); 25] = [
    ("int8_t", "char"),
    ("uint8_t", "uchar"),
    ("int16_t", "short"),
    ("uint16_t", "ushort"),
    ("int32_t", "int"),
    ("uint32_t", "uint"),
    ("int64_t", "long"),
    ("uint64_t", "ulong"),
    ("size_t", "ulong"),
    ("uintptr_t", "ulong"),
    ("ptrdiff_t", "long"),
    ("intptr_t", "long"),
    ("_Bool", "bool"),
    ("_Float16", "half"),
    ("__half", "half"),
    ("__fp16", "half"),
    ("unsigned", "uint"),
    ("signed", "int"),
    ("unsigned char", "uchar"),
    ("unsigned short", "ushort"),
    ("unsigned int", "uint"),
    ("unsigned long", "ulong"),
    ("unsigned long long", "ulong"),
    ("long long", "long"),
    ("signed char", "char"),
];

/// Words that begin or continue a type.
const TYPE_WORDS: [&str; 10] =
    ["unsigned", "signed", "char", "short", "int", "long", "float", "double", "void", "bool"];

/// Whether a type follows `word`.
pub(crate) fn is_qualifier(word: &str) -> bool {
    word == "const" || SILENT.contains(&word) || SPACES.iter().any(|(name, _)| *name == word)
}

/// Whether a word says that a kernel writes an image.
pub(crate) fn is_written_image(word: &str) -> bool {
    matches!(word.trim_start_matches("__"), "write_only" | "read_write")
}

impl Words {
    /// Takes `words` apart.
    pub(crate) fn parse(words: &[String]) -> Words {
        let mut found =
            Words { type_words: Vec::new(), name: String::new(), stars: 0, is_const: false, space: None };
        let mut depth = 0usize;
        for word in words {
            let space = SPACES.iter().find(|(name, _)| name == word);
            match word.as_str() {
                "[" if depth == 0 => {
                    found.stars = found.stars.saturating_add(1);
                    depth = 1;
                }
                "]" => depth = 0,
                _ if depth > 0 => {}
                "*" => found.stars = found.stars.saturating_add(1),
                // Behind the star it is the pointer that does not change.
                "const" => found.is_const |= found.stars == 0,
                word if SILENT.contains(&word) => {}
                _ if space.is_some() => found.space = space.map(|(_, kind)| *kind),
                word if found.stars > 0 => found.name = word.to_string(),
                word => found.type_words.push(word.to_string()),
            }
        }
        if found.name.is_empty()
            && found.type_words.len() > 1
            && found.type_words.last().is_some_and(|last| !TYPE_WORDS.contains(&last.as_str()))
        {
            found.name = found.type_words.pop().unwrap_or_default();
        }
        found
    }
}

/// The type that `words` are, in OpenCL C's words.
pub(crate) fn name(words: &[String], dialect: Dialect) -> String {
    let mut words = words.to_vec();
    // `long unsigned int` is `unsigned long`.
    if words.len() > 1 && words.iter().any(|word| matches!(word.as_str(), "short" | "long")) {
        words.retain(|word| !matches!(word.as_str(), "int" | "signed"));
    }
    words.sort_by_key(|word| !matches!(word.as_str(), "unsigned" | "signed"));
    let text = words.join(" ");
    let text = NAMES.iter().find(|(name, _)| *name == text).map_or(text, |(_, plain)| plain.to_string());
    // CUDA's vectors of three are structures of three.
    if dialect == Dialect::Cuda && text.ends_with('3') { format!("struct {text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, String, usize, bool) {
        let words: Vec<String> = text.replace('*', " * ").split_whitespace().map(str::to_string).collect();
        let found = Words::parse(&words);
        (name(&found.type_words, Dialect::OpenCl), found.name, found.stars, found.is_const)
    }

    #[test]
    fn declarations_are_taken_apart() {
        let cases = [
            ("float a", ("float", "a", 0, false)),
            ("__global const float *restrict x", ("float", "x", 1, true)),
            ("global float const * x", ("float", "x", 1, true)),
            ("float * const x", ("float", "x", 1, false)),
            ("unsigned int n", ("uint", "n", 0, false)),
            ("unsigned n", ("uint", "n", 0, false)),
            ("long unsigned int n", ("ulong", "n", 0, false)),
            ("const unsigned char *", ("uchar", "", 1, true)),
            ("unsigned long long", ("ulong", "", 0, false)),
            ("struct particle p", ("particle", "p", 0, false)),
            ("local float4 * tile", ("float4", "tile", 1, false)),
            ("size_t n", ("ulong", "n", 0, false)),
        ];
        for (text, (base, name, stars, is_const)) in cases {
            assert_eq!(parsed(text), (base.to_string(), name.to_string(), stars, is_const), "{text}");
        }
    }
}
