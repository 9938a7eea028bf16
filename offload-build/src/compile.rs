//! From kernel sources to verified device images, one or more for each target.

mod action;
mod amdgcn;
mod check;
mod cubin;
mod describe;
mod failure;
mod foreign;
mod gpu;
mod hipcc;
mod host;
mod icpx;
mod intel;
mod language;
mod library;
mod llvm_ir;
mod nvcc;
mod nvptx;

mod opencl_c;
mod processor;
mod ready;
mod scan;
mod session;
mod spirv;
mod strip;
mod supply;
mod unit;

use offload_format::pack::NewImage;
use offload_format::{Target, Variant};

pub(crate) use self::amdgcn::LIBCLC as LIBCLC_AMD;
pub use self::host::RUN_PREFIX;
pub(crate) use self::host::pocl;
pub(crate) use self::nvptx::LIBCLC as LIBCLC_NVIDIA;
pub(crate) use self::session::{Session, Workshop};
use self::unit::{Scanned, Unit};
use crate::cache::Blob;
use crate::config::{Presence, WantedTarget};
use crate::error::{Error, Result};
use crate::options::{Compiler, Options};
use crate::report;
use crate::source::{self, Family, Language, SourceFile};

/// The sources of one kernel module, in one variant, and how to read them.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    pub(crate) module: String,
    /// Empty for a module without variants.
    pub(crate) variant: Variant,
    pub(crate) files: Vec<SourceFile>,
    pub(crate) std: &'static str,
    /// Include directories, definitions and flags as clang takes them, in this order.
    pub(crate) flags: Vec<String>,
    pub(crate) options: Options,
}

impl Sources {
    /// The module and the values of its variant.
    fn name(&self) -> String {
        let values = self.variant.iter().map(|(name, value)| format!(" {name}={value}"));
        std::iter::once(self.module.clone()).chain(values).collect()
    }
}

/// An image and where its bytes are.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) image: NewImage,
    pub(crate) raw: Blob,
}

/// What became of the wanted targets.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) images: Vec<Compiled>,
    /// Targets that are left out, and why.
    pub(crate) skipped: Vec<(Target, String)>,
}

/// Compiles `sources` for every one of `targets` that its languages can be compiled for, or takes images that the
/// package brings along.
pub(crate) fn images(
    workshop: &Workshop<'_>,
    targets: &[WantedTarget],
    sources: &Sources,
) -> Result<Outcome> {
    let session = Session::new(workshop, sources);
    let family = source::family(&sources.files)?;
    let (served, mut outcome) = served(sources, targets);
    if served.is_empty() {
        return Err(nothing_fits(sources, family, targets));
    }
    let build = |left: &[WantedTarget]| Ok(strip::all(&session, built(&session, family, (targets, left))?));
    let results =
        supply::results(&session, &served, build).map_err(|error| failure::of(sources, &served, error))?;
    collect(&session, &served, results, &mut outcome)?;
    let budget = sources.options.spill_budget()?;
    outcome
        .images
        .iter()
        .try_for_each(|compiled| report::check_budget(workshop.env, budget, &compiled.image))?;
    Ok(outcome)
}

/// What becomes of each of `left`, which are some of the targets `all`.
fn built(
    session: &Session<'_>,
    family: Family,
    (all, left): (&[WantedTarget], &[WantedTarget]),
) -> Result<supply::Results> {
    let Some(first) = left.first() else { return Ok(Vec::new()) };
    let sources = session.sources;
    Ok(match route(family, sources)? {
        Route::Llvm => {
            let scanned = scan::files(session, &first.target)?;
            let units = unit::split(&scanned, sources.options.split.unwrap_or_default())?;
            each_target(session, left, |target| compile(session, (&scanned, &units), (all, target)))
        }
        Route::LlvmIr => each_target(session, left, |target| llvm_ir::compile(session, (all, target))),
        Route::Whole(compile) => each_target(session, left, |target| Ok(vec![compile(session, target)?])),
    })
}

