//! Errors in templates that clang reports and nvcc does not see: in those that nothing uses, and of the word `template`.

use crate::error::{Error, ErrorKind};

/// `error`, with the flag that leaves templates to their use, if it is of a member that a class template lacks.
pub(crate) fn explained(module: &str, error: Error) -> Error {
    let is_of_compiler = error.kind() == ErrorKind::Tool && error.hint().is_none();
    if !is_of_compiler || !error.message().lines().any(is_missing_member) {
        return error;
    }
    error.with_hint(format!(
        "clang looks into templates that nothing uses, nvcc does not: `flags = [\"-fdelayed-template-parsing\"]` below `[modules.{module}]` in offload.toml leaves them to their use"
    ))
}

/// Whether a compiler has refused a member template of a dependent type for want of the word `template`.
pub(crate) fn is_of_keyword(error: &Error) -> bool {
    error.kind() == ErrorKind::Tool && error.message().lines().any(is_missing_keyword)
}

/// Whether clang says so, or that it has taken `<` for a comparison.
fn is_missing_keyword(line: &str) -> bool {
    const REFUSALS: [&str; 3] = [
        "missing 'template' keyword",
        "use 'template' keyword to treat",
        "reference to overloaded function could not be resolved",
    ];
    let (_, error) = line.split_once("error: ").unwrap_or_default();
    REFUSALS.iter().any(|refusal| error.starts_with(refusal))
}

/// Whether clang says that an instance of a template lacks a member.
fn is_missing_member(line: &str) -> bool {
    let Some((_, error)) = line.split_once("error: no member named '") else { return false };
    error.ends_with(">'")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As clang 22 says it.
    #[test]
    fn missing_members_of_class_templates_are_recognized() {
        let explained = |text: &str| explained("m", Error::new(text).with_kind(ErrorKind::Tool));
        let template = explained("a.cu:7:12: error: no member named 'internal' in 'memory::setter<T>'");
        assert!(template.hint().unwrap().contains("`[modules.m]`"));
        assert_eq!(explained("a.cu:7:12: error: no member named 'x' in 'float2'").hint(), None);
    }

    /// As clang 22 says it.
    #[test]
    fn missing_keywords_are_recognized() {
        let is_of_keyword = |text: &str| is_of_keyword(&Error::new(text).with_kind(ErrorKind::Tool));
        assert!(is_of_keyword(
            "a.cu:4:9: error: use 'template' keyword to treat 'get' as a dependent template name"
        ));
        assert!(is_of_keyword(
            "a.cu:4:3: error: reference to overloaded function could not be resolved; did you mean to call it?"
        ));
        assert!(!is_of_keyword("a.cu:4:3: error: no matching function for call to 'get'"));
    }
}
