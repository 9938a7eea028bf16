//! Ready-made code: output of Triton, rust-gpu or a vendor's compiler.
//!
//! For each target the file that is for exactly that machine is taken as it is. Where there is none, SPIR-V goes
//! through ocloc and PTX through ptxas.

use std::path::Path;

use offload_containers::syclbin;
use offload_format::pack::NewImage;
use offload_format::{IntelArch, Limits, RegisterFile, SmArch, SpirvVersion, Target};
use offload_images::describe::Description;
use offload_images::machine::{self, Mismatch};
use offload_images::{ImageFormat, spirv};

use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::session::{Scan, Unit};
use crate::compile::steps::action::Step;
use crate::compile::steps::check;
use crate::compile::targets::cubin as ptxas_cubin;
use crate::compile::targets::intel;
use crate::compile::targets::ready_ptx::{PtxFile, refusal};
use crate::error::{Error, Result};
use crate::module::{DeviceImage, Language};

/// An image's bytes.
struct ReadyImage {
    bytes: Blob,
    /// The output of the tool that made them; empty if none ran.
    printed: String,
}

impl ReadyImage {
    /// Code that is taken as it is.
    fn ready_made(bytes: Blob) -> ReadyImage {
        ReadyImage { bytes, printed: String::new() }
    }
}

pub(crate) fn compile(session: &Session<'_>, target: &Target) -> Result<DeviceImage> {
    finish(session, target, made(session, target)?)
}

/// The image of `target` from a SPIR-V module: the module itself, or native code.
pub(crate) fn from_spirv(session: &Session<'_>, target: &Target, module: Blob) -> Result<DeviceImage> {
    match target {
        Target::Intel(arch) => finish(session, target, native(session, arch, &module)?),
        _ => finish(session, target, ReadyImage::ready_made(module)),
    }
}

fn finish(
    session: &Session<'_>,
    target: &Target,
    ReadyImage { bytes, printed }: ReadyImage,
) -> Result<DeviceImage> {
    let Description { format_version, aspects, kernels, .. } =
        session.shared.files.with_content(&bytes, |content| described(target, content, &printed))?;
    let record = Unit::whole(&Scan::default()).image_record(session, target.clone());
    Ok(DeviceImage { record: NewImage { format_version, kernels, aspects, ..record }, bytes })
}

/// The record of an image, from its bytes and from the output of the tool that made it.
fn described(target: &Target, content: &[u8], printed: &str) -> Result<Description> {
    let Target::Intel(arch) = target else {
        let mut described = check::described(target, content)?;
        ptxas_cubin::add_ptxas(&mut described.kernels, printed);
        return Ok(described);
    };
    let image = machine::native_image(arch, content).map_err(|mismatch| Error::new(mismatch.to_string()))?;
    let member_of_archive = image.len() < content.len();
    let mut described = match ImageFormat::detect(image) {
        // Kernels use other resources on each device of a group, and images of other releases of ocloc cannot be read.
        _ if member_of_archive && arch.is_group() => Description::default(),
        None if member_of_archive => Description::default(),
        _ => check::described(target, image)?,
    };
    intel::add_ocloc(&mut described.kernels, image, printed, arch);
    Ok(described)
}

fn made(session: &Session<'_>, target: &Target) -> Result<ReadyImage> {
    match target {
        Target::Spirv64(version) => Ok(ReadyImage::ready_made(spirv_file(session, Some(*version))?)),
        Target::Nvptx(sm) => Ok(ReadyImage::ready_made(ptx_file(session, sm)?)),
        Target::Cubin(sm) => match one(session, Language::Cubin, |purpose| cubin_fits(purpose, sm))? {
            Some(file) => Ok(ReadyImage::ready_made(file)),
            None => assemble(session, sm),
        },
        Target::Amdgcn(arch) => {
            let file = one(session, Language::AmdCodeObject, |processor| processor == arch.to_string())?;
            Ok(ReadyImage::ready_made(file.ok_or_else(|| missing(session))?))
        }
        Target::Intel(arch) => match native_file(session, arch)? {
            Some(file) => Ok(ReadyImage::ready_made(file)),
            None if session.sources.files.iter().all(|file| file.language == Language::Ocloc) => {
                Err(missing_native(session, arch)?)
            }
            None => native(session, arch, &spirv_file(session, None)?),
        },
        _ => Err(missing(session)),
    }
}

