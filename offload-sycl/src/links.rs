//! Partition of the modules of objects into programs: the connected components of the import graph.

use std::collections::BTreeMap;

use crate::rules::Rules;

/// The names of a module that count when it is linked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) kernels: Vec<String>,
    /// The imports in the metadata.
    pub(crate) imported: Vec<String>,
    /// The imports in the SPIR-V, also those without metadata.
    pub(crate) used: Vec<String>,
    pub(crate) exported: Vec<String>,
}

/// The programs, each as the indexes of its modules, in the order of the modules.
///
/// By the runtime's rules there is one. By those of the extension modules are together that need each other's symbols,
/// and what has no kernel and serves none is left out.
///
/// # Errors
/// A symbol has no definition or two, or a kernel is in two modules; in words.
pub(crate) fn programs(rules: Rules, modules: &[Names]) -> Result<Vec<Vec<usize>>, String> {
    owners(modules, |names| &names.kernels)
        .map_err(|kernel| format!("several modules define kernel `{}`", kernel.escape_debug()))?;
    let exports = owners(modules, |names| &names.exported)
        .map_err(|symbol| format!("several modules export symbol `{}`", symbol.escape_debug()))?;
    for symbol in modules.iter().flat_map(|names| &names.imported) {
        if !exports.contains_key(symbol.as_str()) {
            return Err(format!("no module exports the imported symbol `{}`", symbol.escape_debug()));
        }
    }
    Ok(match rules {
        Rules::Runtime if modules.is_empty() => Vec::new(),
        Rules::Runtime => vec![(0..modules.len()).collect()],
        Rules::Spec => connected(modules, &exports),
    })
}

/// The module of each name; a name of two modules is the error.
fn owners(modules: &[Names], of: impl Fn(&Names) -> &Vec<String>) -> Result<BTreeMap<&str, usize>, String> {
    let mut owners = BTreeMap::new();
    for (index, names) in modules.iter().enumerate() {
        for name in of(names) {
            let before = owners.insert(name.as_str(), index);
            if before.is_some_and(|before| before != index) {
                return Err(name.clone());
            }
        }
    }
    Ok(owners)
}

/// The parts of the graph whose edges are symbols.
fn connected(modules: &[Names], exports: &BTreeMap<&str, usize>) -> Vec<Vec<usize>> {
    // The first module of the part that each is in, so far.
    let mut part: Vec<usize> = (0..modules.len()).collect();
    for (index, names) in modules.iter().enumerate() {
        for symbol in names.imported.iter().chain(&names.used) {
            let ends = [Some(index), exports.get(symbol.as_str()).copied()];
            let parts = ends.map(|end| end.and_then(|end| part.get(end).copied()));
            if let [Some(one), Some(other)] = parts {
                part.iter_mut().filter(|it| **it == one.max(other)).for_each(|it| *it = one.min(other));
            }
        }
    }
    let mut programs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    part.iter().enumerate().for_each(|(index, first)| programs.entry(*first).or_default().push(index));
    programs.into_values().filter(|program| has_kernel(modules, program)).collect()
}

fn has_kernel(modules: &[Names], program: &[usize]) -> bool {
    program.iter().filter_map(|index| modules.get(*index)).any(|names| !names.kernels.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kernels: &[&str], imported: &[&str], exported: &[&str]) -> Names {
        Names {
            kernels: strings(kernels),
            imported: strings(imported),
            used: strings(imported),
            exported: strings(exported),
        }
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn both(modules: &[Names]) -> [Result<Vec<Vec<usize>>, String>; 2] {
        [Rules::Spec, Rules::Runtime].map(|rules| programs(rules, modules))
    }

    #[test]
    fn modules_that_need_each_other_are_one_program() {
        let pair = [names(&["a"], &["f"], &[]), names(&[], &[], &["f"])];
        assert_eq!(both(&pair), [Ok(vec![vec![0, 1]]), Ok(vec![vec![0, 1]])]);
        let chain = [names(&[], &[], &["g"]), names(&["a"], &["f"], &[]), names(&[], &["g"], &["f"])];
        assert_eq!(both(&chain), [Ok(vec![vec![0, 1, 2]]), Ok(vec![vec![0, 1, 2]])]);
    }

    #[test]
    fn strangers_are_linked_by_the_runtime_alone() {
        let strangers = [names(&["a"], &[], &[]), names(&["b"], &[], &[]), names(&[], &[], &["unused"])];
        assert_eq!(both(&strangers), [Ok(vec![vec![0], vec![1]]), Ok(vec![vec![0, 1, 2]])]);
        assert_eq!(both(&[]), [Ok(vec![]), Ok(vec![])]);
    }

    #[test]
    fn an_import_without_metadata_is_linked_too() {
        let mut undeclared = [names(&["a"], &["f"], &[]), names(&["b"], &[], &["f"])];
        undeclared[0].imported.clear();
        assert_eq!(both(&undeclared), [Ok(vec![vec![0, 1]]), Ok(vec![vec![0, 1]])]);
    }

    #[test]
    fn names_without_one_owner_are_errors() {
        fn error(modules: &[Names]) -> String {
            let [spec, runtime] = both(modules).map(Result::unwrap_err);
            assert_eq!(spec, runtime);
            spec
        }
        assert_eq!(error(&[names(&["a"], &["f"], &[])]), "no module exports the imported symbol `f`");
        let twice = [names(&["a"], &["f"], &[]), names(&[], &[], &["f"]), names(&[], &[], &["f"])];
        assert_eq!(error(&twice), "several modules export symbol `f`");
        assert_eq!(
            error(&[names(&["a"], &[], &[]), names(&["a"], &[], &[])]),
            "several modules define kernel `a`"
        );
    }

    #[test]
    fn a_module_may_list_a_name_twice() {
        assert!(programs(Rules::Spec, &[names(&["a", "a"], &[], &["f", "f"])]).is_ok());
    }
}
