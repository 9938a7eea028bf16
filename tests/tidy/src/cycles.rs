//! Import cycles: groups of modules that can all be reached from each other.
//!
//! An edge goes from a module to the one that defines a name it uses; re-exports are followed, and a `pub use` itself is
//! no use. Tests are left out.

use std::collections::BTreeSet;

use crate::imports;
use crate::modules::ParsedModule;

/// The names of the modules of each group of two and more that can all be reached from each other.
pub fn find(modules: &[ParsedModule]) -> Vec<Vec<String>> {
    let edges = imports::edges(modules);
    let reached: Vec<BTreeSet<usize>> = (0..edges.len()).map(|from| reachable(&edges, from)).collect();
    let mut seen = BTreeSet::new();
    let mut groups = Vec::new();
    for (at, from_here) in reached.iter().enumerate() {
        let mut group = Vec::new();
        for other in from_here {
            if reached.get(*other).is_some_and(|from_there| from_there.contains(&at)) {
                group.push(*other);
            }
        }
        if group.len() > 1 && seen.insert(group.clone()) {
            groups.push(group.iter().filter_map(|at| modules.get(*at)).map(name).collect());
        }
    }
    groups
}

/// The modules that one or more edges lead to.
fn reachable(edges: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for next in edges.get(at).into_iter().flatten() {
            if found.insert(*next) {
                open.push(*next);
            }
        }
    }
    found
}

fn name(module: &ParsedModule) -> String {
    ["crate"].into_iter().chain(module.path.iter().map(String::as_str)).collect::<Vec<_>>().join("::")
}
