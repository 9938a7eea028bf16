//! The call graph of a module.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Symbol, defined_function, global_name, global_symbol};

/// The functions of a module from which one whose name satisfies `goal` is reachable.
///
/// Taking an address counts as a call, so that the answer is an over-approximation.
pub fn functions_reaching(module: &str, goal: impl Fn(&str) -> bool) -> BTreeSet<String> {
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

/// The functions whose bodies mention a global, by that global.
fn callers(module: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut callers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut current = None;
    for line in module.lines() {
        if line.starts_with("define ") {
            current = defined_function(line);
            // A function without callers may itself be the goal.
            callers.entry(current.unwrap_or_default()).or_default();
        } else if line == "}" {
            current = None;
        } else if let Some(function) = current {
            let mut text = line;
            while let Some(Symbol { name, rest }) = global_symbol(text) {
                callers.entry(name).or_default().insert(function);
                text = rest;
            }
        }
    }
    callers
}

/// The functions that `module` declares, except LLVM's intrinsics.
pub fn declared_functions(module: &str) -> BTreeSet<&str> {
    let mut declared = BTreeSet::new();
    for line in module.lines().filter(|line| line.starts_with("declare ")) {
        declared.extend(global_name(line).filter(|name| !name.starts_with("llvm.")));
    }
    declared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_followed_through_helpers() {
        let module = "define void @k() {\n  call void @h(i32 1)\n}\ndefine void @h() {\n  tail call void @wait()\n}\n\
                      define void @other() {\n  ret void\n}\ndeclare void @wait()\n";
        let found = functions_reaching(module, |name| name == "wait");
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["h", "k", "wait"]);
    }

    #[test]
    fn intrinsics_and_definitions_are_left_out() {
        let module = "declare spir_func i64 @_Z13get_global_idj(i32 noundef) #2\n\
            define void @k() {\n  call void @x()\n}\n\
            declare float @llvm.fmuladd.f32(float, float, float)\n\
            declare void @\"a b\"()\n";
        assert_eq!(declared_functions(module), ["_Z13get_global_idj", "a b"].into());
    }
}
