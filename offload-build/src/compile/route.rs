//! Selection of the compiler of a module, and of the targets that its languages support.

use offload_format::Target;

use crate::compile::Session;
use crate::compile::linking::imports;
use crate::compile::targets::foreign;
use crate::compile::targets::host;
use crate::compile::targets::ready;
use crate::error::{Error, Result};
use crate::module::{
    self, DeviceImage, Language, LanguageFamily, Library, MissingTarget, SourceFile, Sources,
};
use crate::options::{Compiler, TargetKind};
use crate::targets::WantedTarget;

/// Who compiles a module.
pub(super) enum Route {
    /// LLVM's front ends and code generators.
    Llvm,
    /// LLVM's code generators, for what another front end made.
    LlvmIr,
    /// One call makes the image of a target.
    Whole(fn(&Session<'_>, &Target) -> Result<DeviceImage>),
}

pub(super) fn route(sources: &Sources) -> Result<Route> {
    let family = module::family(&sources.files)?;
    let route = route_of(family, sources)?;
    if let (Route::Whole(_), Some(import)) = (&route, sources.origin.imports.first()) {
        let error = format!(
            "`{}` imports the device library `{}` of {}, and is not compiled by clang",
            sources.module,
            import.name(),
            import.provider()
        );
        return Err(Error::new(error).with_hint("device libraries are linked as LLVM's bitcode: give the module sources, and leave `compiler` out"));
    }
    if let (Route::Whole(_) | Route::LlvmIr, Some(constant)) = (&route, sources.spec.first()) {
        let error = format!(
            "`{}` has the specialisation constant `{}`, and clang does not compile it from source",
            sources.module, constant.name
        );
        return Err(Error::new(error).with_hint(
            "clang defines them: give the module sources, and leave `compiler` out; or leave `spec` out",
        ));
    }
    let kept = sources.options.kernels.iter().find(|(_, options)| !options.targets.is_empty());
    if let (Route::Whole(_), Some((kernel, _))) = (&route, kept) {
        let error = format!(
            "`kernels.{kernel}.targets` of `{}` needs clang, which compiles one kernel of a file without another",
            sources.module
        );
        return Err(Error::new(error)
            .with_hint("leave `compiler` out, or compile the kernel as a module of its own, with `only`"));
    }
    Ok(route)
}

fn route_of(family: LanguageFamily, sources: &Sources) -> Result<Route> {
    match (family, sources.options.compiler.unwrap_or_default()) {
        (LanguageFamily::ReadyMade, _)
            if sources.files.iter().all(|file| file.language == Language::LlvmIr) =>
        {
            Ok(Route::LlvmIr)
        }
        (LanguageFamily::ReadyMade, _) => Ok(Route::Whole(ready::compile)),
        (_, Compiler::Clang) => Ok(Route::Llvm),
        (LanguageFamily::Cuda, Compiler::Nvcc) => Ok(Route::Whole(foreign::nvcc)),
        (LanguageFamily::Hip, Compiler::Hipcc) => Ok(Route::Whole(foreign::hipcc)),
        (LanguageFamily::Portable, Compiler::Icpx) => Ok(Route::Whole(foreign::icpx)),
        (_, Compiler::Icpx) => Err(Error::new(format!("icpx does not compile {family}"))
            .with_hint("leave `compiler` out for this module, or give it .cpp files")),
        (_, Compiler::Nvcc) => Err(Error::new(format!("nvcc does not compile {family} for GPUs"))
            .with_hint("leave `compiler` out for this module, or give it .cu files")),
        (_, Compiler::Hipcc) => Err(Error::new(format!("hipcc does not compile {family} for GPUs"))
            .with_hint("leave `compiler` out for this module, or give it .hip files")),
    }
}

/// The targets that a module can be compiled for, and the others.
pub(super) struct Served {
    pub(super) targets: Vec<WantedTarget>,
    pub(super) missing: Vec<MissingTarget>,
}

/// The targets that the languages of a module can be compiled for; the others are left out with the reason.
pub(super) fn served(session: &Session<'_>, targets: &[WantedTarget]) -> Result<Served> {
    let sources = session.sources;
    let family = module::family(&sources.files)?;
    let mut served = Served { targets: Vec::new(), missing: Vec::new() };
    for wanted in targets {
        let only = &sources.options.only;
        let is_left_out = TargetKind::for_target(&wanted.target).is_some_and(|kind| !only.contains(&kind));
        if !only.is_empty() && is_left_out {
            let kinds: Vec<String> = only.iter().map(|kind| format!("`{kind}`")).collect();
            let reason = format!("the module is for {} alone", kinds.join(", "));
            served.missing.push(MissingTarget { target: wanted.target.clone(), reason });
            continue;
        }
        if let Some(reason) = host::refusal(session.env(), &wanted.target) {
            session.env().warn(&format!("no images for `{}`: {reason}", wanted.target));
            served.missing.push(MissingTarget { target: wanted.target.clone(), reason });
            continue;
        }
        match unserved(sources, &wanted.target) {
            None => served.targets.push(wanted.clone()),
            Some(Unserved { file, library }) => {
                let language =
                    if is_sycl(sources) { "SYCL C++".to_string() } else { file.language.to_string() };
                let mut reason = format!("no compiler makes code for it from {language}");
                if let Some(library) = library {
                    reason.push_str(&format!(", in which {} has `{}`", library.provider(), library.name()));
                }
                served.missing.push(MissingTarget { target: wanted.target.clone(), reason });
            }
        }
    }
    if served.targets.is_empty() {
        let elsewhere = targets.iter().all(|wanted| host::refusal(session.env(), &wanted.target).is_some());
        return Err(match library_without(session, targets) {
            _ if elsewhere => only_host(session, targets),
            Some(error) => error,
            None => nothing_fits(sources, family, targets),
        });
    }
    Ok(served)
}

/// What keeps a module from being compiled for a target.
pub(super) struct Unserved<'a> {
    file: &'a SourceFile,
    /// The library whose file it is, if it is not the module's own.
    library: Option<&'a Library>,
}

/// The file that keeps a module from being compiled for `target`. Of ready-made files one that serves is enough.
pub(super) fn unserved<'a>(sources: &'a Sources, target: &Target) -> Option<Unserved<'a>> {
    let files = &sources.files;
    match module::family(files) {
        Ok(LanguageFamily::ReadyMade) if files.iter().any(|file| serves(sources, file, target)) => None,
        _ => {
            let own = files.iter().map(|file| Unserved { file, library: None });
            let imported = sources.libraries().into_iter().flat_map(|library| {
                library.sources.files.iter().map(move |file| Unserved { file, library: Some(library) })
            });
            own.chain(imported).find(|unserved| !serves(sources, unserved.file, target))
        }
    }
}

