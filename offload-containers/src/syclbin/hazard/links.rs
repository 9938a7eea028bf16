//! What modules have with one another.

use std::collections::BTreeMap;

use super::problem::{Hazard, Problem};
use crate::syclbin::{AbstractModule, File, State};
use offload_format::Limits;
use offload_images::spirv;

/// Which kernels several modules list.
pub(super) fn repeated_kernels(file: &File<'_>) -> Vec<Problem> {
    let kernels = counts(file.modules.iter().map(|module| module.kernels().collect()));
    let twice = kernels.into_iter().filter(|(_, count)| *count > 1);
    twice.map(|(name, _)| Problem::KernelTwice(name.to_string())).collect()
}

/// Symbols between modules: only those of an object are linked.
pub(super) fn problems(file: &File<'_>, state: Option<State>) -> Vec<Hazard> {
    let exports = counts(file.modules.iter().map(|module| module.exported().collect()));
    let twice = exports.iter().filter(|(_, count)| **count > 1);
    let twice = twice.map(|(name, _)| Problem::ExportedTwice((*name).to_string()));
    let mut found: Vec<Hazard> = twice.map(|problem| Hazard { module: None, problem }).collect();
    for (index, module) in file.modules.iter().enumerate() {
        for symbol in imports(module) {
            let problem = match state {
                Some(state @ (State::Executable | State::Input)) => Problem::NotLinked(symbol, state),
                _ if !exports.contains_key(symbol.as_str()) => Problem::NotExported(symbol),
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
