//! Compilation of kernel sources to verified device images for each target.

mod advice;
mod files;
mod front_end;
mod kernel_lists;
mod launchers;
mod left_out;
mod libraries;
mod linking;
mod remote;
mod route;
mod session;
mod steps;
mod targets;
mod undefined;

use std::collections::BTreeMap;

use offload_format::Target;
use offload_format::pack::{KernelInfo, NewImage};
use offload_signatures::complete_sizes;

use self::advice::builtin_names;
use self::kernel_lists::TargetKernels;
use self::left_out::KeptScan;
use self::route::{Route, Served, route, served, unserved};
use self::session::Scan;
pub(crate) use self::session::{Session, Shared};
use self::targets::{amdgcn, host_library, llvm, nvptx, spirv};
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::module::{
    self, DeviceImage, LanguageFamily, LeftOutKernel, Library, MissingTarget, ModuleImages, Sources,
    TargetImages,
};
use crate::options::SpillBudget;
use crate::progress::CompileOrigin;
use crate::targets::{Presence, WantedTarget};
use crate::vendor::UseVendored;
use offload_cache::Origins;

/// The images of a module for every one of `targets` that its languages can be compiled for: compiled, or brought along
/// by the package.
pub(crate) fn images(session: &Session<'_>, targets: &[WantedTarget]) -> Result<ModuleImages> {
    let Served { targets, missing } = served(session, targets)?;
    let compiled =
        results(session, &targets).map_err(|error| cannot_compile(session.sources, &targets, error))?;
    let mut module = collect(session, compiled.results)?;
    let mut kernels = compiled.kernels;
    let of_images = module.images.iter_mut().flat_map(|image| &mut image.record.kernels);
    complete_sizes(of_images.chain(&mut kernels).collect());
    if kernels.is_empty() {
        kernels = recorded(&module.images);
    }
    module.kernels.push(kernels);
    module.missing.extend(missing);
    module.left_out.extend(compiled.left_out);
    module.left_out.extend(left_out::settings_records(session, &targets));
    module.launchers = launchers::objects(session, &targets)?;
    let budget = session.sources.options.max_spills.unwrap_or_default();
    module.images.iter().try_for_each(|image| check_budget(session.env(), budget, &image.record))?;
    Ok(module)
}

/// Runs the front end alone, as for SPIR-V, or as for the first target of CUDA C++ and HIP C++. What other compilers
/// than clang compile, or what is compiled already, is not looked at.
pub(crate) fn syntax(session: &Session<'_>, targets: &[WantedTarget]) -> Result<ModuleImages> {
    let Served { targets, missing } = served(session, targets)?;
    let mut kernels = Vec::new();
    if let (Route::Llvm, Some(first)) = (route(session.sources)?, targets.first()) {
        let scan = llvm::scan(session, &first.target)
            .map_err(|error| cannot_compile(session.sources, &targets, error))?;
        builtin_names::warn(session, &scan.files, &targets);
        kernels = scanned(&scan.files);
        let only = [WantedTarget::clone(first)];
        let kept = left_out::kept(session, scan, &first.target)
            .map_err(|error| cannot_compile(session.sources, &only, error))?;
        left_out::warn(session, &[(first, &kept.refused)]);
        complete_sizes(kernels.iter_mut().collect());
    }
    Ok(ModuleImages { missing, kernels: vec![kernels], ..ModuleImages::default() })
}

/// Compiles a library alone, for each of `targets` that its languages support, so that its errors appear in the build of
/// its own package.
pub(crate) fn library(session: &Session<'_>, library: &Library, targets: &[WantedTarget]) -> Result<()> {
    if targets.iter().all(|wanted| unserved(session.sources, &wanted.target).is_some()) {
        // An importer gets an error of its own, and without one the library is not needed.
        let names: Vec<String> = targets.iter().map(|wanted| format!("`{}`", wanted.target)).collect();
        let name = library.name();
        let names = names.join(", ");
        let text = format!(
            "the device library `{name}` was not compiled: its language reaches none of the targets {names}"
        );
        session.env().warn(&text);
        return Ok(());
    }
    let Served { targets, .. } = served(session, targets)?;
    let results = session
        .context()
        .jobs
        .map(&targets, |wanted| libraries::check_alone(session, library, &wanted.target));
    for (wanted, result) in targets.iter().zip(results) {
        let Err(error) = result else { continue };
        let name = library.name();
        // Importers may have images of their own, and say what is missing where they have none.
        if error.is_missing_tool() || (wanted.presence == Presence::Optional && !error.is_lost_entry()) {
            let text =
                format!("the device library `{name}` was not compiled for `{}`: {error}", wanted.target);
            session.env().warn(&text);
        } else {
            return Err(
                error.below(format!("cannot compile the device library `{name}` for `{}`", wanted.target))
            );
        }
    }
    Ok(())
}

