//! Code that was compiled elsewhere: by Triton, rust-gpu, a vendor's compiler.
//!
//! For each target the file that is for exactly that machine is taken as it is. Where there is none, SPIR-V goes
//! through ocloc and PTX through ptxas.

mod files;

use std::path::Path;

use offload_format::pack::KernelInfo;
use offload_format::{IntelArch, Limits, RegisterFile, SmArch, SpirvVersion, Target};
use offload_images::describe::Description;
use offload_images::spirv;

pub(crate) use self::files::Files;
use super::action::{Arg, Step};
use super::describe;
use super::unit::Unit;
use super::{Compiled, Session, cubin as ptxas_cubin, icpx, intel};
use crate::cache::Blob;
use crate::error::{Error, Result};
use crate::report;
use crate::source::Language;

pub(super) fn compile(session: &Session<'_>, target: &Target) -> Result<Compiled> {
    finish(session, target, bytes(session, target)?)
}

/// The image of `target` from a SPIR-V module: the module itself, or native code.
pub(super) fn from_spirv(session: &Session<'_>, target: &Target, module: Blob) -> Result<Compiled> {
    match target {
        Target::Intel(arch) => finish(session, target, native(session, arch, &module)?),
        _ => finish(session, target, (module, String::new())),
    }
}

fn finish(session: &Session<'_>, target: &Target, (raw, said): (Blob, String)) -> Result<Compiled> {
    let described = |content: &[u8]| described(target, (content, &said));
    let Description { format_version, aspects, kernels, .. } =
        session.workshop.files.with_content(&raw, described)?;
    Ok(Compiled { image: image(session, target, (format_version, kernels, aspects)), raw })
}

/// The record of an image, from its bytes and from what the tool that made it said.
fn described(target: &Target, (content, said): (&[u8], &str)) -> Result<Description> {
    let mut described = match content.starts_with(b"!<arch>") {
        // Members are read when ocloc made them; here they are taken as they are.
        true => Description::default(),
        false => describe::image(target, content)?,
    };
    match target {
        Target::Intel(arch) => report::add_ocloc(&mut described.kernels, (content, said), arch),
        _ => report::add_ptxas(&mut described.kernels, said),
    }
    Ok(described)
}

fn image(
    session: &Session<'_>,
    target: &Target,
    (format_version, kernels, aspects): (u32, Vec<KernelInfo>, offload_format::Aspects),
) -> offload_format::pack::NewImage {
    let image = Unit::whole(&[]).image(session, target.clone());
    offload_format::pack::NewImage { format_version, kernels, aspects, ..image }
}

/// The image, and what the tool that made it said.
fn bytes(session: &Session<'_>, target: &Target) -> Result<(Blob, String)> {
    match target {
        Target::Spirv64(version) => Ok((spirv_file(session, Some(*version))?, String::new())),
        Target::Nvptx(sm) => Ok((ptx_file(session, sm)?, String::new())),
        Target::Cubin(sm) => match one(session, Language::Cubin, |purpose| cubin_fits(purpose, sm))? {
            Some(file) => Ok((file, String::new())),
            None => assemble(session, sm),
        },
        Target::Amdgcn(arch) => {
            let file = one(session, Language::AmdCodeObject, |processor| processor == arch.to_string())?;
            Ok((file.ok_or_else(|| missing(session))?, String::new()))
        }
        Target::Intel(arch) => match one(session, Language::Ocloc, |_| true)? {
            Some(file) => Ok((file, String::new())),
            None => native(session, arch, &spirv_file(session, None)?),
        },
        _ => Err(missing(session)),
    }
}

/// The only file of `language` whose purpose `fits`; see [`Files::purpose`].
fn one(session: &Session<'_>, language: Language, fits: impl Fn(&str) -> bool) -> Result<Option<Blob>> {
    let mut found: Option<(&Path, Blob)> = None;
    for file in session.sources.files.iter().filter(|file| file.language == language) {
        let blob = read(session, &file.path)?;
        let purpose = session.workshop.files.purpose(language, &blob);
        if !fits(&purpose.map_err(|error| error.context(format!("`{}`", file.path.display())))?) {
            continue;
        }
        if let Some((other, _)) = found {
            let (a, b) = (other.display(), file.path.display());
            return Err(Error::new(format!("`{a}` and `{b}` are both for this target"))
                .with_hint("leave one out, or make two modules"));
        }
        found = Some((&file.path, blob));
    }
    Ok(found.map(|(_, blob)| blob))
}

