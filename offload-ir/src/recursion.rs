//! Recursion, which OpenCL C does not have.

use std::collections::{BTreeMap, BTreeSet};

use offload_workgroup::ir::{Symbol, global_name, global_symbol};

/// Functions of `module` that call each other in turn, the first of them again after the last; those that one of `kernels`
/// comes to.
pub fn recursion(module: &str, kernels: &[&str]) -> Option<Vec<String>> {
    let calls = calls(module);
    let mut known = BTreeSet::new();
    kernels.iter().find_map(|kernel| {
        let mut path = Vec::new();
        cycle(kernel, &calls, &mut path, &mut known)
    })
}

/// The defined functions that each one calls by their names.
fn calls(module: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut calls: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = "";
    for line in module.lines() {
        if line.starts_with("define ") {
            current = global_name(line).unwrap_or_default();
            calls.entry(current).or_default();
        } else if line.contains("call ")
            && line.starts_with(' ')
            && let Some(Symbol { name: called, rest }) = global_symbol(line)
            && rest.starts_with('(')
        {
            calls.entry(current).or_default().push(called);
        }
    }
    calls
}

/// The first cycle that `name` comes to. `known` come to none.
fn cycle<'a>(
    name: &'a str,
    calls: &BTreeMap<&'a str, Vec<&'a str>>,
    path: &mut Vec<&'a str>,
    known: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    if let Some(at) = path.iter().position(|other| *other == name) {
        return path.get(at..).map(|cycle| cycle.iter().map(|name| (*name).to_string()).collect());
    }
    if known.contains(name) {
        return None;
    }
    path.push(name);
    for called in calls.get(name).into_iter().flatten() {
        if let Some(found) = cycle(called, calls, path, known) {
            return Some(found);
        }
    }
    path.pop();
    known.insert(name);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_named_from_where_it_begins() {
        let module = "define spir_kernel void @k() {\n  %1 = call i32 @a(i32 1)\n}\n\
                      define i32 @a(i32 %0) {\n  call void @c()\n  %2 = tail call i32 @b(i32 %0)\n}\n\
                      define i32 @b(i32 %0) {\n  %1 = call spir_func i32 @a(i32 1)\n}\ndefine void @c() {\n  ret void\n}\n\
                      define void @unused() {\n  call void @unused()\n}\n";
        assert_eq!(recursion(module, &["k"]), Some(vec!["a".to_string(), "b".to_string()]));
        assert_eq!(recursion(module, &["c"]), None);
    }
}