/// The images of a library for those of `targets` whose drivers link when an image is loaded.
pub(crate) fn library_images(
    session: &Session<'_>,
    library: &Library,
    targets: &[WantedTarget],
) -> Result<ModuleImages> {
    let targets: Vec<WantedTarget> = targets
        .iter()
        .filter(|wanted| matches!(wanted.target, Target::Host(_) | Target::Spirv64(_) | Target::Nvptx(_)))
        .filter(|wanted| unserved(session.sources, &wanted.target).is_none())
        .cloned()
        .collect();
    let results =
        session.context().jobs.map(&targets, |wanted| library_image(session, library, &wanted.target));
    let mut found = ModuleImages::default();
    for (wanted, result) in targets.iter().zip(results) {
        match result {
            Ok(image) => found.images.push(image),
            Err(error) if error.is_lost_entry() => return Err(error),
            Err(error) if error.is_missing_tool() || wanted.presence == Presence::Optional => {
                let name = library.name();
                let target = wanted.target.clone();
                session
                    .env()
                    .warn(&format!("no image of the device library `{name}` for `{target}`: {error}"));
                found.missing.push(MissingTarget { target, reason: error.to_string() });
            }
            Err(error) => {
                let name = library.name();
                let target = &wanted.target;
                return Err(error.below(format!("cannot compile the device library `{name}` for `{target}`")));
            }
        }
    }
    Ok(found)
}

fn library_image(session: &Session<'_>, library: &Library, target: &Target) -> Result<DeviceImage> {
    match target {
        Target::Host(level) => host_library::image(session, library, *level),
        Target::Spirv64(version) => spirv::library(session, library, *version),
        Target::Nvptx(sm) => nvptx::library(session, library, sm),
        other => Err(Error::new(format!("no driver for `{other}` links when an image is loaded"))),
    }
}

/// What becomes of a module.
#[derive(Default)]
struct Compiled {
    results: Vec<TargetImages>,
    /// Kernels that a target has no code for.
    left_out: Vec<LeftOutKernel>,
    /// What the front end says of its kernels; empty if none ran.
    kernels: Vec<KernelInfo>,
}

fn scanned(files: &[session::Scanned]) -> Vec<KernelInfo> {
    files.iter().flat_map(|file| &file.kernels).map(offload_ir::Kernel::record).collect()
}

/// The kernels of all `images`, each once.
fn recorded(images: &[DeviceImage]) -> Vec<KernelInfo> {
    let mut kernels: Vec<KernelInfo> = Vec::new();
    for kernel in images.iter().flat_map(|image| &image.record.kernels) {
        if kernels.iter().all(|known| known.name != kernel.name) {
            kernels.push(kernel.clone());
        }
    }
    kernels
}

/// What becomes of each of `targets`.
fn results(session: &Session<'_>, targets: &[WantedTarget]) -> Result<Compiled> {
    let context = session.context();
    let sources = session.sources;
    let vendored = &session.shared.vendored;
    let mut results = match vendored.used {
        UseVendored::Prefer => vendored.preferred(context, sources, targets)?,
        UseVendored::Fallback | UseVendored::Never => Vec::new(),
    };
    let left: Vec<WantedTarget> = targets
        .iter()
        .filter(|target| !results.iter().any(|result| result.target == **target))
        .cloned()
        .collect();
    let may_fall_back = vendored.used != UseVendored::Never;
    let mut compiled = match compiled(session, &left, targets) {
        // What all targets need is missed by each, and the package may have images for some.
        Err(error) if error.is_missing_tool() && may_fall_back => {
            Compiled { results: failed(&left, &error), ..Compiled::default() }
        }
        compiled => compiled?,
    };
    if may_fall_back && compiled.results.iter().any(has_failed) {
        compiled.results = vendored.in_place_of_failed(context, sources, compiled.results)?;
    }
    results.append(&mut compiled.results);
    results.sort_by(|a, b| a.target.cmp(&b.target));
    Ok(Compiled { results, ..compiled })
}

fn has_failed(result: &TargetImages) -> bool {
    result.images.is_err()
}

fn failed(targets: &[WantedTarget], error: &Error) -> Vec<TargetImages> {
    targets.iter().map(|target| TargetImages { target: target.clone(), images: Err(error.again()) }).collect()
}

