//! Problems between modules: duplicate kernels, imports and exports.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{Hazard, Problem};
use crate::syclbin::{AbstractModule, BundleState, File};
use offload_format::Limits;
use offload_images::spirv;

/// Kernels that several modules for one device list.
pub(super) fn repeated_kernels(file: &File<'_>) -> Vec<Problem> {
    let mut modules: BTreeMap<&str, Vec<&AbstractModule<'_>>> = BTreeMap::new();
    for module in &file.modules {
        let names: BTreeSet<&str> = module.kernels().collect();
        for name in names {
            modules.entry(name).or_default().push(module);
        }
    }
    let mut problems = Vec::new();
    for (name, modules) in modules {
        if !are_for_different_devices(&modules) {
            problems.push(Problem::KernelTwice(name.to_string()));
        }
    }
    problems
}

/// Whether each of `modules` is for another device: a runtime takes the one whose `compile_target` is its device's.
fn are_for_different_devices(modules: &[&AbstractModule<'_>]) -> bool {
    let targets: BTreeSet<String> = modules.iter().filter_map(|module| module.compile_target()).collect();
    modules.len() < 2 || targets.len() == modules.len()
}

/// Unresolved and duplicate symbols. The modules of an object are linked, and those of an input file once it is compiled.
/// Other files may export symbols: those of `linked_with`, if it is known.
pub(super) fn problems(
    file: &File<'_>,
    state: Option<BundleState>,
    linked_with: Option<&BTreeSet<String>>,
) -> Vec<Hazard> {
    let exports = counts(file.modules.iter().map(|module| module.exported().collect()));
    let mut hazards = Vec::new();
    for (name, count) in &exports {
        if *count > 1 {
            hazards.push(Hazard { module: None, problem: Problem::ExportedTwice((*name).to_string()) });
        }
    }
    for (index, module) in file.modules.iter().enumerate() {
        for symbol in imports(module) {
            let problem = match (state, linked_with) {
                (Some(BundleState::Executable), _) => Problem::NotLinked(symbol, BundleState::Executable),
                _ if exports.contains_key(symbol.as_str()) => continue,
                (_, None) => Problem::NeedsExporter(symbol),
                (_, Some(others)) if !others.contains(&symbol) => Problem::NotExported(symbol),
                _ => continue,
            };
            hazards.push(Hazard { module: Some(index), problem });
        }
    }
    hazards
}

/// The imports in the module's metadata and in its SPIR-V, each once.
fn imports(module: &AbstractModule<'_>) -> Vec<String> {
    let mut symbols: Vec<String> = module.imported().map(str::to_string).collect();
    for ir in module.ir.iter().filter_map(|ir| spirv::Module::parse(ir.bytes, &Limits::default()).ok()) {
        symbols.extend(ir.imports().iter().cloned());
    }
    symbols.sort();
    symbols.dedup();
    symbols
}

/// The number of `lists` that contain each name.
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
