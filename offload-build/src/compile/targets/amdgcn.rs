//! `amdgcn:gfxNNN`: an AMD code object by LLVM's back end and lld, stripped where requested.

use std::collections::BTreeMap;

use offload_format::pack::{ArgKind, KernelInfo};
use offload_format::{AmdArch, Target};
use offload_images::{code_object as format, describe};
use offload_ir::{Kernel, LocalArguments};

use crate::cache::Blob;
use crate::compile::Session;
use crate::compile::front_end::opencl_features;
use crate::compile::front_end::own_headers;
use crate::compile::front_end::own_headers::hip::HipHeader;
use crate::compile::front_end::reading::AMDGCN;
use crate::compile::session::Unit;
use crate::compile::steps::action::{Arg, Step, texts};
use crate::compile::steps::chain::{Chain, Then};
use crate::compile::steps::check;
use crate::compile::targets::gpu::{Backend, Codegen, ConstantArguments, DeviceOutput, Shim, Vendor};
use crate::compile::targets::processor;
use crate::error::{Error, Result};
use crate::module::{DeviceImage, Language};
use crate::options::SpecForm;
use crate::toolchain::LIBCLC_AMD;

/// The functions that libclc lacks or gets wrong.
const SHIM_SOURCE: &str = concat!(
    include_str!("../device/libclc_shim.cl"),
    include_str!("../device/amdgcn_shim.cl"),
    include_str!("../device/amdgcn_media.cl"),
    include_str!("../device/c11_atomics.cl"),
    include_str!("../device/c11_barriers.cl"),
    include_str!("../device/gpu_sub_groups.cl")
);
/// The same with the functions of mathematics of CUDA C++.
const SHIM_WITH_OCML: &str = concat!(
    include_str!("../device/libclc_shim.cl"),
    include_str!("../device/amdgcn_shim.cl"),
    include_str!("../device/amdgcn_media.cl"),
    include_str!("../device/cuda_ocml.cl"),
    include_str!("../device/c11_atomics.cl"),
    include_str!("../device/c11_barriers.cl"),
    include_str!("../device/gpu_sub_groups.cl")
);
/// What CUDA C++ needs of CUDA's headers.
const CUDA_HEADER: &str = concat!(
    // As for NVIDIA.
    "# 1 \"offload_cuda.h\" 1 3\n",
    include_str!("../device/cuda/include/offload_names_begin.h"),
    include_str!("../device/cuda/core.h"),
    include_str!("../device/cuda/target_amdgcn.h"),
    include_str!("../device/cuda/hip_math.h"),
    include_str!("../device/cuda/intrinsics.h"),
    include_str!("../device/cuda/rounding.h"),
    include_str!("../device/cuda/words.h"),
    include_str!("../device/cuda/warps.h"),
    include_str!("../device/cuda/functions.h"),
    include_str!("../device/cuda/atomics.h"),
    include_str!("../device/cuda/host_api.h"),
    include_str!("../device/cuda/textures.h"),
    include_str!("../device/cuda/textures_amdgcn.h"),
    include_str!("../device/cuda/include/offload_names_end.h"),
    "# 1 \"<stdin>\" 2\n"
);
/// What HIP C++ needs of HIP's headers: the same, with warps that are waves, and HIP's names.
const HIP_HEADER: HipHeader = HipHeader {
    before: concat!(
        "# 1 \"offload_hip.h\" 1 3\n#define __CUDA_ARCH__ 800\n",
        include_str!("../device/cuda/core.h"),
        include_str!("../device/cuda/target_amdgcn.h"),
        include_str!("../device/cuda/hip_math.h"),
        include_str!("../device/cuda/intrinsics.h"),
        include_str!("../device/cuda/rounding.h"),
        include_str!("../device/cuda/words.h"),
        // HIP's is that of the device.
        "#define warpSize __offload_warp_size\n",
        include_str!("../device/cuda/warps.h"),
        "#undef warpSize\n",
        include_str!("../device/cuda/functions.h"),
        include_str!("../device/cuda/atomics.h"),
    ),
    textures: include_str!("../device/cuda/textures_amdgcn.h"),
};
/// An old processor: its front end is like that of all later ones but the latest.
const COMMON: &str = "gfx900";

pub(crate) fn compile(session: &Session<'_>, unit: &Unit<'_>, arch: &AmdArch) -> Result<DeviceImage> {
    let bytes = code_object(session, unit, arch)?;
    let mut record = unit.image_record(session, Target::Amdgcn(arch.clone()));
    let described = describe::code_object(&bytes.read()?)?;
    record.format_version = described.format_version;
    for kernel in &mut record.kernels {
        if let Some(info) = described.kernels.iter().find(|info| info.name == kernel.name) {
            *kernel = with_offsets(check::with_resources(kernel, info.clone()), info);
        }
    }
    Ok(DeviceImage { record, bytes })
}

/// `kernel` with the size of its local arguments where the image takes numbers for them: offsets into the dynamic shared
/// memory.
fn with_offsets(mut kernel: KernelInfo, image: &KernelInfo) -> KernelInfo {
    let taken = image.args.iter().flatten();
    for (arg, taken) in kernel.args.iter_mut().flatten().zip(taken) {
        if arg.kind == ArgKind::Local && taken.kind == ArgKind::Value {
            arg.size = taken.size;
        }
    }
    kernel
}

