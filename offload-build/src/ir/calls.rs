//! Which functions call which, and what they need of a device.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Aspects;

use super::{global_name, is_kernel};

/// The functions of a module from which one whose name satisfies `goal` is reached. Taking an address counts as a
/// call, so the answer errs on the side of yes.
pub(crate) fn reaching(module: &str, goal: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let callers = callers(module);
    let mut open: Vec<&str> = callers.keys().copied().filter(|name| goal(name)).collect();
    let mut reached = BTreeSet::new();
    while let Some(name) = open.pop() {
        if reached.insert(name.to_string()) {
            open.extend(callers.get(name).into_iter().flatten());
        }
    }
    reached
}

/// For every global that a function body mentions: the functions that do.
fn callers(module: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut callers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut current = None;
    for line in module.lines() {
        if line.starts_with("define ") {
            current = global_name(line).map(|(name, _)| name);
            // A function that nobody calls may itself be the goal.
            callers.entry(current.unwrap_or_default()).or_default();
        } else if line == "}" {
            current = None;
        } else if let Some(function) = current {
            let mut rest = line;
            while let Some((name, tail)) = global_name(rest) {
                callers.entry(name).or_default().insert(function);
                rest = tail;
            }
        }
    }
    callers
}

/// The names of the functions that `module` declares, but for LLVM's own.
pub(crate) fn declared(module: &str) -> BTreeSet<&str> {
    let declarations = module.lines().filter(|line| line.starts_with("declare "));
    let names = declarations.filter_map(|line| global_name(line).map(|(name, _)| name));
    let mut declared = BTreeSet::new();
    declared.extend(names.filter(|name| !name.starts_with("llvm.")));
    declared
}

/// For every kernel of `module` what it and everything that it calls use.
pub(crate) fn aspects(module: &str) -> BTreeMap<String, Aspects> {
    let kernels = module.lines().filter(|line| line.starts_with("define ") && is_kernel(line));
    let mut found = BTreeMap::new();
    found.extend(kernels.filter_map(|line| Some((global_name(line)?.0.to_string(), Aspects::default()))));
    for aspect in [Aspects::FP64, Aspects::FP16, Aspects::ATOMIC64] {
        let direct = users(module, aspect);
        for name in reaching(module, |name| direct.contains(name)) {
            if let Some(aspects) = found.get_mut(&name) {
                *aspects = *aspects | aspect;
            }
        }
    }
    found
}

/// The functions that use `aspect` themselves.
fn users(module: &str, aspect: Aspects) -> BTreeSet<&str> {
    let (mut users, mut current) = (BTreeSet::new(), None);
    for line in module.lines() {
        if line.starts_with("define ") {
            current = global_name(line).map(|(name, _)| name);
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
    let called = line.contains("call ").then(|| global_name(line)).flatten().map(|(name, _)| name);
    called.is_some_and(|name| name.contains("atom") && (name.contains("Vl") || name.contains("Vm")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_followed_through_helpers() {
        let module = "define void @k() {\n  call void @h(i32 1)\n}\ndefine void @h() {\n  tail call void @wait()\n}\n\
                      define void @other() {\n  ret void\n}\ndeclare void @wait()\n";
        let found = reaching(module, |name| name == "wait");
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["h", "k", "wait"]);
    }

    #[test]
    fn intrinsics_and_definitions_are_left_out() {
        let module = "declare spir_func i64 @_Z13get_global_idj(i32 noundef) #2\n\
            define void @k() {\n  call void @x()\n}\n\
            declare float @llvm.fmuladd.f32(float, float, float)\n\
            declare void @\"a b\"()\n";
        assert_eq!(declared(module), ["_Z13get_global_idj", "a b"].into());
    }

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
