//! The LLVM pipeline: a front end for each file, the kernels that it finds, a code generator for each target.

use std::collections::BTreeMap;
use std::path::Path;

use offload_format::{SpirvVersion, Target};

use crate::cache::Blob;
use crate::compile::Session;
use crate::compile::advice::gaps;
use crate::compile::session::{Scan, Scanned, Unit};
use crate::compile::targets::amdgcn;
use crate::compile::targets::cubin;
use crate::compile::targets::gpu::Backend;
use crate::compile::targets::host;
use crate::compile::targets::intel;
use crate::compile::targets::llvm_ir;
use crate::compile::targets::nvptx;
use crate::compile::targets::opencl_c;
use crate::compile::targets::ready;
use crate::compile::targets::spirv;
use crate::error::{self, Error, ErrorKind, Result};
use crate::module::{DeviceImage, Language, LanguageFamily, SourceFile};
use crate::targets::WantedTarget;

/// A module whose files the front end has read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScannedModule<'a> {
    pub(crate) scan: &'a Scan,
    pub(crate) units: &'a [Unit<'a>],
    /// All that it is compiled for.
    pub(crate) targets: &'a [WantedTarget],
}

impl ScannedModule<'_> {
    /// The images for one target.
    pub(crate) fn compile(&self, session: &Session<'_>, target: &Target) -> Result<Vec<DeviceImage>> {
        let whole = Unit::whole(self.scan);
        if *target != Target::OpenClC {
            gaps::refuse_lacking(self.scan)?;
        }
        if matches!(target, Target::Nvptx(_) | Target::Cubin(_) | Target::Amdgcn(_)) {
            gaps::refuse_images(session, self.scan)?;
        }
        gaps::refuse_sub_group_size(session, self.scan, target)?;
        match target {
            Target::Host(level) => Ok(vec![host::compile(session, &whole, *level)?]),
            Target::OpenClC => Ok(vec![opencl_c::compile(session, &whole)?]),
            _ => self.compile_units(session, target),
        }
    }

    fn compile_units(&self, session: &Session<'_>, target: &Target) -> Result<Vec<DeviceImage>> {
        let results =
            session.context().jobs.map(self.units, |unit| compile_unit(session, unit, target, self.targets));
        // The other parts of a split module do without what a device lacks: that is what splitting is for.
        let (lacking, built): (Vec<_>, Vec<_>) = results.into_iter().partition(|result| {
            self.units.len() > 1 && result.as_ref().is_err_and(|error| error.kind() == ErrorKind::MissingFp64)
        });
        match (built.is_empty(), lacking.into_iter().next()) {
            (true, Some(error)) => error,
            _ => Ok(built.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()),
        }
    }
}

/// The images of one unit for `target`, which is one of `targets`.
fn compile_unit(
    session: &Session<'_>,
    unit: &Unit<'_>,
    target: &Target,
    targets: &[WantedTarget],
) -> Result<Vec<DeviceImage>> {
    Ok(match target {
        Target::Intel(arch) => intel::compile(session, unit, arch)?,
        Target::Spirv64(version) => vec![spirv::compile(session, unit, *version)?],
        Target::Nvptx(sm) => vec![nvptx::compile(session, unit, sm)?],
        Target::Cubin(sm) => {
            let base = cubin::base(sm, targets);
            vec![cubin::compile(session, unit, cubin::CubinArch { sm, base: &base })?]
        }
        Target::Amdgcn(arch) => vec![amdgcn::compile(session, unit, arch)?],
        other => {
            let error = format!("this release of offload-build cannot compile for `{other}`");
            return Err(Error::new(error).with_hint(format!("remove `{other}` from the targets")));
        }
    })
}

/// Runs the front end on every file. A source error is reported here, once, whatever the number of targets.
///
/// Portable sources are read as for SPIR-V; those of a vendor as for `first`, the first target of theirs.
pub(crate) fn scan(session: &Session<'_>, first: &Target) -> Result<Scan> {
    let scanned = session.context().jobs.map(&session.sources.files, |file| {
        let backend = scanner(session, first, file)?;
        file_of(session, &backend, file)
    });
    let files = error::all(scanned)?;
    distinct(&files)?;
    Ok(Scan { files, libraries: libraries(session, first)? })
}

/// What the module imports. A library may be of a vendor's language where the module is portable.
fn libraries(session: &Session<'_>, first: &Target) -> Result<Vec<Blob>> {
    session
        .sources
        .libraries()
        .into_iter()
        .map(|library| {
            let of_library = session.for_library(library);
            backend(&of_library, first)?.library(&of_library)
        })
        .collect()
}

/// The library whose session this is as one module of IR for `target`; for `opencl-c` as for SPIR-V.
pub(crate) fn library(session: &Session<'_>, target: &Target) -> Result<Blob> {
    match target {
        Target::Nvptx(sm) | Target::Cubin(sm) => nvptx::backend(session, &[], sm)?.library(session),
        Target::Amdgcn(arch) => amdgcn::backend(session, &[], arch)?.library(session),
        _ => spirv::backend(SpirvVersion::default()).library(session),
    }
}

/// The back end whose front end reads `file`. C and C++ are read as for NVIDIA by a clang without `gpuintrin.h` for SPIR-V.
fn scanner(session: &Session<'_>, first: &Target, file: &SourceFile) -> Result<Backend> {
    let is_c = matches!(file.language, Language::C | Language::Cpp);
    if is_c && !session.tools().llvm()?.has_spirv_intrinsics() {
        return nvptx::backend_for_c(session);
    }
    backend(session, first)
}

