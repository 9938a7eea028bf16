//! What one module has.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;
use super::usage::Release;
use crate::syclbin::names::{KNOWN_ARCHES, is_compile_target};
use crate::syclbin::{AbstractModule, KERNEL_PREFIX, Payload, PropertyValue, State, sets};
use offload_format::Limits;
use offload_images::{ImageFormat, spirv};

/// Above every number of `sycl::aspect`, which releases add to; a runtime refuses those that it does not know
/// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/info/aspects.def>).
const LAST_ASPECT: u32 = 100;

/// The largest sub-group of any CPU or GPU, and the most work-items of a work-group.
const LARGEST_SUB_GROUP: u32 = 64;
const LARGEST_WORK_GROUP: u64 = 8192;

/// What is known of the file and its use.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) state: Option<State>,
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

/// Whether `name` is the second one that Intel's run-time compiler gives the kernel `K`: `rtc_0$K`. Its code has the first.
fn is_alias(name: &str, names: &BTreeSet<&str>) -> bool {
    let kernel = name.strip_prefix("rtc_").and_then(|rest| rest.split_once('$'));
    kernel.is_some_and(|(number, kernel)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && names.contains(kernel)
    })
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
        Some(_) => wrong("aspects is not a list of 32-bit numbers"),
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
        (Some(_), None) => wrong("compile_target is not text"),
        (_, Some(name)) if !is_compile_target(&name) => problems.push(Problem::CompileTarget(name)),
        _ => {}
    }
    problems.extend(unmet(module));
    problems
}

/// Sizes that no device has.
fn unmet(module: &AbstractModule<'_>) -> Vec<Problem> {
    let value = |name: &str| module.metadata.get(sets::REQUIREMENTS, name);
    let mut problems = Vec::new();
    if let Some(PropertyValue::Number(size)) = value("reqd_sub_group_size")
        && (!size.is_power_of_two() || size > LARGEST_SUB_GROUP)
    {
        problems.push(Problem::NoDevice(format!("no device has sub-groups of {size} work-items")));
    } else if matches!(
        value("reqd_sub_group_size"),
        Some(PropertyValue::Bytes(_) | PropertyValue::Bits { .. })
    ) {
        problems.push(Problem::NoDevice("reqd_sub_group_size is not a number: no device fits".into()));
    }
    let sizes = value("reqd_work_group_size_uint64_t");
    let sizes = sizes.as_ref().and_then(PropertyValue::bytes).unwrap_or_default();
    let numbers = sizes.as_chunks().0.iter().map(|eight| u64::from_le_bytes(*eight));
    let group = numbers.fold(1u64, u64::saturating_mul);
    if group > LARGEST_WORK_GROUP {
        problems.push(Problem::NoDevice(format!("no device has work-groups of {group} work-items")));
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
    // An x86-64 CPU runs what is compiled for any other; a GPU does not.
    let gpus = targets.keys().filter(|target| !is_of_cpu(target));
    if module.compile_target().is_none() {
        problems.extend(gpus.map(|target| Problem::NativeForEveryDevice(target.clone())));
    }
    match (context.state, context.release) {
        (Some(State::Input), _) if !module.native.is_empty() => {
            problems.push(Problem::NativeIgnored(State::Input));
        }
        (Some(State::Object), release) => {
            problems.extend(targets.into_keys().map(|target| in_object(target, release)));
        }
        _ => {}
    }
    problems
}

/// A native image in state object: on a CPU it always fits the device.
fn in_object(target: String, release: Option<Release>) -> Problem {
    match release {
        Some(release @ Release::Oneapi2025_3) if is_of_cpu(&target) => Problem::NativeKills(target, release),
        _ => Problem::NativeInObject(target),
    }
}

fn is_of_cpu(target: &str) -> bool {
    matches!(target, "spir64" | "spir64_x86_64" | "native_cpu")
}

/// Drivers take ELF files, archives of ocloc, PTX, fatbins and SPIR-V. Runtimes inflate nothing.
fn format(native: &[u8], target: &str) -> Option<Problem> {
    const TAKEN: [&[u8]; 4] = [b"\x7fELF", b"!<arch>\n", b"\x50\xed\x55\xba", b"__CLANG_OFFLOAD_BUNDLE__"];
    const COMPRESSED: [&[u8]; 3] = [b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"CCOB"];
    let starts = |magics: &[&[u8]]| magics.iter().any(|magic| native.starts_with(magic));
    if native.is_empty() || ImageFormat::detect(native).is_some() || starts(&TAKEN) {
        return None;
    }
    let target = target.to_string();
    Some(if starts(&COMPRESSED) { Problem::NativeCompressed(target) } else { Problem::NativeUnknown(target) })
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