/// The only file of `language` whose purpose `fits`; see [`ReadyFiles::purpose`](crate::compile::files::ReadyFiles::purpose).
fn one(session: &Session<'_>, language: Language, fits: impl Fn(&str) -> bool) -> Result<Option<Blob>> {
    only(session, language, |file| Ok(fits(&session.shared.files.purpose(language, file)?)))
}

/// The only file of `language` of which `fits` says yes.
fn only(
    session: &Session<'_>,
    language: Language,
    fits: impl Fn(&Blob) -> Result<bool>,
) -> Result<Option<Blob>> {
    let mut found: Option<(&Path, Blob)> = None;
    for file in session.sources.files.iter().filter(|file| file.language == language) {
        let blob = read(session, &file.path)?;
        if !fits(&blob).map_err(|error| error.context(format!("`{}`", file.path.display())))? {
            continue;
        }
        if let Some((other, _)) = found {
            let a = other.display();
            let b = file.path.display();
            return Err(Error::new(format!("`{a}` and `{b}` are both for this target"))
                .with_hint("leave one out, or make two modules"));
        }
        found = Some((&file.path, blob));
    }
    Ok(found.map(|(_, blob)| blob))
}

pub(crate) fn read(session: &Session<'_>, path: &Path) -> Result<Blob> {
    session.shared.files.read(session.context(), path)
}

fn spirv_file(session: &Session<'_>, version: Option<SpirvVersion>) -> Result<Blob> {
    match one(session, Language::Spirv, |word| is_taken_by(word, version))? {
        Some(file) => Ok(file),
        None => ir_of_syclbin(session, version),
    }
}

/// Whether devices of `version` take a module that begins with `word`: every one takes what is older.
fn is_taken_by(word: &str, version: Option<SpirvVersion>) -> bool {
    let word: Option<u32> = word.parse().ok();
    version.is_none_or(|version| word.is_some_and(|word| word <= version.word()))
}

fn ir_of_syclbin(session: &Session<'_>, version: Option<SpirvVersion>) -> Result<Blob> {
    let file = one(session, Language::Syclbin, |_| true)?.ok_or_else(|| missing(session))?;
    let module = only_ir(session, &file)?;
    version.map_or(Ok(()), |version| taken_by(&module, version))?;
    Ok(module)
}

/// The only image of ocloc for `arch`, or the only archive with one.
fn native_file(session: &Session<'_>, arch: &IntelArch) -> Result<Option<Blob>> {
    only(session, Language::Ocloc, |file| Ok(mismatch(session, arch, file)?.is_none()))
}

/// Why `file` is not for `arch`.
fn mismatch(session: &Session<'_>, arch: &IntelArch, file: &Blob) -> Result<Option<Mismatch>> {
    session.shared.files.with_content(file, |content| Ok(machine::native_image(arch, content).err()))
}

/// As [`missing`]; images of ocloc say for what they are.
fn missing_native(session: &Session<'_>, arch: &IntelArch) -> Result<Error> {
    let mut reasons = Vec::new();
    for file in &session.sources.files {
        if let Some(reason) = mismatch(session, arch, &read(session, &file.path)?)? {
            reasons.push(format!("`{}`: {reason}", file.path.display()));
        }
    }
    Ok(Error::new(format!("no file is for it: {}", reasons.join(", "))).with_hint(ADD_A_FILE))
}

fn ptx_file(session: &Session<'_>, sm: &SmArch) -> Result<Blob> {
    let file = one(session, Language::Ptx, |target| target == sm.to_string())?;
    file.ok_or_else(|| missing_ptx(session, sm))
}

/// As [`missing`]; files of PTX say for what they are, and so what can be done.
fn missing_ptx(session: &Session<'_>, sm: &SmArch) -> Error {
    let files = session.sources.files.iter().filter(|file| file.language == Language::Ptx);
    let there: Vec<PtxFile<'_>> = files
        .filter_map(|file| {
            let blob = read(session, &file.path).ok()?;
            PtxFile::new(&file.path, &session.shared.files.purpose(Language::Ptx, &blob).ok()?)
        })
        .collect();
    if there.is_empty() { missing(session) } else { refusal(&there, sm) }
}