/// Runs the front end alone, as for SPIR-V, or as for the first target of CUDA C++ and HIP C++. What other compilers
/// than clang compile, or what is compiled already, is not looked at.
pub(crate) fn syntax(
    workshop: &Workshop<'_>,
    targets: &[WantedTarget],
    sources: &Sources,
) -> Result<Outcome> {
    let family = source::family(&sources.files)?;
    let (served, outcome) = served(sources, targets);
    let first = served.first().ok_or_else(|| nothing_fits(sources, family, targets))?;
    if let Route::Llvm = route(family, sources)? {
        scan::files(&Session::new(workshop, sources), &first.target)
            .map_err(|error| failure::of(sources, &served, error))?;
    }
    Ok(outcome)
}

/// Compiles for all targets at once, and tells how far that is.
fn each_target(
    session: &Session<'_>,
    targets: &[WantedTarget],
    compile: impl Fn(&Target) -> Result<Vec<Compiled>> + Sync,
) -> supply::Results {
    let (progress, name) = (&session.workshop.progress, session.sources.name());
    targets.iter().for_each(|wanted| progress.planned(&name, &wanted.target));
    session.workshop.jobs.map(targets, |wanted| {
        let result = compile(&wanted.target);
        progress.done(&name, &wanted.target);
        result
    })
}

/// Who compiles a module.
enum Route {
    /// LLVM's front ends and code generators.
    Llvm,
    /// LLVM's code generators, for what another front end made.
    LlvmIr,
    /// One call makes the image of a target.
    Whole(fn(&Session<'_>, &Target) -> Result<Compiled>),
}

fn route(family: Family, sources: &Sources) -> Result<Route> {
    match (family, sources.options.compiler.unwrap_or_default()) {
        (Family::ReadyMade, _) if sources.files.iter().all(|file| file.language == Language::LlvmIr) => {
            Ok(Route::LlvmIr)
        }
        (Family::ReadyMade, _) => Ok(Route::Whole(ready::compile)),
        (_, Compiler::Clang) => Ok(Route::Llvm),
        (Family::Cuda, Compiler::Nvcc) => Ok(Route::Whole(nvcc::compile)),
        (Family::Hip, Compiler::Hipcc) => Ok(Route::Whole(hipcc::compile)),
        (Family::Portable, Compiler::Icpx) => Ok(Route::Whole(icpx::compile)),
        (_, Compiler::Icpx) => Err(Error::new(format!("icpx does not compile {family}"))
            .with_hint("leave `compiler` out for this module, or give it .cpp files")),
        (_, Compiler::Nvcc) => Err(Error::new(format!("nvcc does not compile {family} for GPUs"))
            .with_hint("leave `compiler` out for this module, or give it .cu files")),
        (_, Compiler::Hipcc) => Err(Error::new(format!("hipcc does not compile {family} for GPUs"))
            .with_hint("leave `compiler` out for this module, or give it .hip files")),
    }
}

/// The targets that the languages of `files` can be compiled for; the others are left out with the reason.
fn served(sources: &Sources, targets: &[WantedTarget]) -> (Vec<WantedTarget>, Outcome) {
    let (mut served, mut outcome) = (Vec::new(), Outcome::default());
    for wanted in targets {
        match unserved(sources, &wanted.target) {
            None => served.push(wanted.clone()),
            Some(file) => {
                let sycl = sources.options.compiler == Some(Compiler::Icpx);
                let language = if sycl { "SYCL C++".to_string() } else { file.language.to_string() };
                let reason = format!("{language} is not compiled for it");
                outcome.skipped.push((wanted.target.clone(), reason));
            }
        }
    }
    (served, outcome)
}

/// The file that keeps a module from being compiled for `target`. Of ready-made files one that serves is enough.
fn unserved<'a>(sources: &'a Sources, target: &Target) -> Option<&'a SourceFile> {
    let files = &sources.files;
    let sycl = sources.options.compiler == Some(Compiler::Icpx);
    let serves = |file: &SourceFile| match sycl {
        true => matches!(target, Target::Spirv64(_) | Target::Intel(_)),
        false => file.language.serves(target),
    };
    match source::family(files) {
        Ok(Family::ReadyMade) if files.iter().any(serves) => None,
        _ => files.iter().find(|file| !serves(file)),
    }
}

