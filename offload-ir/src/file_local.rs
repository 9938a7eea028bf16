//! Kernels and variables that C++ keeps to their file (`static`, unnamed namespaces), under names that differ between the
//! files of a module.
//!
//! clang makes them visible, because the host finds them by name, and gives them a suffix of their file only for
//! relocatable device code. The suffix here has the same form.

use std::borrow::Cow;
use std::collections::BTreeMap;

use offload_format::Hash128;
use offload_workgroup::ir::global_name;

/// Hexadecimal digits of the suffix.
const DIGITS: usize = 8;

/// The name in images of what `file` calls `name`.
pub fn distinct_name<'a>(name: &'a str, file: &str) -> Cow<'a, str> {
    if !is_file_local(name) {
        return Cow::Borrowed(name);
    }
    let digest = Hash128::digest(file.as_bytes()).to_string();
    Cow::Owned(format!("{name}__static__{}", digest.get(..DIGITS).unwrap_or(&digest)))
}

/// `module`, device code of `file`, with these names; `None` if it has no such kernel or variable.
pub fn with_distinct_names(module: &str, file: &str) -> Option<String> {
    let mut renamed = BTreeMap::new();
    for line in module.lines().filter(|line| is_seen(line)) {
        let Some(name) = global_name(line) else { continue };
        if let Cow::Owned(distinct) = distinct_name(name, file) {
            renamed.insert(name, distinct);
        }
    }
    (!renamed.is_empty()).then(|| with_names(module, &renamed))
}

/// `module` with other names for some of its symbols, and for the groups (`comdat`) that are called like them.
pub fn with_names(module: &str, renamed: &BTreeMap<&str, String>) -> String {
    let mut out = String::with_capacity(module.len() + 1024);
    for line in module.split_inclusive('\n') {
        match line.strip_prefix('$') {
            Some(group) => push_renamed(&mut out, '$', group, renamed),
            None => {
                let mut parts = line.split('@');
                out.push_str(parts.next().unwrap_or_default());
                parts.for_each(|part| push_renamed(&mut out, '@', part, renamed));
            }
        }
    }
    out
}

/// Adds `sigil` and `text`, which starts with a name.
fn push_renamed(out: &mut String, sigil: char, text: &str, renamed: &BTreeMap<&str, String>) {
    let end = text.find(|char: char| !is_symbol_char(char)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    out.push(sigil);
    out.push_str(renamed.get(name).map_or(name, String::as_str));
    out.push_str(rest);
}

/// Characters of a name without quotes (<https://llvm.org/docs/LangRef.html#identifiers>).
fn is_symbol_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '$' | '.' | '_' | '-')
}

/// Whether `line` defines what other modules see.
fn is_seen(line: &str) -> bool {
    let is_definition = line.starts_with("define ") || (line.starts_with('@') && line.contains(" = "));
    is_definition && !["internal ", "private ", "external "].iter().any(|linkage| has_linkage(line, linkage))
}

fn has_linkage(line: &str, linkage: &str) -> bool {
    let after = line.strip_prefix("define ").or_else(|| line.split_once(" = ").map(|(_, after)| after));
    after.is_some_and(|after| after.starts_with(linkage))
}

/// Whether C++ keeps the entity with this mangled name to its file: `L` stands before its name, or an unnamed namespace
/// is part of it (<https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling>).
fn is_file_local(name: &str) -> bool {
    let Some(mut rest) = name.strip_prefix("_Z") else { return false };
    if name.contains("_GLOBAL__N_") {
        return true;
    }
    if let Some(nested) = rest.strip_prefix('N') {
        rest = nested;
        while let Some(SourceName { rest: after, .. }) = source_name(rest) {
            rest = after;
        }
    }
    rest.strip_prefix('L').is_some_and(|name| name.starts_with(|first: char| first.is_ascii_digit()))
}

/// A name of a mangled one that has its length in front, and what follows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceName<'a> {
    pub(crate) name: &'a str,
    pub(crate) rest: &'a str,
}

/// The name at the start of `mangled`, behind its length.
pub(crate) fn source_name(mangled: &str) -> Option<SourceName<'_>> {
    let digits = mangled.find(|char: char| !char.is_ascii_digit())?;
    let length: usize = mangled.get(..digits)?.parse().ok()?;
    let (name, rest) = mangled.get(digits..)?.split_at_checked(length)?;
    Some(SourceName { name, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_linkage_is_part_of_a_mangled_name() {
        for name in ["_ZL3onePf", "_ZL3oneIfEvPT_", "_ZN2nsL3oneEPf", "_ZN12_GLOBAL__N_13oneEPf", "_ZL5table"]
        {
            assert!(is_file_local(name), "{name}");
        }
        for name in ["one", "_Z3onePf", "_ZN2ns3oneEPf", "_Z4LongPf", "_ZN1L1LEPf", "_Z5scaleIfEvPT_S0_i"] {
            assert!(!is_file_local(name), "{name}");
        }
    }

    #[test]
    fn names_of_two_files_differ_wherever_they_stand() {
        let module = "$_ZL3onePf = comdat any\n\
                      @_ZL5table = dso_local addrspace(4) externally_initialized global [4 x float] zeroinitializer\n\
                      @_ZL4text = internal constant i32 1\n\
                      @llvm.used = appending global [1 x ptr] [ptr @_ZL3onePf]\n\
                      define dso_local ptx_kernel void @_ZL3onePf(ptr %0) {\n  call void @_ZL3oned()\n}\n\
                      define internal void @_ZL3oned() {\n}\n";
        let first = with_distinct_names(module, "a.cu").unwrap();
        let name = distinct_name("_ZL3onePf", "a.cu");
        assert!(name.starts_with("_ZL3onePf__static__") && name.len() == 27, "{name}");
        assert_eq!(first.matches(&format!("@{name}")).count(), 2, "{first}");
        assert!(first.starts_with(&format!("${name} = comdat any\n")), "{first}");
        assert_eq!(first.matches("__static__").count(), 4, "{first}");
        assert_ne!(with_distinct_names(module, "b.cu").unwrap(), first);
        assert_eq!(with_distinct_names("define ptx_kernel void @one() {\n}\n", "a.cu"), None);
    }
}
