//! Problems of a single module.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;
use super::usage::Release;
use crate::syclbin::names::{KNOWN_ARCHES, is_compile_target};
use crate::syclbin::{AbstractModule, BundleState, KERNEL_PREFIX, Payload, PropertyValue, sets};
use offload_format::Limits;
use offload_images::{ImageFormat, spirv};

/// A bound above every number of `sycl::aspect`, with room for later releases; a runtime refuses unknown ones
/// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/info/aspects.def>).
const MAX_ASPECT: u32 = 100;

/// The largest sub-group and work-group of any CPU or GPU.
const MAX_SUB_GROUP: u32 = 64;
const MAX_WORK_GROUP: u64 = 8192;

/// The state of the file and the runtime that reads it, as far as they are known.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) state: Option<BundleState>,
    pub(super) release: Option<Release>,
}

pub(super) fn problems(module: &AbstractModule<'_>, context: Context) -> Vec<Problem> {
    let mut problems = kernels(module);
    problems.extend((module.ir.is_empty() && module.native.is_empty()).then_some(Problem::NoImages));
    problems.extend(requirements(module));
    problems.extend(natives(module, context));
    problems.extend(module.ir.iter().flat_map(ir));
    problems
}

fn kernels(module: &AbstractModule<'_>) -> Vec<Problem> {
    let names: BTreeSet<&str> = module.kernels().collect();
    let listed: Vec<&str> = module.kernels().filter(|name| !is_alias(name, &names)).collect();
    // A library of functions needs no kernel.
    if listed.is_empty() && module.exported().next().is_none() {
        return vec![Problem::NoKernels];
    }
    let plain = listed.iter().filter(|name| !name.starts_with(KERNEL_PREFIX));
    let mut problems: Vec<_> = plain.map(|name| Problem::KernelWithoutPrefix((*name).into())).collect();
    for module in module.ir.iter().filter_map(|ir| spirv::Module::parse(ir.bytes, &Limits::default()).ok()) {
        let defined: BTreeSet<&str> = module.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        let missing = listed.iter().filter(|name| !defined.contains(*name));
        problems.extend(missing.map(|name| Problem::KernelMissing((*name).into())));
    }
    problems
}

/// Whether `name` is an alias by Intel's run-time compiler for the kernel `K`: `rtc_0$K`. The code only has `K`.
fn is_alias(name: &str, names: &BTreeSet<&str>) -> bool {
    let kernel = name.strip_prefix("rtc_").and_then(|rest| rest.split_once('$'));
    kernel.is_some_and(|(number, kernel)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && names.contains(kernel)
    })
}

const WORK_GROUP_SIZE: &str = "reqd_work_group_size_uint64_t";

fn requirement(module: &AbstractModule<'_>, name: &str) -> Option<PropertyValue> {
    module.metadata.get(sets::REQUIREMENTS, name)
}

fn requirements(module: &AbstractModule<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    match requirement(module, "aspects") {
        None => {}
        Some(PropertyValue::Bytes(bytes)) if bytes.len().is_multiple_of(4) => {
            let mut aspects = bytes.as_chunks().0.iter();
            if aspects.any(|aspect| u32::from_le_bytes(*aspect) > MAX_ASPECT) {
                problems.push(Problem::Requirement("aspects has a number that no runtime knows".into()));
            }
        }
        Some(_) => problems.push(Problem::Requirement("aspects is not a list of 32-bit numbers".into())),
    }
    if requirement(module, WORK_GROUP_SIZE).is_some_and(|value| !is_work_group_size(&value)) {
        let problem = format!("{WORK_GROUP_SIZE} is not one to three 64-bit numbers");
        problems.push(Problem::Requirement(problem));
    }
    match (requirement(module, "compile_target"), module.compile_target()) {
        (Some(_), None) => problems.push(Problem::Requirement("compile_target is not text".into())),
        (_, Some(name)) if !is_compile_target(&name) => problems.push(Problem::CompileTarget(name)),
        _ => {}
    }
    problems.extend(unsatisfiable_sizes(module));
    problems
}