fn nothing_fits(sources: &Sources, family: Family, targets: &[WantedTarget]) -> Error {
    let language = sources.files.first().map(|file| file.language);
    let example = match (family, language) {
        (Family::Cuda, _) | (_, Some(Language::Ptx)) => "nvptx:sm_75",
        (Family::Hip, _) | (_, Some(Language::AmdCodeObject)) => "amdgcn:gfx90a",
        (_, Some(Language::Cubin)) => "cubin:sm_75",
        (_, Some(Language::Ocloc)) => "intel:pvc",
        _ => "spirv64",
    };
    let what =
        language.filter(|_| family == Family::ReadyMade).map_or(family.to_string(), |it| it.to_string());
    let configured: Vec<String> = targets.iter().map(|wanted| format!("`{}`", wanted.target)).collect();
    let configured = configured.join(", ");
    let error = format!(
        "none of the targets {configured} fits the kernel module `{}`, which is {what}",
        sources.module
    );
    Error::new(error).with_hint(format!("`cargo offload targets add {example}`"))
}

fn compile(
    session: &Session<'_>,
    (scanned, units): (&[Scanned], &[Unit<'_>]),
    (all, target): (&[WantedTarget], &Target),
) -> Result<Vec<Compiled>> {
    let whole = Unit::whole(scanned);
    match target {
        Target::Host(level) => Ok(vec![host::compile(session, &whole, *level)?]),
        Target::OpenClC => Ok(vec![opencl_c::compile(session, &whole)?]),
        _ => {
            let each = |unit: &Unit<'_>| compile_unit(session, unit, (all, target));
            let results = session.workshop.jobs.map(units, each);
            // The other parts of a split module do without what a device lacks: that is what splitting is for.
            let lacks = |result: &Result<Vec<Compiled>>| units.len() > 1 && intel::lacks_fp64(result);
            let (lacking, built): (Vec<_>, Vec<_>) = results.into_iter().partition(lacks);
            match (built.is_empty(), lacking.into_iter().next()) {
                (true, Some(error)) => error,
                _ => Ok(built.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()),
            }
        }
    }
}

fn compile_unit(
    session: &Session<'_>,
    unit: &Unit<'_>,
    (all, target): (&[WantedTarget], &Target),
) -> Result<Vec<Compiled>> {
    Ok(match target {
        Target::Intel(arch) => intel::compile(session, unit, arch)?,
        Target::Spirv64(version) => vec![spirv::compile(session, unit, *version)?],
        Target::Nvptx(sm) => vec![nvptx::compile(session, unit, sm)?],
        Target::Cubin(sm) => {
            let base = cubin::base(sm, all);
            vec![cubin::compile(session, unit, (sm, &base))?]
        }
        Target::Amdgcn(arch) => vec![amdgcn::compile(session, unit, arch)?],
        other => {
            let error = format!("this release of offload-build cannot compile for `{other}`");
            return Err(Error::new(error).with_hint(format!("`cargo offload targets remove {other}`")));
        }
    })
}

fn collect(
    session: &Session<'_>,
    targets: &[WantedTarget],
    results: supply::Results,
    outcome: &mut Outcome,
) -> Result<()> {
    for (wanted, result) in targets.iter().zip(results) {
        match (result, wanted.presence) {
            (Ok(compiled), _) => outcome.images.extend(compiled),
            (Err(error), _) if error.is_lost_entry() => return Err(error),
            (Err(error), Presence::Required) => {
                return Err(failure::of(session.sources, std::slice::from_ref(wanted), error));
            }
            (Err(error), Presence::Optional) => {
                session.env.warn(&format!("optional target `{}` is left out: {error}", wanted.target));
                outcome.skipped.push((wanted.target.clone(), error.to_string()));
            }
        }
    }
    Ok(())
}
