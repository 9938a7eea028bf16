//! What modules have with one another.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{Hazard, Problem};
use crate::syclbin::{AbstractModule, File, State};
use offload_format::Limits;
use offload_images::spirv;

/// Which kernels several modules list that one device may take.
pub(super) fn repeated_kernels(file: &File<'_>) -> Vec<Problem> {
    let mut modules: BTreeMap<&str, Vec<&AbstractModule<'_>>> = BTreeMap::new();
    for module in &file.modules {
        let names: BTreeSet<&str> = module.kernels().collect();
        names.into_iter().for_each(|name| modules.entry(name).or_default().push(module));
    }
    let either = modules.into_iter().filter(|(_, modules)| !are_of_different_devices(modules));
    either.map(|(name, _)| Problem::KernelTwice(name.to_string())).collect()
}

/// Whether each of `modules` is for another device: a runtime takes the one whose `compile_target` is its device's.
fn are_of_different_devices(modules: &[&AbstractModule<'_>]) -> bool {
    let targets: BTreeSet<String> = modules.iter().filter_map(|module| module.compile_target()).collect();
    modules.len() < 2 || targets.len() == modules.len()
}

/// Symbols between modules: those of an object are linked, and those of an input file once it is compiled. Other files
/// may export some of them: all of `linked_with`, if that is known.
pub(super) fn problems(
    file: &File<'_>,
    state: Option<State>,
    linked_with: Option<&BTreeSet<String>>,
) -> Vec<Hazard> {
    let exports = counts(file.modules.iter().map(|module| module.exported().collect()));
    let twice = exports.iter().filter(|(_, count)| **count > 1);
    let twice = twice.map(|(name, _)| Problem::ExportedTwice((*name).to_string()));
    let mut found: Vec<Hazard> = twice.map(|problem| Hazard { module: None, problem }).collect();
    for (index, module) in file.modules.iter().enumerate() {
        for symbol in imports(module) {
            let problem = match (state, linked_with) {
                (Some(State::Executable), _) => Problem::NotLinked(symbol, State::Executable),
                _ if exports.contains_key(symbol.as_str()) => continue,
                (_, None) => Problem::NeedsExporter(symbol),
                (_, Some(others)) if !others.contains(&symbol) => Problem::NotExported(symbol),
                _ => continue,
            };
            found.push(Hazard { module: Some(index), problem });
        }
    }
    found
}

/// What the module says that it imports, and what its SPIR-V imports all the same, each once.
fn imports(module: &AbstractModule<'_>) -> Vec<String> {
    let mut symbols: Vec<String> = module.imported().map(str::to_string).collect();
    for ir in module.ir.iter().filter_map(|ir| spirv::Module::parse(ir.bytes, &Limits::default()).ok()) {
        symbols.extend(ir.imports().iter().cloned());
    }
    symbols.sort();
    symbols.dedup();
    symbols
}

/// In how many of `lists` each name is.
fn counts<'a>(lists: impl Iterator<Item = Vec<&'a str>>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for mut names in lists {
        names.sort_unstable();
        names.dedup();
        for name in names {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}