pub(super) fn read(session: &Session<'_>, path: &Path) -> Result<Blob> {
    session.workshop.files.read(session, path)
}

fn spirv_file(session: &Session<'_>, version: Option<SpirvVersion>) -> Result<Blob> {
    // Every device that takes a version takes what is older.
    let fits = |word: &str| {
        let word: Option<u32> = word.parse().ok();
        version.is_none_or(|version| word.is_some_and(|word| word <= version.word()))
    };
    match one(session, Language::Spirv, fits)? {
        Some(file) => Ok(file),
        None => ir_of_syclbin(session, version),
    }
}

fn ir_of_syclbin(session: &Session<'_>, version: Option<SpirvVersion>) -> Result<Blob> {
    let file = one(session, Language::Syclbin, |_| true)?.ok_or_else(|| missing(session))?;
    let module = icpx::only_ir(session, &file)?;
    version.map_or(Ok(()), |version| icpx::taken_by(&module, version))?;
    Ok(module)
}

fn ptx_file(session: &Session<'_>, sm: &SmArch) -> Result<Blob> {
    one(session, Language::Ptx, |target| target == sm.to_string())?.ok_or_else(|| missing(session))
}

/// From the file for the newest architecture that `sm` can run.
fn assemble(session: &Session<'_>, sm: &SmArch) -> Result<(Blob, String)> {
    let files = session.sources.files.iter().filter(|file| file.language == Language::Ptx);
    let mut best: Option<(u16, Blob)> = None;
    for file in files {
        let blob = read(session, &file.path)?;
        let target = session.workshop.files.purpose(Language::Ptx, &blob)?;
        let Ok(Target::Nvptx(of)) = format!("nvptx:{target}").parse() else { continue };
        let runs = if of.suffix().is_some() { of == *sm } else { of.number() <= sm.number() };
        if runs && best.as_ref().is_none_or(|(number, _)| *number < of.number()) {
            best = Some((of.number(), blob));
        }
    }
    let (_, text) = best.ok_or_else(|| missing(session))?;
    let tool = session.finder.ptxas()?;
    let (args, inputs) = (ptxas_cubin::args(session, sm), vec![(&text, ".ptx")]);
    let step = Step { name: "ptxas", tool: &tool, args, inputs, files: vec![] };
    session.step_said(&step, |bytes| describe::image(&Target::Cubin(sm.clone()), bytes).map(drop))
}

fn cubin_fits(purpose: &str, sm: &SmArch) -> bool {
    let numbered = format!("sm_{}", sm.number());
    match purpose.strip_suffix('*') {
        Some(of_any_kind) => of_any_kind == numbered,
        None if sm.suffix() == Some('a') => purpose == format!("{numbered}a"),
        None => purpose == numbered,
    }
}

fn native(session: &Session<'_>, arch: &IntelArch, module: &Blob) -> Result<(Blob, String)> {
    let ocloc = session.finder.ocloc()?;
    session.env.depends_on(&ocloc.path);
    let args: Vec<Arg> = intel::args(arch, RegisterFile::Default);
    let step = Step { name: "ocloc", tool: &ocloc, args, inputs: vec![(module, ".spv")], files: vec![] };
    let wanted = spirv::Module::parse(&module.read()?, &Limits::default())?
        .kernels()
        .iter()
        .map(|entry| entry.name.clone())
        .collect::<Vec<_>>();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    session.step_said(&step, |bytes| super::check::intel(bytes, &wanted))
}

pub(super) fn missing(session: &Session<'_>) -> Error {
    let files: Vec<String> =
        session.sources.files.iter().map(|file| format!("`{}`", file.path.display())).collect();
    Error::new(format!("none of {} is for it, and it cannot be made from one", files.join(", ")))
        .with_hint("add a file for this target, or mark the target optional = true")
}