fn backend(session: &Session<'_>, first: &Target) -> Result<Backend> {
    let family = session.sources.files.first().map(|file| file.language.family());
    match (family, first) {
        (Some(LanguageFamily::Cuda | LanguageFamily::Hip), Target::Nvptx(sm) | Target::Cubin(sm)) => {
            nvptx::backend(session, &[], sm)
        }
        (Some(LanguageFamily::Cuda | LanguageFamily::Hip), Target::Amdgcn(arch)) => {
            amdgcn::backend(session, &[], arch)
        }
        (Some(LanguageFamily::Cuda | LanguageFamily::Hip), Target::Host(_)) => {
            nvptx::backend_for_kernels(session)
        }
        (_, Target::Spirv64(version)) => Ok(spirv::backend(*version)),
        (_, Target::Intel(_)) => Ok(spirv::backend(SpirvVersion::default())),
        // Their own front ends declare the functions that they have.
        _ => Ok(spirv::backend(SpirvVersion::V1_3)),
    }
}

/// The IR of `file` with debug information, for `target`.
pub(crate) fn with_types(session: &Session<'_>, file: &SourceFile, target: &Target) -> Result<Blob> {
    let backend = scanner(session, target, file)?;
    match backend.front_end_with_types(session, file)? {
        Some(typed) => Ok(typed),
        None => backend.front_end(session, file),
    }
}

fn file_of(session: &Session<'_>, backend: &Backend, file: &SourceFile) -> Result<Scanned> {
    let path = session.root().join(&file.path);
    if !path.is_file() {
        return Err(Error::new(format!("kernel source `{}` does not exist", path.display()))
            .with_hint("paths given to `Build::file` are relative to the crate's Cargo.toml"));
    }
    let ir = backend.front_end(session, file)?;
    let mut kernels = offload_ir::kernels(&ir.read_text()?);
    if !kernels.is_empty()
        && let Some(typed) = backend.front_end_with_types(session, file)?
    {
        offload_ir::take_types(&mut kernels, &typed.read_text()?);
    }
    // A file of a module of several may hold helpers alone.
    if kernels.is_empty() && session.sources.files.len() == 1 {
        return Err(Error::new(format!("`{}` has no kernel", path.display()))
            .with_hint("a kernel is a function marked `__kernel` (OpenCL C), `__global__` (CUDA, HIP) or `__gpu_kernel` (C with gpuintrin.h)"));
    }
    let scanned = Scanned::new(file, ir, kernels);
    gaps::refuse_recursion(session, &scanned)?;
    Ok(scanned)
}

/// Refuses two kernels of one name, and a module without kernels.
fn distinct(scanned: &[Scanned]) -> Result<()> {
    let mut seen: BTreeMap<&str, &Path> = BTreeMap::new();
    for file in scanned {
        for kernel in &file.kernels {
            if let Some(other) = seen.insert(&kernel.name, &file.file.path) {
                let a = other.display();
                let b = file.file.path.display();
                let error = Error::new(format!("kernel `{}` is defined in `{a}` and in `{b}`", kernel.name));
                return Err(error.with_hint("rename one, or compile the files as two modules"));
            }
        }
    }
    if seen.is_empty() {
        let files: Vec<String> =
            scanned.iter().map(|file| format!("`{}`", file.file.path.display())).collect();
        return Err(Error::new(format!("there is no kernel in {}", files.join(", "))));
    }
    Ok(())
}

/// The images for `target`, one of `targets`, of what another compiler made.
pub(crate) fn compile_ir(
    session: &Session<'_>,
    target: &Target,
    targets: &[WantedTarget],
) -> Result<Vec<DeviceImage>> {
    let scan = fitting(session, target)?.by_settings(session, target);
    if scan.has_no_kernel() {
        return Ok(Vec::new());
    }
    let mut parts = Vec::new();
    for unit in Unit::split(&scan, session.sources.options.split.unwrap_or_default())? {
        parts.extend(compile_unit(session, &unit, target, targets)?);
    }
    Ok(parts)
}

/// The files for the triple of `target`.
fn fitting(session: &Session<'_>, target: &Target) -> Result<Scan> {
    let triple = match target {
        Target::Spirv64(_) | Target::Intel(_) => "spir",
        Target::Nvptx(_) | Target::Cubin(_) => "nvptx64",
        Target::Amdgcn(_) => "amdgcn",
        other => return Err(Error::new(format!("no compiler makes code for `{other}` from LLVM IR"))),
    };
    let files =
        session.sources.files.iter().map(|file| read_ir(session, file)).collect::<Result<Vec<_>>>()?;
    let fitting: Vec<Scanned> =
        files.into_iter().filter(|file| file.triple.starts_with(triple)).map(|file| file.scanned).collect();
    if fitting.iter().all(|file| file.kernels.is_empty()) {
        return Err(ready::missing(session).with_hint(format!(
            "the files have to be for a triple that starts with `{triple}`, with a kernel"
        )));
    }
    let libraries =
        session.sources.libraries().into_iter().map(|it| library(&session.for_library(it), target));
    Ok(Scan { files: fitting, libraries: libraries.collect::<Result<_>>()? })
}

/// A file that another compiler made.
struct ReadIr {
    scanned: Scanned,
    /// What it is for.
    triple: String,
}

/// A file as text with its kernels.
fn read_ir(session: &Session<'_>, file: &SourceFile) -> Result<ReadIr> {
    let ir = llvm_ir::text(session, file)?;
    let content = ir.read_text()?;
    let triple = content.lines().find_map(|line| line.strip_prefix("target triple = \"")?.strip_suffix('"'));
    let triple = triple.unwrap_or_default().to_string();
    let kernels = offload_ir::kernels(&content);
    Ok(ReadIr { scanned: Scanned::new(file, ir, kernels), triple })
}