/// Whether the compiler of `sources` makes code for `target` of `file`.
fn serves(sources: &Sources, file: &SourceFile, target: &Target) -> bool {
    match sources.options.compiler {
        Some(Compiler::Icpx) => matches!(target, Target::Spirv64(_) | Target::Intel(_)),
        Some(Compiler::Hipcc) if !matches!(target, Target::Amdgcn(_)) => false,
        Some(Compiler::Nvcc) if !matches!(target, Target::Nvptx(_) | Target::Cubin(_)) => false,
        _ => file.language.serves(target),
    }
}

fn is_sycl(sources: &Sources) -> bool {
    sources.options.compiler == Some(Compiler::Icpx)
}

/// The error if a module has no target because of the language of a library that it imports.
fn library_without(session: &Session<'_>, targets: &[WantedTarget]) -> Option<Error> {
    let sources = session.sources;
    let (target, file, library) = targets.iter().find_map(|wanted| {
        let Unserved { file, library } = unserved(sources, &wanted.target)?;
        Some((&wanted.target, file, library?))
    })?;
    let error = format!(
        "the kernel module `{}` of {} has no target that all its sources reach: it imports `{}` of {}, in {}, of which no compiler makes code for `{target}`",
        sources.module,
        imports::who(session),
        library.name(),
        library.provider(),
        file.language
    );
    Some(
        Error::new(error).with_hint(
            match ["spirv64", "nvptx:sm_75", "amdgcn:gfx90a"]
                .iter()
                .find(|name| name.parse().is_ok_and(|target| unserved(sources, &target).is_none()))
            {
                Some(example) => format!("`cargo offload targets add {example}`"),
                None => format!(
                    "crate `{}` can export sources in C or OpenCL C, which reach all GPUs",
                    library.package
                ),
            },
        ),
    )
}

/// The error of a build for `host` alone on a system that has no such images.
fn only_host(session: &Session<'_>, targets: &[WantedTarget]) -> Error {
    let names: Vec<String> = targets.iter().map(|wanted| format!("`{}`", wanted.target)).collect();
    let names = names.join(", ");
    let error = format!(
        "programs for {} can have no image for {names}, and there is no other target",
        session.env().target
    );
    Error::new(error).with_hint("`cargo offload targets add spirv64`")
}

fn nothing_fits(sources: &Sources, family: LanguageFamily, targets: &[WantedTarget]) -> Error {
    let language = sources.files.first().map(|file| file.language);
    let of_family = match (family, language) {
        (LanguageFamily::Cuda, _) | (_, Some(Language::Ptx)) => "nvptx:sm_75",
        (LanguageFamily::Hip, _) | (_, Some(Language::AmdCodeObject)) => "amdgcn:gfx90a",
        (_, Some(Language::Cubin)) => "cubin:sm_75",
        (_, Some(Language::Ocloc)) => "intel:pvc",
        _ => "spirv64",
    };
    let example = sources.options.only.first().map_or(of_family, |kind| kind.example());
    let what = language
        .filter(|_| family == LanguageFamily::ReadyMade)
        .map_or(family.to_string(), |it| it.to_string());
    let configured: Vec<String> = targets.iter().map(|wanted| format!("`{}`", wanted.target)).collect();
    let configured = configured.join(", ");
    let error = format!(
        "none of the targets {configured} fits the kernel module `{}`, which is {what}",
        sources.module
    );
    Error::new(error).with_hint(format!("`cargo offload targets add {example}`"))
}
