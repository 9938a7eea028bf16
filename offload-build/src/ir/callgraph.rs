//! Which functions can reach another one.

use std::collections::{BTreeMap, BTreeSet};

use super::global_name;

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
}
