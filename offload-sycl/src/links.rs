//! Which modules of objects become one program: a function of their names alone.

use std::collections::BTreeMap;

use crate::rules::Rules;

/// The names of a module that count when it is linked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) kernels: Vec<String>,
    /// What the metadata say.
    pub(crate) imported: Vec<String>,
    /// What the SPIR-V imports, said or not.
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
    let has_kernel = |index: &usize| modules.get(*index).is_some_and(|names| !names.kernels.is_empty());
    programs.into_values().filter(|program| program.iter().any(has_kernel)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kernels: &[&str], imported: &[&str], exported: &[&str]) -> Names {
        let own = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Names { kernels: own(kernels), imported: own(imported), used: own(imported), exported: own(exported) }
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
    fn an_import_that_is_not_said_links_all_the_same() {
        let mut unsaid = [names(&["a"], &["f"], &[]), names(&["b"], &[], &["f"])];
        unsaid[0].imported.clear();
        assert_eq!(both(&unsaid), [Ok(vec![vec![0, 1]]), Ok(vec![vec![0, 1]])]);
    }

    #[test]
    fn names_without_one_owner_are_errors() {
        let error = |modules: &[Names]| {
            let [spec, runtime] = both(modules).map(Result::unwrap_err);
            assert_eq!(spec, runtime);
            spec
        };
        assert_eq!(error(&[names(&["a"], &["f"], &[])]), "no module exports the imported symbol `f`");
        let twice = [names(&["a"], &["f"], &[]), names(&[], &[], &["f"]), names(&[], &[], &["f"])];
        assert_eq!(error(&twice), "several modules export symbol `f`");
        assert_eq!(
            error(&[names(&["a"], &[], &[]), names(&["a"], &[], &[])]),
            "several modules define kernel `a`"
        );
    }

    #[test]
    fn a_module_may_say_a_name_twice() {
        assert!(programs(Rules::Spec, &[names(&["a", "a"], &[], &["f", "f"])]).is_ok());
    }
}
