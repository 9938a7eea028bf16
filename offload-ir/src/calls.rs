//! The aspects of a device that functions use, with those of the functions that they call.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Aspects;
use offload_workgroup::ir::{functions_reaching, global_name};

use crate::is_kernel;

/// For every kernel of `module` what it and everything that it calls use.
pub fn aspects(module: &str) -> BTreeMap<String, Aspects> {
    let kernels = module.lines().filter(|line| line.starts_with("define ") && is_kernel(line));
    let mut found = BTreeMap::new();
    found.extend(kernels.filter_map(|line| Some((global_name(line)?.to_string(), Aspects::default()))));
    for aspect in [Aspects::FP64, Aspects::FP16, Aspects::ATOMIC64] {
        let direct = users(module, aspect);
        for name in functions_reaching(module, |name| direct.contains(name)) {
            if let Some(aspects) = found.get_mut(&name) {
                *aspects = *aspects | aspect;
            }
        }
    }
    found
}

/// The functions that use `aspect` themselves.
fn users(module: &str, aspect: Aspects) -> BTreeSet<&str> {
    let mut users = BTreeSet::new();
    let mut current = None;
    for line in module.lines() {
        if line.starts_with("define ") {
            current = global_name(line);
        } else if line == "}" {
            current = None;
        }
        if let Some(name) = current.filter(|_| uses(line, aspect)) {
            users.insert(name);
        }
    }
    users
}

fn uses(line: &str, aspect: Aspects) -> bool {
    match aspect {
        Aspects::FP64 => has_word(line, "double"),
        Aspects::FP16 => has_word(line, "half"),
        _ => is_wide_atomic(line),
    }
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').any(|token| token == word)
}

/// `atomicrmw` on `i64`, or a call of OpenCL C's `atom_add` and its kin with a `long`.
fn is_wide_atomic(line: &str) -> bool {
    if line.contains(" atomicrmw ") || line.contains(" cmpxchg ") {
        return has_word(line, "i64");
    }
    let called = line.contains("call ").then(|| global_name(line)).flatten();
    called.is_some_and(|name| name.contains("atom") && (name.contains("Vl") || name.contains("Vm")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aspects_come_through_calls() {
        let module = "define spir_kernel void @plain() {\n  %1 = fadd float %0, 1.0\n}\n\
                      define spir_kernel void @deep() {\n  call void @helper()\n}\n\
                      define void @helper() {\n  %x = fmul double %y, %y\n}\n\
                      define spir_kernel void @wide() {\n  call i64 @_Z8atom_addPU3AS1Vll(ptr %p)\n  %h = fpext half %a to float\n}\n";
        let found = aspects(module);
        assert_eq!(found["plain"], Aspects::default());
        assert_eq!(found["deep"], Aspects::FP64);
        assert_eq!(found["wide"], Aspects::FP16 | Aspects::ATOMIC64);
    }
}
