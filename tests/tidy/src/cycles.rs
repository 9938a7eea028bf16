//! Groups of modules that use each other in circles.
//!
//! An edge goes from a module to the one in which a name that it uses stands; re-exports are followed, and to pass a
//! name on with `pub use` is no use. Tests are left out.

use std::collections::BTreeSet;

use crate::imports;
use crate::modules::ParsedModule;

/// Which uses count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uses {
    /// All of them.
    All,
    /// All but those of a module's parents: a module and its parts count as one then.
    NotOfParents,
}

/// The names of the modules of each group of two and more that can all be reached from each other.
pub fn find(modules: &[ParsedModule], uses: Uses) -> Vec<Vec<String>> {
    let mut edges = imports::edges(modules);
    if uses == Uses::NotOfParents {
        drop_parents(&mut edges, modules);
    }
    let reached: Vec<BTreeSet<usize>> = (0..edges.len()).map(|from| reachable(&edges, from)).collect();
    let mut seen = BTreeSet::new();
    let mut groups = Vec::new();
    for (at, from_here) in reached.iter().enumerate() {
        let back = |other: &&usize| reached.get(**other).is_some_and(|from_there| from_there.contains(&at));
        let group: Vec<usize> = from_here.iter().filter(back).copied().collect();
        if group.len() > 1 && seen.insert(group.clone()) {
            groups.push(group.iter().filter_map(|at| modules.get(*at)).map(name).collect());
        }
    }
    groups
}

fn drop_parents(edges: &mut [BTreeSet<usize>], modules: &[ParsedModule]) {
    for (from, module) in edges.iter_mut().zip(modules) {
        from.retain(|to| modules.get(*to).is_some_and(|to| !module.path.starts_with(&to.path)));
    }
}

/// What is reached in one step and more.
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
