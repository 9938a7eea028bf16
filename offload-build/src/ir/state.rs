//! Making the state of a work-group the state of the thread that runs it.

/// Rewrites a host module so that every thread has its own `__local` arrays and work-item state.
///
/// On a CPU clang makes a `__local` array an ordinary internal variable, shared by all work-groups; groups that run
/// at once would overwrite each other's. OpenCL C 1.2 has no other writable variables at program scope; those of
/// OpenCL C 2.0 have an initial value where `__local` arrays are `undef`, and stay shared.
pub(crate) fn thread_local_state(module: &str) -> String {
    let mut out = String::with_capacity(module.len() + 4096);
    for line in module.lines() {
        match thread_local_variable(line) {
            Some(rewritten) => out.push_str(&rewritten),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

fn thread_local_variable(line: &str) -> Option<String> {
    let (name, definition) = line.strip_prefix('@')?.split_once(" = ")?;
    let (words, value) = definition.split_once("global ")?;
    let known = |word| {
        matches!(
            word,
            "internal" | "hidden" | "dso_local" | "local_unnamed_addr" | "unnamed_addr" | "thread_local"
        )
    };
    let defined = words.split_whitespace().all(known);
    // Internal: the optimiser knows then that no pointer of the kernel's reaches it.
    let is_state = name.starts_with("__offload_state_");
    if !defined || !(is_state || value.contains(" undef") || value.contains(" poison")) {
        return None;
    }
    // Local-dynamic: one lookup a function, and no limit on the size as for initial-exec in a loaded library.
    Some(format!("@{name} = internal thread_local(localdynamic) global {value}"))
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
        assert_eq!(thread_local_state(module), expected);
    }
}
