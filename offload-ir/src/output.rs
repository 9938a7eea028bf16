//! Instrumentation of GPU modules that print or assert, beside the functions of `device_output.c`: the variable that
//! offload-rt writes, and in each kernel that may fail an assertion its own name.
//!
//! SPIR-V that asserts has a kernel that offload-rt launches to read failed assertions (`spirv_assert.cl`).

use std::fmt::Write;

use offload_format::section::READS_FAILURES_PREFIX;
use offload_workgroup::ir::{declared_functions, functions_reaching, global_name};

use crate::is_kernel;

/// What front ends call of `device_output.c`.
const FUNCTIONS: [&str; 5] = ["printf", "vprintf", "__assert_fail", "__assertfail", "__offload_assert_fail"];
/// Those of them that have a form for each kind of memory.
const BY_MEMORY: [&str; 2] = ["printf", "__offload_assert_fail"];
/// Where the runtime says where messages go.
const RING: &str = "__offload_output";
/// Which kernel runs.
const KERNEL: &str = "__offload_output_kernel";

/// Whether `module` has what the functions of `device_output.c` or `spirv_assert.cl` need.
pub fn has_output(module: &str) -> bool {
    module.contains("\n@__offload_output = ") || has_kernel_names(module)
}

/// Whether kernels of `module` say their names.
pub fn has_kernel_names(module: &str) -> bool {
    module.contains("\n@__offload_output_kernel = ")
}

/// `module`, which becomes SPIR-V, with the kernel that reads its failed assertions; `None` if it has no assertion. A
/// library has no kernel: offload-rt does not watch it, so that the driver prints.
pub fn with_assertions(module: &str) -> Option<String> {
    let declaration = module
        .lines()
        .find(|line| line.starts_with("declare ") && line.contains("@__offload_assert_fail("))?;
    let reaching = functions_reaching(module, |name| name.contains("assert"));
    let kernel = module.lines().filter_map(kernel_name).find(|name| reaching.contains(*name));
    let text =
        module.replace(declaration, "").replace("@__offload_assert_fail(", "@__offload_assert_fail_here(");
    let (mut text, name) = match kernel {
        Some(_) => (
            with_names(&text, &OPENCL),
            format!("load ptr addrspace(2), ptr addrspace(3) @{KERNEL}, align 8"),
        ),
        None => (
            format!("{text}@{KERNEL} = internal addrspace(2) constant [1 x i8] zeroinitializer, align 1\n"),
            format!("getelementptr i8, ptr addrspace(2) @{KERNEL}, i64 0"),
        ),
    };
    text.push_str(&format!(
        "\
define internal spir_func void @__offload_assert_fail_here(ptr addrspace(2) %0, ptr addrspace(2) %1, i32 %2, ptr addrspace(2) %3) {{
  %5 = {name}
  call spir_func void @__offload_assertion(ptr addrspace(2) %0, ptr addrspace(2) %1, i32 %2, ptr addrspace(2) %3, ptr addrspace(2) %5)
  ret void
}}
declare spir_func void @__offload_assertion(ptr addrspace(2), ptr addrspace(2), i32, ptr addrspace(2), ptr addrspace(2))
"
    ));
    if let Some(kernel) = kernel {
        text.push_str(&format!(
            "\
define spir_kernel void @{READS_FAILURES_PREFIX}{kernel}(ptr addrspace(1) %0) {{
  call spir_func void @__offload_take_failures(ptr addrspace(1) %0)
  ret void
}}
declare spir_func void @__offload_take_failures(ptr addrspace(1))
"
        ));
    }
    Some(text)
}

/// The name of the kernel that `line` begins.
fn kernel_name(line: &str) -> Option<&str> {
    if line.starts_with("define ") && is_kernel(line) { global_name(line) } else { None }
}

/// What a module with output is linked with when it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Nothing.
    Alone,
    /// Libraries, which may print as well: all then have one variable.
    Linked,
    /// Kernels, whose names it does not know.
    Library,
}

/// `module` with the variables, and with the functions called by the memory that their texts are in; `None` if it
/// neither prints nor asserts.
pub fn with_output(module: &str, output: Output) -> Option<String> {
    let used: Vec<&str> =
        declared_functions(module).into_iter().filter(|name| FUNCTIONS.contains(name)).collect();
    if used.is_empty() {
        return None;
    }
    let mut text = module.to_string();
    for name in used.iter().filter(|name| BY_MEMORY.contains(name)) {
        let own = format!("__offload_{}_{}", name.trim_start_matches("__offload_"), memory(module, name));
        text = text.replace(&format!("@{name}("), &format!("@{own}("));
    }
    let linkage = if output == Output::Alone { "" } else { "weak " };
    text.push_str(&format!(
        "@{RING} = {linkage}addrspace(1) externally_initialized global ptr addrspace(1) null, align 8\n"
    ));
    let asserts = output != Output::Library && used.iter().any(|name| name.contains("assert"));
    Some(if asserts { with_names(&text, &GPU) } else { text })
}

