//! Thread-local storage for the state of work-items and for `__local` arrays.
//!
//! On a CPU clang makes a `__local` array an ordinary internal variable, shared by all work-groups; groups that run at
//! once would overwrite each other's. OpenCL C 1.2 has no other writable variables at program scope; those of OpenCL C
//! 2.0 have an initial value where `__local` arrays are `undef`, and stay shared.

use std::collections::BTreeSet;

use crate::analysis::work_item_state::{STATE_PREFIX, WARP_PREFIX};

/// The line of a module in which each thread has its own `__local` arrays and work-item state, if it is another one.
pub(crate) fn thread_local_definition(line: &str) -> Option<String> {
    Some(ThreadVariable::parse(line)?.definition())
}

/// The names of a module's `__local` arrays.
pub(crate) fn local_arrays(module: &str) -> BTreeSet<&str> {
    let variables = module.lines().filter_map(ThreadVariable::parse);
    variables.map(|variable| variable.name).filter(|name| !is_state(name)).collect()
}

/// A variable that each thread needs its own copy of.
struct ThreadVariable<'a> {
    name: &'a str,
    /// Type, initial value and alignment.
    value: &'a str,
}

impl<'a> ThreadVariable<'a> {
    fn parse(line: &'a str) -> Option<ThreadVariable<'a>> {
        let (name, definition) = line.strip_prefix('@')?.split_once(" = ")?;
        let (words, value) = definition.split_once("global ")?;
        let is_defined_here = words.split_whitespace().all(|word| {
            matches!(
                word,
                "internal" | "hidden" | "dso_local" | "local_unnamed_addr" | "unnamed_addr" | "thread_local"
            )
        });
        let is_of_thread = is_state(name) || is_uninitialized(value);
        (is_defined_here && is_of_thread).then_some(ThreadVariable { name, value })
    }

    /// Local-dynamic needs one lookup a function, and has no limit on the size as initial-exec has in a loaded library.
    /// Internal: the optimiser then knows that no pointer of the kernel's reaches the variable.
    fn definition(&self) -> String {
        format!("@{} = internal thread_local(localdynamic) global {}", self.name, self.value)
    }
}

/// Whether `name` is a variable of the runtime: the state of a work-item, or what the lanes of a warp exchange.
pub(crate) fn is_state(name: &str) -> bool {
    name.starts_with(STATE_PREFIX) || name.starts_with(WARP_PREFIX)
}

/// Whether a variable has no initial value, as `local` arrays have none: `[16 x i32] undef, align 4`, which stands
/// behind `global `.
pub(crate) fn is_uninitialized(definition: &str) -> bool {
    let head = definition.split(", align ").next().unwrap_or_default();
    head.ends_with(" undef") || head.ends_with(" poison")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_group_state_changes() {
        let module = "@mm.tile = internal global [16 x float] undef, align 16\n\
                      @__offload_state_id = hidden global i64 0, align 8\n\
                      @shared = dso_local global i32 0, align 4\n\
                      @.str = private unnamed_addr constant [3 x i8] c\"hi \", align 1\n\
                      @elsewhere = external global i32\n";
        let expected = "@mm.tile = internal thread_local(localdynamic) global [16 x float] undef, align 16\n\
                        @__offload_state_id = internal thread_local(localdynamic) global i64 0, align 8\n\
                        @shared = dso_local global i32 0, align 4\n\
                        @.str = private unnamed_addr constant [3 x i8] c\"hi \", align 1\n\
                        @elsewhere = external global i32\n";
        let mut changed = String::new();
        for line in module.lines() {
            changed += &thread_local_definition(line).unwrap_or(line.to_string());
            changed.push('\n');
        }
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_text_with_the_word_is_a_value() {
        assert!(is_uninitialized("[16 x i32] undef, align 4") && is_uninitialized("i32 poison"));
        assert!(!is_uninitialized("[20 x i8] c\"the undef queue\\00\\00\\00\\00\\00\", align 1"));
        assert!(!is_uninitialized("{ i32, i32 } { i32 undef, i32 1 }, align 4"));
    }
}