/// What compilers make for each of `targets`, which are some of the targets `all`.
fn compiled(session: &Session<'_>, targets: &[WantedTarget], all: &[WantedTarget]) -> Result<Compiled> {
    let mut kernels = Vec::new();
    let Some(first) = targets.first() else { return Ok(Compiled::default()) };
    let results = match route(session.sources)? {
        Route::Llvm if is_of_vendor(session.sources)? => {
            return each_scanned(session, targets, all);
        }
        Route::Llvm => {
            let scan = llvm::scan(session, scanned_target(targets, first))?;
            builtin_names::warn(session, &scan.files, all);
            kernels = scanned(&scan.files);
            let units = session::Unit::split(&scan, session.sources.options.split.unwrap_or_default())?;
            let module = llvm::ScannedModule { scan: &scan, units: &units, targets: all };
            each_target(session, targets, |session, target| {
                if session.sources.options.has_kernel_targets() {
                    let scan = scan.clone().by_settings(session, target);
                    return compile_scan(session, &scan, target, all);
                }
                module.compile(session, target)
            })
        }
        Route::LlvmIr => {
            each_target(session, targets, |session, target| llvm::compile_ir(session, target, all))
        }
        Route::Whole(compile) => {
            each_target(session, targets, |session, target| Ok(vec![compile(session, target)?]))
        }
    };
    Ok(Compiled { results, left_out: Vec::new(), kernels })
}

/// The target as for which portable sources are read: SPIR-V has a version with fewer functions than others.
fn scanned_target<'t>(targets: &'t [WantedTarget], first: &'t WantedTarget) -> &'t Target {
    let mut targets = targets.iter().map(|wanted| &wanted.target);
    targets.find(|target| matches!(target, Target::Spirv64(_) | Target::Intel(_))).unwrap_or(&first.target)
}

/// The images for `target`, one of the targets `all`; none without kernels.
fn compile_scan(
    session: &Session<'_>,
    scan: &Scan,
    target: &Target,
    all: &[WantedTarget],
) -> Result<Vec<DeviceImage>> {
    if scan.has_no_kernel() {
        return Ok(Vec::new());
    }
    let units = session::Unit::split(scan, session.sources.options.split.unwrap_or_default())?;
    llvm::ScannedModule { scan, units: &units, targets: all }.compile(session, target)
}

/// Whether its files are in CUDA C++ or HIP C++.
fn is_of_vendor(sources: &Sources) -> Result<bool> {
    Ok(matches!(module::family(&sources.files)?, LanguageFamily::Cuda | LanguageFamily::Hip))
}

/// As [`compiled`], with kernels that depend on the target: sources in CUDA C++ and HIP C++ ask for it.
fn each_scanned(session: &Session<'_>, targets: &[WantedTarget], all: &[WantedTarget]) -> Result<Compiled> {
    let scans = session.context().jobs.map(targets, |wanted| {
        let scan = llvm::scan(session, &wanted.target)?;
        let kernels = scanned(&scan.files);
        Ok(TargetScan { kernels, kept: left_out::kept(session, scan, &wanted.target)? })
    });
    let mut results = Vec::new();
    let mut found = BTreeMap::new();
    for (wanted, scan) in targets.iter().zip(scans) {
        match scan {
            Ok(scan) => drop(found.insert(wanted.target.clone(), scan)),
            Err(error) => results.push(TargetImages { target: wanted.clone(), images: Err(error) }),
        }
    }
    // What is wrong for all is said once.
    if found.is_empty() {
        let first = results.into_iter().next().map(|result| result.images);
        return Err(first.and_then(Result::err).unwrap_or_else(|| Error::new("there is no target")));
    }
    let left: Vec<WantedTarget> =
        targets.iter().filter(|wanted| found.contains_key(&wanted.target)).cloned().collect();
    results.extend(each_target(session, &left, |session, target| {
        let Some(scan) = found.get(target) else { return Ok(Vec::new()) };
        compile_scan(session, &scan.kept.scan, target, all)
    }));
    let mut lists = Vec::new();
    let mut refused = Vec::new();
    let mut records = Vec::new();
    for target in &left {
        let Some(TargetScan { kernels, kept }) = found.get(&target.target) else { continue };
        lists.push(TargetKernels { target, kernels: kernels.clone() });
        refused.push((target, kept.refused.as_slice()));
        records.extend(left_out::records(&target.target, &kept.refused));
    }
    left_out::warn(session, &refused);
    let kernels = kernel_lists::merged(session.env(), &session.sources.name(), lists);
    Ok(Compiled { results, left_out: records, kernels })
}

/// What the front ends have found for a target.
struct TargetScan {
    /// All kernels.
    kernels: Vec<KernelInfo>,
    kept: KeptScan,
}