/// The number of the memory that the first argument of the declared function `name` points to.
fn memory(module: &str, name: &str) -> u32 {
    let mut declarations = module.lines().filter(|line| line.starts_with("declare "));
    let line = declarations.find(|line| global_name(line).is_some_and(|found| found == name));
    let line = line.unwrap_or_default();
    let arguments = line.split_once(&format!("@{name}(")).map_or("", |(_, arguments)| arguments);
    let space = arguments.strip_prefix("ptr addrspace(").and_then(|rest| rest.split_once(')'));
    space.and_then(|(number, _)| number.parse().ok()).unwrap_or(0)
}

/// Where the names of kernels are.
struct Names {
    /// The number of their memory.
    memory: u32,
    /// How the variable that points to one is seen.
    linkage: &'static str,
}

const GPU: Names = Names { memory: 1, linkage: "" };
const OPENCL: Names = Names { memory: 2, linkage: "internal " };

/// `module` whose kernels say their names first, if they come to an assertion.
fn with_names(module: &str, &Names { memory, linkage }: &Names) -> String {
    let reaching = functions_reaching(module, |name| name.contains("assert"));
    let mut out = String::with_capacity(module.len());
    let mut names = String::new();
    let mut lines = module.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        let Some(name) = kernel_name(line).filter(|name| reaching.contains(*name)) else { continue };
        // The first block may have a name.
        if let Some(label) = lines.next_if(|line| !line.starts_with(' ') && line.contains(':')) {
            let _ = writeln!(out, "{label}");
        }
        let _ = writeln!(
            out,
            "  store ptr addrspace({memory}) @{KERNEL}.{name}, ptr addrspace(3) @{KERNEL}, align 8"
        );
        let size = name.len().saturating_add(1);
        let _ = writeln!(
            names,
            "@{KERNEL}.{name} = internal addrspace({memory}) constant [{size} x i8] c\"{name}\\00\", align 1"
        );
    }
    let _ = writeln!(out, "@{KERNEL} = {linkage}addrspace(3) global ptr addrspace({memory}) undef, align 8");
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
        let text = with_output(MODULE, Output::Alone).unwrap();
        assert!(text.contains("call i32 (ptr addrspace(4), ...) @__offload_printf_4(ptr"), "{text}");
        assert!(text.contains("call void @__offload_assert_fail_1(ptr addrspace(1) @c"), "{text}");
        assert!(!text.contains("@printf(") && has_output(&text), "{text}");
        assert!(!has_output(MODULE));
    }

    #[test]
    fn kernels_that_may_fail_say_their_names() {
        let text = with_output(MODULE, Output::Alone).unwrap();
        let stored = "entry:\n  store ptr addrspace(1) @__offload_output_kernel.k, ptr addrspace(3) ";
        assert!(text.contains(stored) && text.contains("[2 x i8] c\"k\\00\""), "{text}");
        assert!(!text.contains("@__offload_output_kernel.quiet"), "{text}");
    }

    #[test]
    fn a_library_shares_the_variable_and_knows_no_kernel() {
        let library = "\
define void @helper() {
  call void @__offload_assert_fail(ptr addrspace(4) @c, ptr addrspace(4) @f, i32 3, ptr addrspace(4) @n)
  ret void
}
declare void @__offload_assert_fail(ptr addrspace(4), ptr addrspace(4), i32, ptr addrspace(4))
";
        let text = with_output(library, Output::Library).unwrap();
        assert!(text.contains("\n@__offload_output = weak addrspace(1) ") && has_output(&text), "{text}");
        assert!(!text.contains("__offload_output_kernel"), "{text}");
        let text = with_output(MODULE, Output::Linked).unwrap();
        assert!(
            text.contains("\n@__offload_output = weak ") && text.contains("@__offload_output_kernel.k"),
            "{text}"
        );
    }

    #[test]
    fn spirv_that_asserts_has_a_kernel_that_reads_failures() {
        let module = "\
define spir_kernel void @k(ptr addrspace(1) %0) #0 {
  call spir_func void @__offload_assert_fail(ptr addrspace(2) @c, ptr addrspace(2) @f, i32 3, ptr addrspace(2) @n)
  ret void
}
declare spir_func void @__offload_assert_fail(ptr addrspace(2), ptr addrspace(2), i32, ptr addrspace(2)) #2
";
        let text = with_assertions(module).unwrap();
        assert!(
            text.contains("  store ptr addrspace(2) @__offload_output_kernel.k, ptr addrspace(3) "),
            "{text}"
        );
        assert!(
            text.contains("define spir_kernel void @__offload_failures_of_k(ptr addrspace(1) %0)"),
            "{text}"
        );
        assert!(!text.contains("@__offload_assert_fail(") && has_output(&text), "{text}");
        assert_eq!(with_assertions("declare i32 @printf(ptr addrspace(2), ...)\n"), None);
    }

    #[test]
    fn a_module_that_only_prints_has_no_names() {
        let text = with_output("declare i32 @printf(ptr addrspace(4), ...)\n", Output::Alone).unwrap();
        assert!(text.contains("@__offload_printf_4(") && !text.contains("__offload_output_kernel"), "{text}");
        assert_eq!(with_output("declare float @sinf(float)\n", Output::Alone), None);
    }
}
