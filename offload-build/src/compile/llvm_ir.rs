//! LLVM bitcode or IR text that another compiler made, for the targets of its own triple.

use offload_format::Target;

use super::action::{Arg, Step, texts};
use super::unit::{Scanned, Unit};
use super::{Compiled, Session, amdgcn, check, cubin, nvptx, ready, spirv};
use crate::cache::Blob;
use crate::error::{Error, Result};
use crate::ir;
use crate::source::SourceFile;

pub(super) fn compile(session: &Session<'_>, target: &Target) -> Result<Compiled> {
    let triple = match target {
        Target::Spirv64(_) | Target::Intel(_) => "spir",
        Target::Nvptx(_) | Target::Cubin(_) => "nvptx64",
        Target::Amdgcn(_) => "amdgcn",
        other => return Err(Error::new(format!("LLVM IR is not compiled for `{other}`"))),
    };
    let files =
        session.sources.files.iter().map(|file| scanned(session, file)).collect::<Result<Vec<_>>>()?;
    let fitting: Vec<Scanned> =
        files.into_iter().filter_map(|(file, of)| of.starts_with(triple).then_some(file)).collect();
    let unit = Unit::whole(&fitting);
    if unit.kernels.is_empty() {
        return Err(ready::missing(session)
            .hint(format!("the files have to be for a triple that starts with `{triple}`, with a kernel")));
    }
    match target {
        Target::Spirv64(version) => spirv::compile(session, &unit, *version),
        Target::Intel(_) => ready::from_spirv(
            session,
            target,
            spirv::module(session, &unit, offload_format::SpirvVersion::V1_2)?,
        ),
        Target::Nvptx(sm) => nvptx::compile(session, &unit, sm),
        Target::Cubin(sm) => cubin::compile(session, &unit, (sm, sm)),
        Target::Amdgcn(arch) => amdgcn::compile(session, &unit, arch),
        other => Err(Error::new(format!("LLVM IR is not compiled for `{other}`"))),
    }
}

/// A file as text with its kernels, and the triple that it is for.
fn scanned(session: &Session<'_>, file: &SourceFile) -> Result<(Scanned, String)> {
    let ir = text(session, file)?;
    let content = ir.read_text()?;
    let triple = content.lines().find_map(|line| line.strip_prefix("target triple = \"")?.strip_suffix('"'));
    let triple = triple.unwrap_or_default().to_string();
    let kernels = ir::kernels(&content);
    Ok((Scanned { file: file.clone(), ir, kernels }, triple))
}

/// The file as IR text of the installed release; optimised or not, as it was.
pub(super) fn text(session: &Session<'_>, file: &SourceFile) -> Result<Blob> {
    let raw = ready::read(session, &file.path)?;
    let ending = if raw.read()?.starts_with(b"BC") { ".bc" } else { ".ll" };
    let fixed =
        ["-x", "ir", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-Wno-override-module", "-o"];
    let step = Step {
        name: "read IR",
        tool: &session.llvm()?.clang,
        args: texts(fixed).chain([Arg::Output, Arg::Input(0)]).collect(),
        inputs: vec![(&raw, ending)],
        files: vec![],
    };
    session.step(&step, check::ir_text).map_err(|error| error.context(format!("`{}`", file.path.display())))
}