/// Compiles for all targets at once, and tells how far that is.
fn each_target(
    session: &Session<'_>,
    targets: &[WantedTarget],
    compile: impl Fn(&Session<'_>, &Target) -> Result<Vec<DeviceImage>> + Sync,
) -> Vec<TargetImages> {
    let watched = session.shared.progress.as_ref();
    let name = session.sources.name();
    if let Some(progress) = watched {
        targets.iter().for_each(|wanted| progress.planned(&name, &wanted.target));
    }
    session.context().jobs.map(targets, |wanted| {
        let origins = Origins::default();
        let session = session.counted(&origins);
        let images = compile(&session, &wanted.target).and_then(|images| stripped(&session, images));
        if let Some(progress) = watched {
            progress.done(&name, &wanted.target, CompileOrigin::from_origins(&origins));
        }
        TargetImages { target: wanted.clone(), images }
    })
}

/// `images`, without what only tools read if that was asked for.
fn stripped(session: &Session<'_>, images: Vec<DeviceImage>) -> Result<Vec<DeviceImage>> {
    if session.sources.options.strip != Some(true) {
        return Ok(images);
    }
    images.into_iter().map(|image| amdgcn::stripped(session, image)).collect()
}

/// The images of all results; a required target without images is an error, an optional one is missing.
fn collect(session: &Session<'_>, results: Vec<TargetImages>) -> Result<ModuleImages> {
    if results.iter().any(has_failed)
        && let Some(undefined) = undefined::find(session, &results)
    {
        return Err(cannot_compile(session.sources, &undefined.targets, undefined.error));
    }
    let mut module = ModuleImages::default();
    for TargetImages { target: wanted, images } in results {
        match (images, wanted.presence) {
            (Ok(images), _) if images.is_empty() => {
                let reason = "the settings keep its kernels to other targets".to_string();
                module.missing.push(MissingTarget { target: wanted.target, reason });
            }
            (Ok(images), _) => module.images.extend(images),
            (Err(error), _) if error.is_lost_entry() => return Err(error),
            (Err(error), Presence::Required) => {
                return Err(cannot_compile(session.sources, &[wanted], error));
            }
            (Err(error), Presence::Optional) => {
                session.env().warn(&format!("optional target `{}` is left out: {error}", wanted.target));
                module.missing.push(MissingTarget { target: wanted.target, reason: error.to_string() });
            }
        }
    }
    Ok(module)
}

/// Warns of every kernel of `image` that spills more than `budget` allows, or refuses it.
fn check_budget(env: &CargoEnv, budget: SpillBudget, image: &NewImage) -> Result<()> {
    let limit = match budget {
        SpillBudget::Any => return Ok(()),
        SpillBudget::Warn => 0,
        SpillBudget::WarnAbove(limit) | SpillBudget::AtMost(limit) => limit,
    };
    for kernel in &image.kernels {
        if kernel.spilled.is_none_or(|bytes| bytes <= limit) {
            continue;
        }
        let spills = spills(kernel, image);
        if matches!(budget, SpillBudget::AtMost(_)) {
            let error = Error::new(format!("{spills}; `max-spills` allows {limit}"));
            return Err(
                error.with_hint("give the kernel fewer live values or more registers, or raise `max-spills`")
            );
        }
        env.warn(&spills);
    }
    Ok(())
}

fn spills(kernel: &KernelInfo, image: &NewImage) -> String {
    let bytes = kernel.spilled.unwrap_or(0);
    let of = match image.variant.as_str() {
        "" => image.module.clone(),
        variant => format!("{}[{variant}]", image.module),
    };
    let mut text = format!("kernel `{}` of `{of}` spills {bytes} bytes on {}", kernel.name, image.target);
    if let Some(registers) = kernel.registers {
        text.push_str(&format!(" with {registers} registers"));
    }
    text
}

/// `error` below a line with the module, and the targets that it was to be compiled for.
fn cannot_compile(sources: &Sources, targets: &[WantedTarget], error: Error) -> Error {
    let values: Vec<String> = sources.variant.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let variant = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    let module = &sources.module;
    error.below(format!("cannot compile kernel module `{module}`{variant} for {}", listed(targets)))
}

/// The targets as a sentence has them; of many the first.
fn listed(targets: &[WantedTarget]) -> String {
    /// How many targets are named.
    const NAMED: usize = 3;
    let names: Vec<String> = targets.iter().map(|wanted| format!("`{}`", wanted.target)).collect();
    match names.as_slice() {
        [] => "no target".to_string(),
        [only] => only.clone(),
        [first, others @ ..] if others.len() >= NAMED => {
            format!("{first} and {} other targets", others.len())
        }
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(name: &str) -> WantedTarget {
        WantedTarget { target: name.parse().unwrap(), presence: Presence::Required }
    }

    #[test]
    fn of_many_targets_the_first_is_named() {
        assert_eq!(listed(&[wanted("host")]), "`host`");
        let three = ["host", "spirv64", "opencl-c"].map(wanted);
        assert_eq!(listed(&three), "`host`, `spirv64` and `opencl-c`");
        let four = ["host", "spirv64", "opencl-c", "nvptx:sm_75"].map(wanted);
        assert_eq!(listed(&four), "`host` and 3 other targets");
    }
}
