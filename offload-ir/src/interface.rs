//! The interface of a module: the functions that it exports and imports, with their types.

use std::collections::{BTreeMap, BTreeSet};

use offload_workgroup::ir::{Parameters, Symbol, global_name, global_symbol, parameters, symbol_at};

use crate::is_kernel;
use crate::prepare::internal;

/// The functions of a module by name, each with its type as `float (float, i32)`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Those that other modules see, without kernels.
    pub defined: BTreeMap<&'a str, String>,
    /// Those that the module calls and does not define.
    pub declared: BTreeMap<&'a str, String>,
    /// What C++ defines wherever it is used: `inline` functions and instances of templates.
    pub inline: BTreeSet<&'a str>,
}

/// Linkages of what other modules do not see, or what they may have too
/// (<https://llvm.org/docs/LangRef.html#linkage-types>).
const NOT_SEEN: [&str; 8] = [
    "internal",
    "private",
    "linkonce",
    "linkonce_odr",
    "available_externally",
    "appending",
    "external",
    "extern_weak",
];

/// Linkages of what C++ may define in several modules.
const INLINE: [&str; 2] = ["linkonce_odr", "linkonce"];

impl<'a> Interface<'a> {
    /// The functions of `module`, but for LLVM's own.
    pub fn parse(module: &'a str) -> Interface<'a> {
        let mut found = Interface::default();
        for line in module.lines() {
            if let Some(name) = inline_name(line) {
                found.inline.extend([name]);
            }
            let (functions, rest) = match (line.strip_prefix("define "), line.strip_prefix("declare ")) {
                (Some(rest), _) if !is_kernel(line) && !is_hidden(rest) => (&mut found.defined, rest),
                (_, Some(rest)) => (&mut found.declared, rest),
                _ => continue,
            };
            if let Some((name, signature)) = function(rest)
                && !name.starts_with("llvm.")
            {
                functions.insert(name, signature);
            }
        }
        found
    }
}

/// The symbols of all functions and variables that `module` defines, seen by others or not.
pub fn symbols(module: &str) -> BTreeSet<&str> {
    let defined = module.lines().filter(|line| {
        (line.starts_with("define ") || line.starts_with('@')) && !line.contains(" = external ")
    });
    let mut symbols = BTreeSet::new();
    symbols.extend(defined.filter_map(global_name));
    symbols
}

/// The name of the `inline` function or variable of C++ that `line` defines. The linker takes one of several that have
/// the same name, and none of them has to be equal to another.
fn inline_name(line: &str) -> Option<&str> {
    let after = match line.strip_prefix("define ") {
        Some(rest) => rest,
        None => symbol_at(line.strip_prefix('@')?)?.rest.strip_prefix(" = ")?,
    };
    let linkage = after.split(' ').next().unwrap_or_default();
    INLINE.contains(&linkage).then(|| global_name(line)).flatten()
}

/// What C and C++ without a C library say of their functions, and HIP C++ here, which calls no `printf` of AMD's. LLVM
/// does not inline such a function into one that does not say so (`TargetLibraryInfo::areInlineCompatible`), which those
/// of other languages do not.
const WITHOUT_BUILTINS: [&str; 2] = [" \"no-builtins\"", " \"no-builtin-printf\""];

/// `module` in which other modules see nothing but what `seen` names, and of which they can inline all.
pub fn hide(module: &str, seen: &BTreeSet<&str>) -> String {
    let mut out = String::with_capacity(module.len() + 1024);
    for line in module.lines() {
        let own =
            inline_name(line).is_some_and(|name| !seen.contains(name)).then(|| as_single_definition(line));
        let line = own.as_deref().unwrap_or(line);
        if line.starts_with("attributes #") {
            out.push_str(
                &WITHOUT_BUILTINS.iter().fold(line.to_string(), |text, word| text.replace(word, "")),
            );
            out.push('\n');
            continue;
        }
        let hidden = match line.strip_prefix("define ") {
            Some(rest) if !is_hidden(rest) => hidden_function(line, seen),
            Some(_) => None,
            None => hidden_variable(line, seen),
        };
        out.push_str(hidden.as_deref().unwrap_or(line));
        out.push('\n');
    }
    out
}

/// The first line of an `inline` definition as that of any other: without its linkage, and out of its group (`comdat`),
/// of which the linker takes one of several too.
fn as_single_definition(line: &str) -> String {
    let linkage =
        INLINE.iter().fold(line.to_string(), |text, word| text.replacen(&format!("{word} "), "", 1));
    let Some((before, group)) = linkage.split_once(" comdat") else { return linkage };
    let rest = match group.strip_prefix('(') {
        Some(named) => named.split_once(')').map_or("", |(_, rest)| rest),
        None => group,
    };
    format!("{}{rest}", before.trim_end_matches(','))
}

fn hidden_function(line: &str, seen: &BTreeSet<&str>) -> Option<String> {
    let name = global_name(line)?;
    (!seen.contains(name) && !is_kernel(line)).then(|| internal(line).into_owned())
}

/// `@table = dso_local addrspace(2) constant ...` with the linkage of what only this module sees.
fn hidden_variable(line: &str, seen: &BTreeSet<&str>) -> Option<String> {
    let named = symbol_at(line.strip_prefix('@')?)?;
    let head = line.get(..line.len().checked_sub(named.rest.len())?)?;
    let definition = named.rest.strip_prefix(" = ")?;
    if seen.contains(named.name) || named.name.starts_with("llvm.") || is_hidden(definition) {
        return None;
    }
    let visibility = ["common", "weak", "weak_odr", "dso_local", "hidden", "protected", "default"];
    let mut rest = definition;
    while let Some((_, after)) = rest.split_once(' ').filter(|(word, _)| visibility.contains(word)) {
        rest = after;
    }
    Some(format!("{head} = internal {rest}"))
}

/// Whether a variable's definition or declaration, from its linkage on, is local to the module.
fn is_hidden(definition: &str) -> bool {
    NOT_SEEN.contains(&definition.split(' ').next().unwrap_or_default())
}

/// The name and the type of a function from the text after `define` or `declare`.
fn function(text: &str) -> Option<(&str, String)> {
    let (before, _) = text.split_once('@')?;
    let Symbol { name, rest } = global_symbol(text)?;
    let Parameters { list, .. } = parameters(rest)?;
    let types: Vec<&str> = list.iter().map(|param| first_type(param.text)).collect();
    Some((name, plain(&format!("{} ({})", last_type(before.trim_end()), types.join(", ")))))
}

/// The type that `text` starts with: `<4 x float>`, `{ i32, i32 }`, `ptr addrspace(3)`, `i32`.
fn first_type(text: &str) -> &str {
    let end = match text.chars().next() {
        Some(open @ ('<' | '{' | '[')) => closing(text, open),
        _ if text.starts_with("ptr addrspace(") => text.find(')').and_then(|at| at.checked_add(1)),
        _ => text.find(' '),
    };
    text.get(..end.unwrap_or(text.len())).unwrap_or(text)
}

/// The type that `text` ends with.
pub(crate) fn last_type(text: &str) -> &str {
    let start = match text.chars().next_back() {
        Some('>') => text.rfind('<'),
        Some('}') => text.find('{'),
        Some(']') => text.find('['),
        Some(')') => text.rfind("ptr addrspace("),
        _ => text.rfind(' ').and_then(|at| at.checked_add(1)),
    };
    text.get(start.unwrap_or(0)..).unwrap_or(text)
}

/// The end of what the bracket at the start of `text` opens.
fn closing(text: &str, open: char) -> Option<usize> {
    let close = match open {
        '<' => '>',
        '{' => '}',
        _ => ']',
    };
    let mut depth = 0u32;
    for (at, char) in text.char_indices() {
        match char {
            _ if char == open => depth = depth.checked_add(1)?,
            _ if char == close => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return at.checked_add(1);
        }
    }
    None
}

/// `signature` without the numbers that LLVM gives structures of one name: `%struct.pair.3` is `%struct.pair`.
fn plain(signature: &str) -> String {
    let mut out = String::new();
    let mut rest = signature;
    while let Some(start) = rest.find('%') {
        let (before, name) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let end = name.find([' ', ',', ')', '}', ']', '>']).unwrap_or(name.len());
        let (name, after) = name.split_at_checked(end).unwrap_or((name, ""));
        let numbered = name.rsplit_once('.').filter(|(_, number)| number.bytes().all(|b| b.is_ascii_digit()));
        out.push_str(before);
        out.push_str(numbered.map_or(name, |(name, _)| name));
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
        @table = dso_local addrspace(2) constant [2 x i32] [i32 1, i32 2], align 4\n\
        @shown = protected addrspace(2) constant i32 1, align 4\n\
        @.str = private unnamed_addr addrspace(2) constant [3 x i8] c\"a = \", align 1\n\
        @else = external addrspace(2) constant i32\n\
        @llvm.used = appending global [0 x ptr] []\n\
        define dso_local spir_func noundef float @scale(float noundef %a, ptr addrspace(1) noundef %x) #0 {\n}\n\
        define protected spir_func <4 x float> @wide(<4 x float> noundef %v, { i32, i32 } %p) #0 {\n}\n\
        define internal spir_func void @own() #0 {\n}\n\
        define dso_local spir_func ptr addrspace(4) @at(ptr byval(%struct.pair.1) align 4 %p, %struct.pair.12 %q) #0 {\n}\n\
        define dso_local spir_kernel void @k() #0 {\n}\n\
        declare spir_func zeroext i16 @other(...) #1\n\
        declare void @llvm.assume(i1)\n";

    #[test]
    fn functions_have_their_types() {
        let found = Interface::parse(MODULE);
        let defined: Vec<String> =
            found.defined.iter().map(|(name, text)| format!("{name}: {text}")).collect();
        assert_eq!(
            defined,
            [
                "at: ptr addrspace(4) (ptr, %struct.pair)",
                "scale: float (float, ptr addrspace(1))",
                "wide: <4 x float> (<4 x float>, { i32, i32 })",
            ]
        );
        assert_eq!(found.declared, [("other", "i16 (...)".to_string())].into());
    }

    #[test]
    fn whatever_is_defined_has_a_symbol() {
        let found: Vec<&str> = symbols(MODULE).into_iter().collect();
        assert_eq!(found, [".str", "at", "k", "llvm.used", "own", "scale", "shown", "table", "wide"]);
    }

    #[test]
    fn inline_functions_are_those_of_their_module() {
        let module = "\
            @count = linkonce_odr dso_local global i32 5, comdat, align 4\n\
            define linkonce_odr hidden noundef i32 @_Z6helperi(i32 noundef %0) #1 comdat {\n}\n\
            define linkonce_odr dso_local i32 @_ZN1S3getEv(ptr %0) #2 comdat($_ZN1SE) align 2 {\n}\n\
            define linkonce_odr i32 @_Z5shownv() #2 comdat {\n}\n\
            attributes #1 = { convergent \"no-builtins\" \"no-builtin-printf\" nounwind }\n";
        let found = Interface::parse(module);
        assert_eq!(found.inline, ["_Z5shownv", "_Z6helperi", "_ZN1S3getEv", "count"].into());
        assert!(found.defined.is_empty());
        let expected = "\
            @count = internal global i32 5, align 4\n\
            define internal noundef i32 @_Z6helperi(i32 noundef %0) #1 {\n}\n\
            define internal dso_local i32 @_ZN1S3getEv(ptr %0) #2 align 2 {\n}\n\
            define linkonce_odr i32 @_Z5shownv() #2 comdat {\n}\n\
            attributes #1 = { convergent nounwind }\n";
        assert_eq!(hide(module, &["_Z5shownv"].into()), expected);
    }

    #[test]
    fn only_what_is_named_is_seen() {
        let text = hide(MODULE, &["scale", "shown"].into());
        let expected = MODULE
            .replace("@table = dso_local addrspace", "@table = internal addrspace")
            .replace("define protected spir_func <4", "define internal spir_func <4")
            .replace("define dso_local spir_func ptr", "define internal dso_local spir_func ptr");
        assert_eq!(text, expected);
        assert_eq!(Interface::parse(&text).defined.keys().copied().collect::<Vec<_>>(), ["scale"]);
    }
}
