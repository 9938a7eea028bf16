//! The first pass over every file: which kernels it has.

use std::collections::BTreeMap;
use std::path::Path;

use offload_format::{SpirvVersion, Target};

use super::action::{Arg, texts};
use super::gpu::Backend;
use super::unit::Scanned;
use super::{Session, amdgcn, nvptx, spirv};
use crate::error::{Error, Result};
use crate::ir;
use crate::source::{Family, SourceFile};

/// Runs the front end on every file. A source error is reported here, once, whatever the number of targets.
///
/// Portable sources are read as for SPIR-V; those of a vendor as for `first`, the first target of theirs.
pub(super) fn files(session: &Session<'_>, first: &Target) -> Result<Vec<Scanned>> {
    let backend = backend(session, first)?;
    let scanned = session.workshop.jobs.map(&session.sources.files, |file| file_of(session, &backend, file));
    let scanned = scanned.into_iter().collect::<Result<Vec<_>>>()?;
    distinct(&scanned)?;
    Ok(scanned)
}

fn backend(session: &Session<'_>, first: &Target) -> Result<Backend> {
    let family = session.sources.files.first().map(|file| file.language.family());
    match (family, first) {
        (Some(Family::Cuda), Target::Nvptx(sm) | Target::Cubin(sm)) => nvptx::backend(session, &[], sm),
        (Some(Family::Hip), Target::Amdgcn(arch)) => amdgcn::backend(session, &[], arch),
        _ => Ok(spirv::backend(SpirvVersion::default())),
    }
}

fn file_of(session: &Session<'_>, backend: &Backend, file: &SourceFile) -> Result<Scanned> {
    let path = session.env.manifest_dir.join(&file.path);
    if !path.is_file() {
        return Err(Error::new(format!("kernel source `{}` does not exist", path.display()))
            .with_hint("paths given to `Build::file` are relative to the crate's Cargo.toml"));
    }
    let ir = backend.front_end(session, file)?;
    let kernels = ir::kernels(&ir.read_text()?);
    // A file of a module of several may hold helpers alone.
    if kernels.is_empty() && session.sources.files.len() == 1 {
        return Err(Error::new(format!("`{}` has no kernel", path.display()))
            .with_hint("a kernel is a function marked `__kernel` (OpenCL C), `__global__` (CUDA, HIP) or `__gpu_kernel` (C with gpuintrin.h)"));
    }
    Ok(Scanned { file: file.clone(), ir, kernels })
}

/// Unoptimised IR as text, ready for the optimiser, with a dependency file.
pub(super) fn front_end_output() -> impl Iterator<Item = Arg> {
    let fixed = ["-O2", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-MD", "-MT", "out", "-MF"];
    texts(fixed).chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output])
}

/// As [`front_end_output`]: for HIP clang's driver takes no `-MF`, its inner compiler does.
pub(super) fn front_end_output_of_hip() -> impl Iterator<Item = Arg> {
    let fixed =
        ["-O2", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-Xclang", "-MT", "-Xclang", "out"];
    let deps = ["-Xclang", "-dependency-file", "-Xclang"];
    texts(fixed).chain(texts(deps)).chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output])
}

/// Two kernels of one name cannot be told apart in a module.
fn distinct(scanned: &[Scanned]) -> Result<()> {
    let mut seen: BTreeMap<&str, &Path> = BTreeMap::new();
    for file in scanned {
        for kernel in &file.kernels {
            if let Some(other) = seen.insert(&kernel.name, &file.file.path) {
                let (a, b) = (other.display(), file.file.path.display());
                let error = Error::new(format!("kernel `{}` is defined in `{a}` and in `{b}`", kernel.name));
                return Err(error.with_hint("rename one, or compile the files as two modules"));
            }
        }
    }
    match seen.is_empty() {
        false => Ok(()),
        true => {
            let files: Vec<String> =
                scanned.iter().map(|file| format!("`{}`", file.file.path.display())).collect();
            Err(Error::new(format!("there is no kernel in {}", files.join(", "))))
        }
    }
}
