//! `spirv64`: LLVM's own SPIR-V back end.

use offload_format::pack::NewImage;
use offload_format::{SpirvVersion, Target};

use super::action::{Arg, FrontEnd, Step, texts};
use super::{Compiled, Scanned, Session, check, kernel_names, scan};
use crate::cache::Blob;
use crate::error::Result;

/// Functions of OpenCL C that the back end knows nothing of.
const SHIM: &str = include_str!("spirv_shim.cl");

pub(super) fn compile(session: &Session<'_>, scanned: &[Scanned], version: SpirvVersion) -> Result<Compiled> {
    let raw = module(session, scanned, version)?;
    let mut image = NewImage::new(&session.sources.module, Target::Spirv64(version));
    image.format_version = version.word();
    image.kernels = scanned.iter().flat_map(|file| &file.kernels).map(|kernel| kernel.record()).collect();
    Ok(Compiled { image, raw })
}

/// One SPIR-V module with the kernels of all files.
pub(super) fn module(session: &Session<'_>, scanned: &[Scanned], version: SpirvVersion) -> Result<Blob> {
    let linked = link(session, scanned)?;
    let kernels = kernel_names(scanned);
    let internal = internalize(session, &linked, &kernels)?;
    let step = Step {
        name: "SPIR-V",
        tool: &session.llvm.clang,
        args: codegen_args(version),
        inputs: vec![(&internal, ".bc")],
        files: session.spirv_val.iter().map(|tool| tool.path.clone()).collect(),
    };
    session.step(&step, |bytes| {
        check::spirv(bytes, &kernels)?;
        check::spirv_val(session, bytes)
    })
}

/// The IR of all files and the shim as one module.
fn link(session: &Session<'_>, scanned: &[Scanned]) -> Result<Blob> {
    let shim = session.front_end(&FrontEnd {
        name: "SPIR-V shim",
        tool: &session.llvm.clang,
        args: shim_args(),
        input: Some(SHIM.to_string()),
    })?;
    let tool = session.finder.paired(&session.llvm, "llvm-link", "OFFLOAD_LLVM_LINK")?;
    let inputs: Vec<_> = scanned.iter().map(|file| &file.ir).chain([&shim]).map(|ir| (ir, ".ll")).collect();
    let step = Step { name: "link", tool: &tool, args: link_args(inputs.len()), inputs, files: vec![] };
    session.step(&step, check::bitcode)
}

/// Hides everything but the kernels: since LLVM 21 clang emits a second copy of each kernel for calls from other
/// kernels, which doubles every image unless it is dropped before code generation.
fn internalize(session: &Session<'_>, linked: &Blob, kernels: &[&str]) -> Result<Blob> {
    let tool = session.finder.paired(&session.llvm, "opt", "OFFLOAD_OPT")?;
    let inputs = vec![(linked, ".bc")];
    let args = internalize_args(kernels);
    session.step(&Step { name: "internalize", tool: &tool, args, inputs, files: vec![] }, check::bitcode)
}

/// Without clang's own header: it declares as built-in what the shim defines.
fn shim_args() -> Vec<Arg> {
    let fixed = ["--target=spirv64-unknown-unknown", "-x", "cl", "-cl-std=CL1.2", "-cl-no-stdinc"];
    texts(fixed).chain(scan::front_end_output()).chain(texts(["-"])).collect()
}

pub(super) fn link_args(inputs: usize) -> Vec<Arg> {
    texts(["-o"]).chain([Arg::Output]).chain((0..inputs).map(Arg::Input)).collect()
}

fn internalize_args(kernels: &[&str]) -> Vec<Arg> {
    let public = format!("-internalize-public-api-list={}", kernels.join(","));
    let fixed = texts(["-passes=internalize,globaldce".to_string(), public, "-o".into()]);
    fixed.chain([Arg::Output, Arg::Input(0)]).collect()
}

fn codegen_args(version: SpirvVersion) -> Vec<Arg> {
    let target = format!("--target=spirv64{version}-unknown-unknown");
    let fixed = [&target, "-x", "ir", "-O2", "-Wno-override-module", "-c", "-o"];
    texts(fixed).chain([Arg::Output, Arg::Input(0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_in_the_triple() {
        let args = codegen_args(SpirvVersion::new(4).unwrap());
        assert_eq!(args[0], Arg::Text("--target=spirv64v1.4-unknown-unknown".into()));
    }
}
