//! Errors in templates that nothing uses, which clang reports and nvcc does not see.

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
}
