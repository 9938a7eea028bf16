//! Kernels of CUDA C++ as clang marked them until LLVM 20: by an annotation of the module, not by a calling convention.

use std::collections::BTreeSet;

use super::global_name;

/// The IR with the calling convention that LLVM 21 and later give kernels, and that LLVM knows for longer.
pub(crate) fn with_conventions(text: &str) -> String {
    let kernels: BTreeSet<&str> = text.lines().filter_map(annotated).collect();
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let name = if line.starts_with("define ") { global_name(line) } else { None };
        match name {
            Some((name, _)) if kernels.contains(name) && !line.contains(" ptx_kernel ") => {
                out.push_str(&line.replacen(" void @", " ptx_kernel void @", 1));
            }
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// The kernel in a line `!3 = !{ptr @scale, !"kernel", i32 1}` (<https://docs.nvidia.com/cuda/nvvm-ir-spec/>).
fn annotated(line: &str) -> Option<&str> {
    let (name, rest) = global_name(line.strip_prefix('!')?)?;
    (rest == ", !\"kernel\", i32 1}").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotated_functions_get_the_convention() {
        let text = "define dso_local void @_Z1kPf(ptr noundef %a) #0 {\n  ret void\n}\n\
            define dso_local void @helper(ptr %a) #0 {\n  call void @_Z1kPf(ptr %a)\n}\n\
            !nvvm.annotations = !{!1, !2}\n!1 = !{ptr @_Z1kPf, !\"kernel\", i32 1}\n!2 = !{ptr @helper, !\"maxntidx\", i32 64}\n";
        let expected = text.replace("dso_local void @_Z1kPf", "dso_local ptx_kernel void @_Z1kPf");
        assert_eq!(with_conventions(text), expected);
        assert_eq!(with_conventions(&expected), expected);
    }
}