fn is_work_group_size(value: &PropertyValue) -> bool {
    value.bytes().is_some_and(|bytes| matches!(bytes.len(), 8 | 16 | 24))
}

/// Sub-group and work-group sizes that no device supports.
fn unsatisfiable_sizes(module: &AbstractModule<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    match requirement(module, "reqd_sub_group_size") {
        Some(PropertyValue::Number(size)) => {
            let is_possible = size.is_power_of_two() && size <= MAX_SUB_GROUP;
            if !is_possible {
                problems.push(Problem::NoDevice(format!("no device has sub-groups of {size} work-items")));
            }
        }
        Some(_) => {
            problems.push(Problem::NoDevice("reqd_sub_group_size is not a number: no device fits".into()));
        }
        None => {}
    }
    if let Some(value) = requirement(module, WORK_GROUP_SIZE) {
        let sizes = value.bytes().unwrap_or_default().as_chunks().0;
        let work_items =
            sizes.iter().fold(1u64, |count, size| count.saturating_mul(u64::from_le_bytes(*size)));
        if work_items > MAX_WORK_GROUP {
            let problem = format!("no device has work-groups of {work_items} work-items");
            problems.push(Problem::NoDevice(problem));
        }
    }
    problems
}

fn natives(module: &AbstractModule<'_>, context: Context) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut targets: BTreeMap<String, usize> = BTreeMap::new();
    for native in &module.native {
        problems.extend(native.bytes.is_empty().then_some(Problem::NativeEmpty));
        match known_target(native) {
            Ok(target) => {
                problems.extend(format(native.bytes, &target));
                *targets.entry(target).or_default() += 1;
            }
            Err(problem) => problems.push(problem),
        }
    }
    let several = targets.iter().filter(|(_, count)| **count > 1);
    problems.extend(several.map(|(target, _)| Problem::NativesOfOneTarget(target.clone())));
    // Code for one x86-64 CPU runs on others; GPUs differ.
    let gpus = targets.keys().filter(|target| !is_cpu(target));
    if module.compile_target().is_none() {
        problems.extend(gpus.map(|target| Problem::NativeForEveryDevice(target.clone())));
    }
    match (context.state, context.release) {
        (Some(BundleState::Input), _) if !module.native.is_empty() => {
            problems.push(Problem::NativeIgnored(BundleState::Input));
        }
        (Some(BundleState::Object), release) => {
            problems.extend(targets.into_keys().map(|target| in_object(target, release)));
        }
        _ => {}
    }
    problems
}

/// The problem of a native image in state object, which every CPU takes.
fn in_object(target: String, release: Option<Release>) -> Problem {
    match release {
        Some(release @ Release::Oneapi2025_3) if is_cpu(&target) => Problem::NativeKills(target, release),
        _ => Problem::NativeInObject(target),
    }
}

fn is_cpu(target: &str) -> bool {
    matches!(target, "spir64" | "spir64_x86_64" | "native_cpu")
}

/// Drivers load ELF files, archives of ocloc, PTX, fatbins and SPIR-V. Runtimes decompress nothing.
fn format(native: &[u8], target: &str) -> Option<Problem> {
    const LOADABLE: [&[u8]; 4] = [b"\x7fELF", b"!<arch>\n", b"\x50\xed\x55\xba", b"__CLANG_OFFLOAD_BUNDLE__"];
    const COMPRESSED: [&[u8]; 3] = [b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"CCOB"];
    if native.is_empty() || ImageFormat::detect(native).is_some() || has_magic(native, &LOADABLE) {
        return None;
    }
    if has_magic(native, &COMPRESSED) {
        return Some(Problem::NativeCompressed(target.to_string()));
    }
    Some(Problem::NativeUnknown(target.to_string()))
}

fn has_magic(bytes: &[u8], magics: &[&[u8]]) -> bool {
    magics.iter().any(|magic| bytes.starts_with(magic))
}

/// The architecture that a runtime reads from the triple: the text before the first `-`.
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
