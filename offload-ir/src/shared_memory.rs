//! Shared memory of CUDA C++ for the CPU: variables that work-group generation recognises as local arrays.
//!
//! clang makes a `__shared__` variable of a template one that linked modules share, and an `extern __shared__` array an
//! external one of unknown size. All of the latter are the dynamic shared memory of the launch.

use std::collections::BTreeMap;

use crate::file_local::with_names;

/// The variable that is the dynamic shared memory; its size is [`DYNAMIC_SHARED_CAPACITY`].
const DYNAMIC: &str = "__offload_dynamic_shared";
/// The most that a block of any NVIDIA GPU can have, of static and dynamic shared memory together
/// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities>).
const DYNAMIC_SHARED_CAPACITY: u64 = 227 * 1024;

/// A copy of `module`, device code for the CPU, with shared memory as local arrays.
pub fn with_shared_memory(module: &str) -> String {
    let mut dynamic: BTreeMap<&str, String> = BTreeMap::new();
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        if let Some(name) = dynamic_array(line) {
            dynamic.insert(name, DYNAMIC.to_string());
            continue;
        }
        match static_variable(line) {
            Some(variable) => out.push_str(&variable),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    if dynamic.is_empty() {
        return out;
    }
    out = with_names(&out, &dynamic);
    out.push_str(&format!(
        "@{DYNAMIC} = internal global [{DYNAMIC_SHARED_CAPACITY} x i8] undef, align 128\n\
         @{DYNAMIC}_size = weak_odr constant i64 {DYNAMIC_SHARED_CAPACITY}, align 8\n"
    ));
    out
}

/// The name that `@tile = external global [0 x float], align 4` declares.
fn dynamic_array(line: &str) -> Option<&str> {
    let (name, definition) = line.strip_prefix('@')?.split_once(" = ")?;
    let is_external = definition.starts_with("external ") && definition.contains("global [0 x ");
    is_external.then_some(name)
}

/// `line` with internal linkage, if it defines a variable without an initial value.
fn static_variable(line: &str) -> Option<String> {
    let (name, definition) = line.strip_prefix('@')?.split_once(" = ")?;
    let (words, value) = definition.split_once("global ")?;
    let (ty, attributes) = value.split_once(" undef")?;
    if words.starts_with("external") || !(attributes.is_empty() || attributes.starts_with(',')) {
        return None;
    }
    let mut text = format!("@{name} = internal global {ty} undef");
    for attribute in attributes.split(", ").filter(|attribute| attribute.starts_with("align ")) {
        text.push_str(", ");
        text.push_str(attribute);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_arrays_of_templates_are_local() {
        let line =
            "@_ZZ3sumILi32EEffE4tile = linkonce_odr hidden global [32 x float] undef, comdat, align 16\n";
        let local = "@_ZZ3sumILi32EEffE4tile = internal global [32 x float] undef, align 16\n";
        assert_eq!(with_shared_memory(line), local);
        for other in [
            "@counter = hidden externally_initialized global i32 0, align 4\n",
            "@s = private constant [8 x i8] c\" undef, \"\n",
            "@far = external global [4 x i32], align 4\n",
        ] {
            assert_eq!(with_shared_memory(other), other);
        }
    }

    #[test]
    fn dynamic_arrays_are_one_variable() {
        let module = "@a = external global [0 x float], align 4\n@ab = hidden global i32 1\n\
                      @b = external hidden global [0 x i64], align 8\n\
                      load float, ptr @a\nload i32, ptr @ab\nload i64, ptr getelementptr (i8, ptr @b, i64 8)\n";
        let text = with_shared_memory(module);
        assert!(text.contains("load float, ptr @__offload_dynamic_shared\nload i32, ptr @ab\n"), "{text}");
        assert!(text.contains("getelementptr (i8, ptr @__offload_dynamic_shared, i64 8)"), "{text}");
        assert!(
            text.contains("@__offload_dynamic_shared = internal global [232448 x i8] undef, align 128\n")
        );
        assert!(!text.contains("@a =") && !text.contains("@b ="), "{text}");
    }
}
