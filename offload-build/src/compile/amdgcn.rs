//! `amdgcn:gfxNNN`: an AMD code object by LLVM's back end and lld.

use offload_format::pack::NewImage;
use offload_format::{AmdArch, Target};

use super::action::{Arg, Step, texts};
use super::gpu::{self, Backend};
use super::{Compiled, Scanned, Session, check, kernel_names};
use crate::cache::Blob;
use crate::error::{Error, Result};
use crate::ir::LocalArguments;

/// The work-item functions that libclc has wrong.
const SHIM: &str = include_str!("amdgcn_shim.cl");
/// libclc's file for AMD until release 22, and its directory since.
const LIBCLC: [&str; 2] = ["amdgcn-amd-amdhsa.bc", "amdgcn-amd-amdhsa-llvm"];

pub(super) fn compile(session: &Session<'_>, scanned: &[Scanned], arch: &AmdArch) -> Result<Compiled> {
    let named = |error: Error| error.context(format!("target `amdgcn:{arch}`"));
    let raw = code_object(session, scanned, arch).map_err(named)?;
    let mut image = NewImage::new(&session.sources.module, Target::Amdgcn(arch.clone()));
    image.kernels = gpu::records(scanned);
    Ok(Compiled { image, raw })
}

fn code_object(session: &Session<'_>, scanned: &[Scanned], arch: &AmdArch) -> Result<Blob> {
    let backend = Backend {
        name: "amdgcn",
        machine: machine(arch),
        shim: SHIM,
        // Modules of different versions are not linked.
        shim_flags: vec![version(arch)],
        libraries: vec![session.finder.libclc(&session.llvm, LIBCLC)?],
        local_arguments: LocalArguments::Kept,
        attributes: Default::default(),
    };
    let module = backend.module(session, scanned)?;
    let object = backend.codegen(session, (&module, &["-O2", "-c"]), check::amd_object)?;
    let tool = session.finder.paired(&session.llvm, "ld.lld", "OFFLOAD_LLD")?;
    let inputs = vec![(&object, ".o")];
    let step = Step { name: "AMD code object", tool: &tool, args: link_args(session), inputs, files: vec![] };
    let kernels = kernel_names(scanned);
    session.step(&step, |bytes| check::code_object(bytes, &kernels))
}

fn machine(arch: &AmdArch) -> Vec<String> {
    let processor = format!("-mcpu={arch}");
    ["--target=amdgcn-amd-amdhsa", &processor, &version(arch), "-nogpulib"].map(str::to_string).into()
}

/// Version 5 of the code object is the newest that drivers before ROCm 6.3 load; generic processors need 6.
fn version(arch: &AmdArch) -> String {
    format!("-mcode-object-version={}", if arch.is_generic() { 6 } else { 5 })
}

/// Line tables are for profiles with debug information; code is generated once for all profiles.
fn link_args(session: &Session<'_>) -> Vec<Arg> {
    let strip: &[&str] = if session.env.profile.debug_info { &[] } else { &["--strip-debug"] };
    let fixed = ["-m", "elf64_amdgpu", "--no-undefined", "-shared", "--build-id=none", "-o"];
    texts(strip.iter().copied()).chain(texts(fixed)).chain([Arg::Output, Arg::Input(0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_processors_need_the_newer_container() {
        let flags = |text: &str| {
            let Target::Amdgcn(arch) = text.parse().unwrap() else { panic!() };
            machine(&arch)
        };
        assert_eq!(flags("amdgcn:gfx90a:xnack+")[1..3], ["-mcpu=gfx90a:xnack+", "-mcode-object-version=5"]);
        assert_eq!(flags("amdgcn:gfx11-generic")[1..3], ["-mcpu=gfx11-generic", "-mcode-object-version=6"]);
    }
}
