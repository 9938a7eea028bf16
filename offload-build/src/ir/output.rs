//! What a module for a GPU that prints or asserts needs beside the functions of `device_output.c`: the variable that
//! offload-rt writes, and in each kernel that may fail an assertion its own name.

use std::fmt::Write;

use super::{calls, declared, global_name, is_kernel};

/// What front ends call of `device_output.c`.
const FUNCTIONS: [&str; 5] = ["printf", "vprintf", "__assert_fail", "__assertfail", "__offload_assert_fail"];
/// Those of them that have a form for each kind of memory.
const BY_MEMORY: [&str; 2] = ["printf", "__offload_assert_fail"];
/// Where the runtime says where messages go.
const RING: &str = "__offload_output";
/// Which kernel runs.
const KERNEL: &str = "__offload_output_kernel";

/// Whether `module` has what the functions of `device_output.c` need.
pub(crate) fn has_output(module: &str) -> bool {
    module.contains("\n@__offload_output = ")
}

/// `module` with the variables, and with the functions called by the memory that their texts are in; `None` if it
/// neither prints nor asserts.
pub(crate) fn with_output(module: &str) -> Option<String> {
    let used: Vec<&str> = declared(module).into_iter().filter(|name| FUNCTIONS.contains(name)).collect();
    if used.is_empty() {
        return None;
    }
    let mut text = module.to_string();
    for name in used.iter().filter(|name| BY_MEMORY.contains(name)) {
        let own = format!("__offload_{}_{}", name.trim_start_matches("__offload_"), memory(module, name));
        text = text.replace(&format!("@{name}("), &format!("@{own}("));
    }
    text.push_str(&format!(
        "@{RING} = addrspace(1) externally_initialized global ptr addrspace(1) null, align 8\n"
    ));
    let asserts = used.iter().any(|name| name.contains("assert"));
    Some(if asserts { with_names(&text) } else { text })
}

/// The number of the memory that the first argument of the declared function `name` points to.
fn memory(module: &str, name: &str) -> u32 {
    let declares =
        |line: &&str| line.starts_with("declare ") && global_name(line).is_some_and(|it| it.0 == name);
    let line = module.lines().find(declares).unwrap_or_default();
    let arguments = line.split_once(&format!("@{name}(")).map_or("", |(_, arguments)| arguments);
    let space = arguments.strip_prefix("ptr addrspace(").and_then(|rest| rest.split_once(')'));
    space.and_then(|(number, _)| number.parse().ok()).unwrap_or(0)
}

/// `module` whose kernels say their names first, if they come to an assertion.
fn with_names(module: &str) -> String {
    let reaching = calls::reaching(module, |name| name.contains("assert"));
    let (mut out, mut names) = (String::with_capacity(module.len()), String::new());
    let mut lines = module.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        let kernel = (line.starts_with("define ") && is_kernel(line)).then(|| global_name(line)).flatten();
        let Some((name, _)) = kernel.filter(|(name, _)| reaching.contains(*name)) else { continue };
        // The first block may have a name.
        if let Some(label) = lines.next_if(|line| !line.starts_with(' ') && line.contains(':')) {
            let _ = writeln!(out, "{label}");
        }
        let _ =
            writeln!(out, "  store ptr addrspace(1) @{KERNEL}.{name}, ptr addrspace(3) @{KERNEL}, align 8");
        let size = name.len().saturating_add(1);
        let _ = writeln!(
            names,
            "@{KERNEL}.{name} = internal addrspace(1) constant [{size} x i8] c\"{name}\\00\", align 1"
        );
    }
    let _ = writeln!(out, "@{KERNEL} = addrspace(3) global ptr addrspace(1) undef, align 8");
    out.push_str(&names);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
define ptx_kernel void @k(ptr %0) #0 {
entry:
  call void @helper()
  ret void
}
define ptx_kernel void @quiet(ptr %0) #0 {
  %1 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) @.str)
  ret void
}
define internal void @helper() {
  call void @__offload_assert_fail(ptr addrspace(1) @c, ptr addrspace(1) @f, i32 3, ptr addrspace(1) @n)
  ret void
}
declare i32 @printf(ptr addrspace(4) noundef, ...) #2
declare void @__offload_assert_fail(ptr addrspace(1) noundef, ptr addrspace(1), i32, ptr addrspace(1))
";

    #[test]
    fn functions_are_called_by_the_memory_of_their_texts() {
        let text = with_output(MODULE).unwrap();
        assert!(text.contains("call i32 (ptr addrspace(4), ...) @__offload_printf_4(ptr"), "{text}");
        assert!(text.contains("call void @__offload_assert_fail_1(ptr addrspace(1) @c"), "{text}");
        assert!(!text.contains("@printf(") && has_output(&text), "{text}");
        assert!(!has_output(MODULE));
    }

    #[test]
    fn kernels_that_may_fail_say_their_names() {
        let text = with_output(MODULE).unwrap();
        let stored = "entry:\n  store ptr addrspace(1) @__offload_output_kernel.k, ptr addrspace(3) ";
        assert!(text.contains(stored) && text.contains("[2 x i8] c\"k\\00\""), "{text}");
        assert!(!text.contains("@__offload_output_kernel.quiet"), "{text}");
    }

    #[test]
    fn a_module_that_only_prints_has_no_names() {
        let text = with_output("declare i32 @printf(ptr addrspace(4), ...)\n").unwrap();
        assert!(text.contains("@__offload_printf_4(") && !text.contains("__offload_output_kernel"), "{text}");
        assert_eq!(with_output("declare float @sinf(float)\n"), None);
    }
}
