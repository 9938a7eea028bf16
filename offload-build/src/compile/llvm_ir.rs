//! LLVM bitcode or IR text that another compiler made, for the targets of its own triple.

use offload_format::Target;

use super::action::Step;
use super::unit::{self, Scanned};
use super::{Compiled, Session, check, compile_unit, gpu, ready};
use crate::cache::{Blob, KeyBuilder};
use crate::config::WantedTarget;
use crate::error::{Error, Result};
use crate::ir;
use crate::source::SourceFile;

/// The parts of the image of `target`, one of `all`.
pub(super) fn compile(
    session: &Session<'_>,
    (all, target): (&[WantedTarget], &Target),
) -> Result<Vec<Compiled>> {
    let files = fitting(session, target)?;
    let mut parts = Vec::new();
    for unit in unit::split(&files, session.sources.options.split.unwrap_or_default())? {
        parts.extend(compile_unit(session, &unit, (all, target))?);
    }
    Ok(parts)
}

/// The files for the triple of `target`.
fn fitting(session: &Session<'_>, target: &Target) -> Result<Vec<Scanned>> {
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
    if fitting.iter().all(|file| file.kernels.is_empty()) {
        return Err(ready::missing(session).with_hint(format!(
            "the files have to be for a triple that starts with `{triple}`, with a kernel"
        )));
    }
    Ok(fitting)
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

/// The file as IR text of the installed release; optimised or not, as it was. clang would take the module for one of its
/// default target, the linker keeps the module's own.
pub(super) fn text(session: &Session<'_>, file: &SourceFile) -> Result<Blob> {
    let raw = ready::read(session, &file.path)?;
    let ending = if raw.read()?.starts_with(b"BC") { ".bc" } else { ".ll" };
    let tool = session.finder.paired(session.llvm()?, "llvm-link", "OFFLOAD_LLVM_LINK")?;
    let inputs = vec![(&raw, ending)];
    let step = Step { name: "read IR", tool: &tool, args: gpu::link_args(1), inputs, files: vec![] };
    let text = session
        .step(&step, check::ir_text)
        .map_err(|error| error.context(format!("`{}`", file.path.display())))?;
    let key = KeyBuilder::new("IR of any code object 1").part(&text.hash.0).finish();
    session.cache.get_or(key, || Ok(any_code_object(&text.read_text()?).into_bytes()))
}

/// AMD's versions 5 and 6 of the code object have the same calling convention
/// (<https://llvm.org/docs/AMDGPUUsage.html#code-object-metadata>), so a module for one may become the other: the
/// code generator's command line says which. Under its own name the flag would keep libraries from being linked.
fn any_code_object(module: &str) -> String {
    const FLAG: &str = "!\"amdhsa_code_object_version\", i32 ";
    ["500", "600"].iter().fold(module.to_string(), |text, version| {
        text.replace(&format!("{FLAG}{version}"), &format!("!\"offload_code_object_version\", i32 {version}"))
    })
}

#[cfg(test)]
mod tests {
    use super::any_code_object;

    #[test]
    fn versions_with_one_calling_convention_are_exchangeable() {
        let flag = |name: &str, version: u32| format!("!0 = !{{i32 1, !\"{name}\", i32 {version}}}\n");
        let of = |version| any_code_object(&flag("amdhsa_code_object_version", version));
        assert_eq!(of(500), flag("offload_code_object_version", 500));
        assert_eq!(of(600), flag("offload_code_object_version", 600));
        assert_eq!(of(400), flag("amdhsa_code_object_version", 400));
    }
}
