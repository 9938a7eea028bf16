//! What one module has.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;
use crate::syclbin::names::{KNOWN_ARCHES, is_compile_target};
use crate::syclbin::{AbstractModule, KERNEL_PREFIX, Payload, PropertyValue, State, sets};
use offload_format::Limits;
use offload_images::spirv;

/// Above every number of `sycl::aspect`, which releases add to; a runtime refuses those that it does not know
/// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/info/aspects.def>).
const LAST_ASPECT: u32 = 100;

pub(super) fn problems(module: &AbstractModule<'_>, state: Option<State>) -> Vec<Problem> {
    let mut problems = kernels(module);
    problems.extend(requirements(module));
    problems.extend(natives(module, state));
    problems.extend(module.ir.iter().flat_map(ir));
    problems
}

fn kernels(module: &AbstractModule<'_>) -> Vec<Problem> {
    let listed: Vec<&str> = module.kernels().collect();
    // A library of functions has none, and nothing is wrong with that.
    if listed.is_empty() && module.exported().next().is_none() {
        return vec![Problem::NoKernels];
    }
    let plain = listed.iter().filter(|name| !name.starts_with(KERNEL_PREFIX));
    let mut problems: Vec<_> = plain.map(|name| Problem::KernelWithoutPrefix((*name).into())).collect();
    for module in module.ir.iter().filter_map(|ir| spirv::Module::parse(ir.bytes, &Limits::default()).ok()) {
        let there: BTreeSet<&str> = module.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        let missing = listed.iter().filter(|name| !there.contains(*name));
        problems.extend(missing.map(|name| Problem::KernelMissing((*name).into())));
    }
    problems
}

fn requirements(module: &AbstractModule<'_>) -> Vec<Problem> {
    let value = |name: &str| module.metadata.get(sets::REQUIREMENTS, name);
    let mut problems = Vec::new();
    let mut wrong = |what: &str| problems.push(Problem::Requirement(what.to_string()));
    match value("aspects") {
        None => {}
        Some(PropertyValue::Bytes(bytes)) if bytes.len().is_multiple_of(4) => {
            let known =
                |aspect: &[u8]| aspect.try_into().is_ok_and(|four| u32::from_le_bytes(four) <= LAST_ASPECT);
            if !bytes.chunks(4).all(known) {
                wrong("aspects has a number that no runtime knows");
            }
        }
        Some(_) => wrong("aspects is no list of 32-bit numbers"),
    }
    if value("reqd_sub_group_size").is_some_and(|value| !matches!(value, PropertyValue::Number(_))) {
        wrong("reqd_sub_group_size is no number, so that no device fits");
    }
    let sizes = |value: PropertyValue| {
        value
            .bytes()
            .is_some_and(|bytes| bytes.len().is_multiple_of(8) && (1..=3).contains(&(bytes.len() / 8)))
    };
    if value("reqd_work_group_size_uint64_t").is_some_and(|value| !sizes(value)) {
        wrong("reqd_work_group_size_uint64_t is not one to three 64-bit numbers");
    }
    match (value("compile_target"), module.compile_target()) {
        (Some(_), None) => wrong("compile_target is no text"),
        (_, Some(name)) if !is_compile_target(&name) => problems.push(Problem::CompileTarget(name)),
        _ => {}
    }
    problems
}

fn natives(module: &AbstractModule<'_>, state: Option<State>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut targets: BTreeMap<String, usize> = BTreeMap::new();
    for native in &module.native {
        problems.extend(native.bytes.is_empty().then_some(Problem::NativeEmpty));
        match known_target(native) {
            Ok(target) => *targets.entry(target).or_default() += 1,
            Err(problem) => problems.push(problem),
        }
    }
    let several = targets.iter().filter(|(_, count)| **count > 1);
    problems.extend(several.map(|(target, _)| Problem::NativesOfOneTarget(target.clone())));
    // An x86-64 CPU runs what is compiled for any other; a GPU does not.
    let gpus =
        targets.keys().filter(|target| !matches!(target.as_str(), "spir64" | "spir64_x86_64" | "native_cpu"));
    if module.compile_target().is_none() {
        problems.extend(gpus.map(|target| Problem::NativeForEveryDevice(target.clone())));
    }
    match state {
        Some(state @ (State::Input | State::Object)) if !module.native.is_empty() => {
            problems.push(Problem::NativeIgnored(state));
        }
        _ => {}
    }
    problems
}

/// What a runtime takes from the triple: the part before the first `-`.
fn known_target(native: &Payload<'_>) -> Result<String, Problem> {
    let target = native.metadata.get(sets::NATIVE, "target").and(native.target());
    let target = target.ok_or(Problem::NativeWithoutTarget)?;
    match target.split_once('-') {
        Some((arch, _)) if KNOWN_ARCHES.contains(&arch) => Ok(arch.to_string()),
        _ => Err(Problem::NativeTarget(target)),
    }
}

fn ir(ir: &Payload<'_>) -> Vec<Problem> {
    let kind = match ir.metadata.get(sets::IR, "type") {
        Some(PropertyValue::Number(number)) if number != 0 => Some(Problem::IrType(number)),
        _ => None,
    };
    let malformed = spirv::Module::parse(ir.bytes, &Limits::default())
        .err()
        .map(|error| Problem::IrMalformed(error.to_string()));
    kind.into_iter().chain(malformed).collect()
}