/// `image` as it is, or, for AMD, without symbol table, line tables and the compiler's name. Drivers find kernels
/// through the dynamic symbols and the metadata note, which stay.
pub(crate) fn stripped(session: &Session<'_>, image: DeviceImage) -> Result<DeviceImage> {
    let Target::Amdgcn(_) = image.record.target else { return Ok(image) };
    let tool = session.tools().llvm_strip()?;
    let before = format::info(&image.bytes.read()?)?;
    let args = texts(["--strip-all", "--remove-section=.comment", "-o"]);
    let args = args.chain([Arg::Output, Arg::Input(0)]).collect();
    let inputs = vec![(&image.bytes, ".hsaco")];
    let step = Step { name: "stripped AMD code object", tool: &tool, args, inputs, files: vec![] };
    let bytes = session.step(&step, |stripped| {
        if format::info(stripped)? == before {
            Ok(())
        } else {
            Err(Error::new("stripping changed the kernels of the code object"))
        }
    })?;
    Ok(DeviceImage { bytes, ..image })
}

fn code_object(session: &Session<'_>, unit: &Unit<'_>, arch: &AmdArch) -> Result<Blob> {
    let backend = backend(session, &unit.kernels, arch)?;
    let module = backend.module(session, unit)?;
    let codegen = Codegen { module: &module, output: &["-O2", "-c"] };
    let functions = backend.functions(session, &module)?;
    let tool = session.tools().lld()?;
    let then = Then { name: "AMD code object", tool: &tool, args: link_args(session), ending: ".o" };
    let first = backend.codegen_step(session, codegen, &functions)?;
    let chain = Chain { first, check: check::amd_object, then };
    let kernels = unit.names();
    session.chain(&chain, |bytes| check::code_object(bytes, arch, &kernels))
}

/// LLVM's back end for `arch`, with the register limits of `kernels`.
pub(crate) fn backend(session: &Session<'_>, kernels: &[&Kernel], arch: &AmdArch) -> Result<Backend> {
    session.tools().llvm()?.makes_code_for(&arch.to_string())?;
    let opencl = session.sources.has_opencl_functions();
    let cuda = session.sources.has_cuda();
    let libclc = (opencl || cuda).then(|| session.tools().libclc(&LIBCLC_AMD)).transpose()?;
    let mut limits = BTreeMap::new();
    for kernel in kernels {
        if let Some(count) = session.sources.options.registers_of(&kernel.name) {
            limits.insert(kernel.name.clone(), format!("\"amdgpu-num-vgpr\"=\"{count}\""));
        }
    }
    let hip = [format!("--offload-arch={arch}"), version(arch)];
    let vendor = if cuda { Some(self::cuda(session, &hip)?) } else { None };
    Ok(Backend {
        name: AMDGCN,
        front_end: machine(arch),
        opencl: opencl_features::for_amdgcn(),
        common: if opencl { common(session, arch)? } else { None },
        hip: match &vendor {
            Some(cuda) => Vendor { header: HIP_HEADER.text().into(), ..cuda.clone() },
            None => Vendor::unserved(Language::Hip),
        },
        cuda: vendor.unwrap_or_else(|| Vendor::unserved(Language::Cuda)),
        // NVIDIA licenses its headers for its own GPUs alone: https://docs.nvidia.com/cuda/eula/ (2.1).
        cuda_sdk: None,
        machine: machine(arch),
        // Modules of different versions are not linked.
        shim: Shim {
            source: if cuda { SHIM_WITH_OCML } else { SHIM_SOURCE },
            flags: vec![version(arch)],
            opencl: shim_flags(),
        },
        libraries: libclc.into_iter().collect(),
        spec: SpecForm::Literal,
        local_arguments: LocalArguments::Offsets,
        constant_arguments: ConstantArguments::Kept,
        output: DeviceOutput::Runtime,
        is_ptx: false,
        attributes: limits,
    })
}

/// CUDA C++ as clang reads HIP C++, with the processor's flags of that: clang's driver compiles none for AMD.
fn cuda(session: &Session<'_>, hip: &[String]) -> Result<Vendor> {
    let mut flags = hip.to_vec();
    flags.extend(own_headers::cuda_flags(session)?);
    // `std::complex` and placement `new` for kernels, which clang's driver leaves out together with ROCm's headers.
    let wrappers = session.tools().llvm()?.resource_dir.join("include/cuda_wrappers");
    flags.extend(["-isystem".to_string(), wrappers.display().to_string()]);
    Ok(Vendor { dialect: Language::Hip, flags, header: CUDA_HEADER.into() })
}

/// Atomic functions are those of OpenCL C 2.0 as well.
fn shim_flags() -> Vec<String> {
    std::iter::once("-cl-std=CL2.0".to_string()).chain(opencl_features::for_amdgcn()).collect()
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
    let strip: &[&str] = if session.env().profile.debug_info { &[] } else { &["--strip-debug"] };
    let fixed = ["-m", "elf64_amdgpu", "--no-undefined", "-shared", "--build-id=none", "-o"];
    texts(strip.iter().copied()).chain(texts(fixed)).chain([Arg::Output, Arg::Input(0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_processors_need_the_newer_container() {
        for (target, flags) in [
            ("amdgcn:gfx90a:xnack+", ["-mcpu=gfx90a:xnack+", "-mcode-object-version=5"]),
            ("amdgcn:gfx11-generic", ["-mcpu=gfx11-generic", "-mcode-object-version=6"]),
        ] {
            let Target::Amdgcn(arch) = target.parse().unwrap() else { panic!() };
            assert_eq!(machine(&arch)[1..3], flags);
        }
    }
}