/// From the file for the newest architecture that `sm` can run.
fn assemble(session: &Session<'_>, sm: &SmArch) -> Result<ReadyImage> {
    let files = session.sources.files.iter().filter(|file| file.language == Language::Ptx);
    let mut best: Option<(u16, Blob)> = None;
    for file in files {
        let blob = read(session, &file.path)?;
        let target = session.shared.files.purpose(Language::Ptx, &blob)?;
        let Ok(Target::Nvptx(of)) = format!("nvptx:{target}").parse() else { continue };
        let runs = if of.suffix().is_some() { of == *sm } else { of.number() <= sm.number() };
        if runs && best.as_ref().is_none_or(|(number, _)| *number < of.number()) {
            best = Some((of.number(), blob));
        }
    }
    let (_, text) = best.ok_or_else(|| missing_ptx(session, sm))?;
    let tool = session.tools().ptxas()?;
    let args = ptxas_cubin::args(session, sm);
    let inputs = vec![(&text, ".ptx")];
    let step = Step { name: "ptxas", tool: &tool, args, inputs, files: vec![] };
    let (bytes, printed) = session
        .step_with_output(&step, |bytes| check::described(&Target::Cubin(sm.clone()), bytes).map(drop))?;
    Ok(ReadyImage { bytes, printed })
}

fn cubin_fits(purpose: &str, sm: &SmArch) -> bool {
    let numbered = format!("sm_{}", sm.number());
    match purpose.strip_suffix('*') {
        Some(of_any_kind) => of_any_kind == numbered,
        None if sm.suffix() == Some('a') => purpose == format!("{numbered}a"),
        None => purpose == numbered,
    }
}

fn native(session: &Session<'_>, arch: &IntelArch, module: &Blob) -> Result<ReadyImage> {
    let device = intel::Device { arch, registers: RegisterFile::Default };
    let content = module.read()?;
    let parsed = spirv::Module::parse(&content, &Limits::default())?;
    let kernels: Vec<&str> = parsed.kernels().iter().map(|entry| entry.name.as_str()).collect();
    let (bytes, printed) = intel::native(session, device, module, &kernels)?;
    Ok(ReadyImage { bytes, printed })
}

/// The one SPIR-V module of a SYCLBIN.
pub(crate) fn only_ir(session: &Session<'_>, file: &Blob) -> Result<Blob> {
    let key = KeyBuilder::new("SPIR-V of a SYCLBIN").part(&file.hash.0).finish();
    session.cache().get_or(key, || {
        let content = file.read()?;
        let file = syclbin::parse(&content, &Limits::default())?;
        let modules = file.modules.iter().flat_map(|module| &module.ir);
        let modules: Vec<&[u8]> = modules.map(|module| module.bytes).collect();
        match modules.as_slice() {
            [only] => Ok(only.to_vec()),
            several => Err(Error::new(format!("the SYCLBIN holds {} modules, not one", several.len()))
                .with_hint("have its compiler not split it: `-fsycl-device-code-split=off`")),
        }
    })
}

pub(crate) fn taken_by(module: &Blob, version: SpirvVersion) -> Result<()> {
    let found = spirv::Module::parse(&module.read()?, &Limits::default())?.version();
    if found <= version.word() {
        return Ok(());
    }
    let minor = found >> 8 & 0xff;
    Err(Error::new(format!("the SYCLBIN has SPIR-V 1.{minor}"))
        .with_hint(format!("add the target `spirv64:v1.{minor}`")))
}

pub(crate) fn missing(session: &Session<'_>) -> Error {
    let files: Vec<String> =
        session.sources.files.iter().map(|file| format!("`{}`", file.path.display())).collect();
    Error::new(format!("none of {} is for it, and it cannot be made from one", files.join(", ")))
        .with_hint(ADD_A_FILE)
}

const ADD_A_FILE: &str = "add a file for this target, or mark the target optional = true";
