//! `amdgcn:gfxNNN`: an AMD code object by LLVM's back end and lld.

use offload_format::{AmdArch, Target};
use offload_images::describe as read;

use super::action::{Arg, Step, texts};
use super::gpu::{Backend, Vendor};
use super::unit::Unit;
use super::{Compiled, Session, check, describe, processor};
use crate::cache::Blob;
use crate::error::Result;
use crate::ir::LocalArguments;
use crate::kernel::Kernel;

/// The functions that libclc lacks or gets wrong.
const SHIM: &str = concat!(include_str!("libclc_shim.cl"), include_str!("amdgcn_shim.cl"));
/// What HIP C++ needs of HIP's headers.
const HIP_HEADER: &str = include_str!("hip_shim.h");
/// libclc's file for AMD until release 22, and its directory since.
pub(crate) const LIBCLC: [&str; 2] = ["amdgcn-amd-amdhsa.bc", "amdgcn-amd-amdhsa-llvm"];

/// An old processor: its front end is like that of all later ones but the latest.
const COMMON: &str = "gfx900";

pub(super) fn compile(session: &Session<'_>, unit: &Unit<'_>, arch: &AmdArch) -> Result<Compiled> {
    let raw = code_object(session, unit, arch)?;
    let mut image = unit.image(session, Target::Amdgcn(arch.clone()));
    let described = read::code_object(&raw.read()?)?;
    for kernel in &mut image.kernels {
        if let Some(info) = described.kernels.iter().find(|info| info.name == kernel.name) {
            *kernel = describe::with_resources(kernel, info.clone());
        }
    }
    Ok(Compiled { image, raw })
}

fn code_object(session: &Session<'_>, unit: &Unit<'_>, arch: &AmdArch) -> Result<Blob> {
    let backend = backend(session, &unit.kernels, arch)?;
    let module = backend.module(session, unit)?;
    let object = backend.codegen(session, (&module, &["-O2", "-c"]), check::amd_object)?;
    let tool = session.finder.paired(session.llvm()?, "ld.lld", "OFFLOAD_LLD")?;
    let inputs = vec![(&object, ".o")];
    let step = Step { name: "AMD code object", tool: &tool, args: link_args(session), inputs, files: vec![] };
    let kernels = unit.names();
    session.step(&step, |bytes| check::code_object(bytes, arch, &kernels))
}

/// LLVM's back end for `arch`, with the register limits of `kernels`.
pub(super) fn backend(session: &Session<'_>, kernels: &[&Kernel], arch: &AmdArch) -> Result<Backend> {
    let opencl = session.sources.files.iter().any(|file| file.language.has_opencl_functions());
    let libclc = opencl.then(|| session.finder.libclc(session.llvm()?, LIBCLC)).transpose()?;
    let limits = kernels.iter().filter_map(|kernel| {
        let count = session.sources.options.registers_of(&kernel.name)?;
        Some((kernel.name.clone(), format!("\"amdgpu-num-vgpr\"=\"{count}\"")))
    });
    let hip = [format!("--offload-arch={arch}"), version(arch)].into();
    Ok(Backend {
        name: "amdgcn",
        front_end: machine(arch),
        common: if opencl { common(session, arch)? } else { None },
        vendor: Vendor { flags: hip, header: HIP_HEADER },
        machine: machine(arch),
        // Modules of different versions are not linked.
        shim: (SHIM, vec![version(arch)]),
        libraries: libclc.into_iter().collect(),
        local_arguments: LocalArguments::Kept,
        attributes: limits.collect(),
    })
}

/// The front end that stands for those of most processors, if it does for this one.
fn common(session: &Session<'_>, arch: &AmdArch) -> Result<Option<Vec<String>>> {
    let common = flags(COMMON, version(arch));
    Ok(processor::alike(session, [&common, &machine(arch)])?.then_some(common))
}

fn machine(arch: &AmdArch) -> Vec<String> {
    flags(&arch.to_string(), version(arch))
}

fn flags(processor: &str, version: String) -> Vec<String> {
    let target = "--target=amdgcn-amd-amdhsa".to_string();
    [target, format!("-mcpu={processor}"), version, "-nogpulib".to_string()].into()
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
