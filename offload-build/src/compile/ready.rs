//! Code that was compiled elsewhere: by Triton, rust-gpu, a vendor's compiler.
//!
//! For each target the file that is for exactly that machine is taken as it is. Where there is none, SPIR-V goes
//! through ocloc and PTX through ptxas.

use std::path::Path;

use offload_format::pack::KernelInfo;
use offload_format::ptx::Ptx;
use offload_format::{IntelArch, RegisterFile, SmArch, SpirvVersion, Target, code_object, cubin, spirv};

use super::action::{Arg, Step};
use super::describe::{self, Described};
use super::unit::Unit;
use super::{Compiled, Session, cubin as ptxas_cubin, intel};
use crate::cache::{Blob, KeyBuilder};
use crate::error::{Error, Result};
use crate::source::Language;
use crate::{fs, report};

pub(super) fn compile(session: &Session<'_>, target: &Target) -> Result<Compiled> {
    let named = |error: Error| error.context(format!("target `{target}`"));
    finish(session, target, bytes(session, target).map_err(named)?)
}

/// The image of `target` from a SPIR-V module: the module itself, or native code.
pub(super) fn from_spirv(session: &Session<'_>, target: &Target, module: Blob) -> Result<Compiled> {
    match target {
        Target::Intel(arch) => {
            let made = native(session, arch, &module)
                .map_err(|error| error.context(format!("target `{target}`")))?;
            finish(session, target, made)
        }
        _ => finish(session, target, (module, String::new())),
    }
}

fn finish(session: &Session<'_>, target: &Target, (raw, said): (Blob, String)) -> Result<Compiled> {
    let named = |error: Error| error.context(format!("target `{target}`"));
    let content = raw.read()?;
    let archive = content.starts_with(b"!<arch>");
    let Described { format_version, aspects, mut kernels } = match archive {
        // Members are read when ocloc made them; here they are taken as they are.
        true => Described::default(),
        false => describe::image(target, &content).map_err(named)?,
    };
    match target {
        Target::Intel(arch) => report::add_ocloc(&mut kernels, (&content, &said), arch),
        _ => report::add_ptxas(&mut kernels, &said),
    }
    Ok(Compiled { image: image(session, target, (format_version, kernels, aspects)), raw })
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
        Target::Cubin(sm) => match one(session, Language::Cubin, |bytes| cubin_fits(bytes, sm))? {
            Some(file) => Ok((file, String::new())),
            None => assemble(session, sm),
        },
        Target::Amdgcn(arch) => {
            let fits = |bytes: &[u8]| Ok(code_object::info(bytes)?.target_id == arch.to_string());
            let file = one(session, Language::AmdCodeObject, fits)?;
            Ok((file.ok_or_else(|| missing(session))?, String::new()))
        }
        Target::Intel(arch) => match one(session, Language::Ocloc, |_| Ok(true))? {
            Some(file) => Ok((file, String::new())),
            None => native(session, arch, &spirv_file(session, None)?),
        },
        _ => Err(missing(session)),
    }
}

/// The only file of `language` that `fits`.
fn one(
    session: &Session<'_>,
    language: Language,
    fits: impl Fn(&[u8]) -> Result<bool>,
) -> Result<Option<Blob>> {
    let mut found: Option<(&Path, Blob)> = None;
    for file in session.sources.files.iter().filter(|file| file.language == language) {
        let blob = read(session, &file.path)?;
        let content = blob.read()?;
        let broken = |error: Error| error.context(format!("`{}`", file.path.display()));
        if !fits(&content).map_err(broken)? {
            continue;
        }
        if let Some((other, _)) = found {
            let (a, b) = (other.display(), file.path.display());
            return Err(Error::new(format!("`{a}` and `{b}` are both for this target"))
                .hint("leave one out, or make two modules"));
        }
        found = Some((&file.path, blob));
    }
    Ok(found.map(|(_, blob)| blob))
}

pub(super) fn read(session: &Session<'_>, path: &Path) -> Result<Blob> {
    let path = session.env.manifest_dir.join(path);
    session.env.depends_on(&path);
    let content = fs::read(&path)?;
    let key = KeyBuilder::new("file").part(&content).finish();
    session.cache.get_or(key, || Ok(content))
}

fn spirv_file(session: &Session<'_>, version: Option<SpirvVersion>) -> Result<Blob> {
    let fits = |bytes: &[u8]| {
        let found = spirv::Module::parse(bytes)?.version();
        // Every device that takes a version takes what is older.
        Ok(version.is_none_or(|version| found <= version.word()))
    };
    one(session, Language::Spirv, fits)?.ok_or_else(|| missing(session))
}

fn ptx_file(session: &Session<'_>, sm: &SmArch) -> Result<Blob> {
    let fits = |bytes: &[u8]| Ok(Ptx::parse(bytes)?.target() == sm.to_string());
    one(session, Language::Ptx, fits)?.ok_or_else(|| missing(session))
}

/// From the file for the newest architecture that `sm` can run.
fn assemble(session: &Session<'_>, sm: &SmArch) -> Result<(Blob, String)> {
    let files = session.sources.files.iter().filter(|file| file.language == Language::Ptx);
    let mut best: Option<(u16, Blob)> = None;
    for file in files {
        let blob = read(session, &file.path)?;
        let content = blob.read()?;
        let Ok(Target::Nvptx(of)) = format!("nvptx:{}", Ptx::parse(&content)?.target()).parse() else {
            continue;
        };
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

fn cubin_fits(bytes: &[u8], sm: &SmArch) -> Result<bool> {
    let found = cubin::info(bytes)?;
    let same = found.sm == u32::from(sm.number());
    // An old toolkit's file tells of `a`, a new one's may not; nothing tells of `f`.
    Ok(same && found.accelerated.is_none_or(|accelerated| accelerated == (sm.suffix() == Some('a'))))
}

fn native(session: &Session<'_>, arch: &IntelArch, module: &Blob) -> Result<(Blob, String)> {
    let ocloc = session.finder.ocloc()?;
    session.env.depends_on(&ocloc.path);
    let args: Vec<Arg> = intel::args(arch, RegisterFile::Default);
    let step = Step { name: "ocloc", tool: &ocloc, args, inputs: vec![(module, ".spv")], files: vec![] };
    let wanted = spirv::Module::parse(&module.read()?)?
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
        .hint("add a file for this target, or mark the target optional = true")
}
