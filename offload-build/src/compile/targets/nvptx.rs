//! `nvptx:sm_NN`: PTX by LLVM's back end, in the lowest version that has the architecture.

pub(crate) mod toolkit;

use std::collections::BTreeMap;

use offload_format::pack::NewImage;
use offload_format::{Aspects, PtxVersion, SmArch, Target};
use offload_ir::{Interface, Kernel, LocalArguments};

use crate::cache::Blob;
use crate::compile::Session;
use crate::compile::front_end;
use crate::compile::front_end::opencl_features;
use crate::compile::front_end::own_headers;
use crate::compile::front_end::own_headers::hip::HipHeader;
use crate::compile::front_end::reading::HOST;
use crate::compile::linking::imports;
use crate::compile::session::Unit;
use crate::compile::steps::check;
use crate::compile::targets::gpu::{Backend, Codegen, ConstantArguments, DeviceOutput, Shim, ToLink, Vendor};
use crate::error::{Error, Result};
use crate::module::{DeviceImage, Language, Library};
use crate::options::SpecForm;
use crate::toolchain::LIBCLC_NVIDIA;

/// The functions of OpenCL C that libclc lacks or gets wrong.
const SHIM_SOURCE: &str = concat!(
    include_str!("../device/libclc_shim.cl"),
    include_str!("../device/nvptx_shim.cl"),
    include_str!("../device/nvptx_atomics.cl"),
    include_str!("../device/c11_atomics.cl"),
    include_str!("../device/c11_barriers.cl"),
    include_str!("../device/gpu_sub_groups.cl")
);
/// What CUDA C++ needs of CUDA's headers.
const CUDA_HEADER: &str = concat!(
    // Flags of the user's for warnings are of the user's files: these lines are of a header of the system's
    // (<https://gcc.gnu.org/onlinedocs/cpp/Preprocessor-Output.html>).
    "# 1 \"offload_cuda.h\" 1 3\n",
    include_str!("../device/cuda/include/offload_names_begin.h"),
    include_str!("../device/cuda/core.h"),
    include_str!("../device/cuda/target_nvptx.h"),
    include_str!("../device/cuda/nvptx_words.h"),
    include_str!("../device/cuda/functions.h"),
    include_str!("../device/cuda/atomics.h"),
    include_str!("../device/cuda/host_api.h"),
    include_str!("../device/cuda/textures.h"),
    include_str!("../device/cuda/textures_nvptx.h"),
    include_str!("../device/cuda/texture_functions.h"),
    include_str!("../device/cuda/include/offload_names_end.h"),
    "# 1 \"<stdin>\" 2\n"
);
/// What HIP C++ needs of HIP's headers.
const HIP_HEADER: HipHeader = HipHeader {
    before: concat!(
        "# 1 \"offload_hip.h\" 1 3\n",
        include_str!("../device/cuda/core.h"),
        include_str!("../device/cuda/target_nvptx.h"),
        include_str!("../device/cuda/nvptx_words.h"),
        include_str!("../device/cuda/functions.h"),
        include_str!("../device/cuda/atomics.h"),
    ),
    textures: concat!(
        include_str!("../device/cuda/textures_nvptx.h"),
        include_str!("../device/cuda/texture_functions.h")
    ),
};
/// The same, with the mathematics of libdevice in place of libclc's own, which is two to five times the code.
const SHIM_WITH_LIBDEVICE: &str = concat!(
    include_str!("../device/libclc_shim.cl"),
    include_str!("../device/nvptx_shim.cl"),
    include_str!("../device/nvptx_libdevice.cl"),
    include_str!("../device/nvptx_atomics.cl"),
    include_str!("../device/c11_atomics.cl"),
    include_str!("../device/c11_barriers.cl"),
    include_str!("../device/gpu_sub_groups.cl")
);

pub(crate) fn compile(session: &Session<'_>, unit: &Unit<'_>, sm: &SmArch) -> Result<DeviceImage> {
    let mut record = unit.image_record(session, Target::Nvptx(sm.clone()));
    record.format_version = Some(version(sm)?.word());
    if !session.sources.link_at_load() {
        return Ok(DeviceImage { record, bytes: ptx(session, unit, sm)? });
    }
    let backend = backend(session, &unit.kernels, sm)?;
    let ToLink { module, left } = backend.module_to_link(session, unit)?;
    let names: Vec<&str> = left.iter().map(|function| function.name.as_str()).collect();
    let bytes = text(session, &backend, &module, |text| check::ptx(text, &unit.names(), &names))?;
    record.imports = imports::providers(&left);
    if !record.imports.is_empty() {
        record.aspects = record.aspects | Aspects::LINKER;
    }
    Ok(DeviceImage { record, bytes })
}

/// The text for `sm` with all that it imports, from which cubins are made as well.
pub(crate) fn ptx(session: &Session<'_>, unit: &Unit<'_>, sm: &SmArch) -> Result<Blob> {
    let backend = backend(session, &unit.kernels, sm)?;
    let module = backend.module(session, unit)?;
    text(session, &backend, &module, |text| check::ptx(text, &unit.names(), &[]))
}

/// The image of the library whose session this is, to be linked when it is loaded.
pub(crate) fn library(session: &Session<'_>, library: &Library, sm: &SmArch) -> Result<DeviceImage> {
    let backend = backend(session, &[], sm)?;
    let module = backend.exporting(session, library)?;
    let ir = module.read_text()?;
    let exported = imports::exported(library, &Interface::parse(&ir))?;
    let bytes = text(session, &backend, &module, |text| check::ptx(text, &[], &[]))?;
    let mut record = NewImage::new(library.name(), Target::Nvptx(sm.clone()));
    record.exports = exported.into_iter().map(str::to_string).collect();
    record.format_version = Some(version(sm)?.word());
    record.aspects = Aspects::LINKER;
    Ok(DeviceImage { record, bytes })
}

/// PTX of `module`, which `check` has accepted.
fn text(
    session: &Session<'_>,
    backend: &Backend,
    module: &Blob,
    check: impl Fn(&[u8]) -> Result<()>,
) -> Result<Blob> {
    backend.codegen(session, Codegen { module, output: &["-O3", "-S"] }, check)
}

/// LLVM's back end for `sm`, with the attributes that `kernels` need.
pub(crate) fn backend(session: &Session<'_>, kernels: &[&Kernel], sm: &SmArch) -> Result<Backend> {
    let version = version(sm)?;
    session.tools().llvm()?.makes_code_for(&sm.to_string())?;
    let opencl = session.sources.has_opencl_functions();
    let libclc = opencl.then(|| session.tools().libclc(&LIBCLC_NVIDIA)).transpose()?;
    let libdevice = session.tools().libdevice().ok();
    let mut flags = cuda(sm, version);
    if session.sources.has_cuda() {
        flags.extend(own_headers::cuda_flags(session)?);
    }
    let mut limits = BTreeMap::new();
    for kernel in kernels {
        let text = attributes(session, kernel);
        if !text.is_empty() {
            limits.insert(kernel.name.clone(), text);
        }
    }
    Ok(Backend {
        name: "nvptx",
        front_end: machine(sm, version),
        opencl: opencl_features::for_nvptx(version),
        common: None,
        hip: Vendor { dialect: Language::Cuda, flags: flags.clone(), header: HIP_HEADER.text().into() },
        cuda: Vendor { dialect: Language::Cuda, flags, header: CUDA_HEADER.into() },
        cuda_sdk: wants_sdk(session)
            .then(|| toolkit::with_headers(session, cuda(sm, version)))
            .transpose()?,
        machine: [machine(sm, version), square_roots(session)?, loops()].concat(),
        shim: Shim {
            source: if libdevice.is_some() { SHIM_WITH_LIBDEVICE } else { SHIM_SOURCE },
            flags: Vec::new(),
            opencl: shim_flags(sm, version),
        },
        libraries: libclc.into_iter().chain(libdevice).collect(),
        spec: SpecForm::Literal,
        local_arguments: LocalArguments::Offsets,
        constant_arguments: ConstantArguments::Global,
        output: DeviceOutput::Runtime,
        is_ptx: true,
        attributes: limits,
    })
}

/// The front end that finds the kernels of CUDA C++ for the CPU, with the architecture that the sources see there.
pub(crate) fn backend_for_kernels(session: &Session<'_>) -> Result<Backend> {
    let name = format!("sm_{}", front_end::cuda_arch(session.sources) / 10);
    let sm = known(&name).ok_or_else(|| {
        let error = Error::new(format!("`cuda-arch` names `{name}`, which no GPU of NVIDIA is"));
        error.with_hint("`cuda-arch = 800` is the default")
    })?;
    let version = version(&sm)?;
    let mut flags = cuda(&sm, version);
    flags.extend(own_headers::cuda_flags(session)?);
    // As on the CPU.
    flags.push("-U__NVPTX__".to_string());
    let backend = backend(session, &[], &sm)?;
    // NVIDIA licenses its headers for its own GPUs alone.
    Ok(Backend {
        name: HOST,
        hip: Vendor { dialect: Language::Cuda, flags: flags.clone(), header: HIP_HEADER.text().into() },
        cuda: Vendor { dialect: Language::Cuda, flags, header: CUDA_HEADER.into() },
        cuda_sdk: None,
        ..backend
    })
}

/// The front end that finds the kernels of C and C++ where that for SPIR-V lacks `gpuintrin.h`.
pub(crate) fn backend_for_c(session: &Session<'_>) -> Result<Backend> {
    /// Every release that has the header has this one.
    const PROCESSOR: &str = "sm_75";
    let sm = known(PROCESSOR).ok_or_else(|| Error::new(format!("`{PROCESSOR}` is not known")))?;
    backend(session, &[], &sm)
}

fn known(name: &str) -> Option<SmArch> {
    SmArch::known().find(|sm| sm.to_string() == name)
}

/// Atomic functions are those of OpenCL C 2.0 as well.
fn shim_flags(sm: &SmArch, version: PtxVersion) -> Vec<String> {
    let fences = (sm.number() < 70).then(|| "-DOFFLOAD_FENCES".to_string());
    let system = (sm.number() >= 60).then(|| "-DOFFLOAD_SYSTEM_SCOPE".to_string());
    let std = "-cl-std=CL2.0".to_string();
    opencl_features::for_nvptx(version).into_iter().chain(fences).chain(system).chain([std]).collect()
}

/// What clang does not carry over from OpenCL C, and the limits that were asked for
/// (<https://llvm.org/docs/NVPTXUsage.html#function-attributes>).
fn attributes(session: &Session<'_>, kernel: &Kernel) -> String {
    let size = kernel.required_work_group.map(|[x, y, z]| format!("\"nvvm.reqntid\"=\"{x},{y},{z}\""));
    let registers = session.sources.options.registers_of(&kernel.name);
    let registers = registers.map(|count| format!("\"nvvm.maxnreg\"=\"{count}\""));
    size.into_iter().chain(registers).collect::<Vec<_>>().join(" ")
}

fn cuda(sm: &SmArch, PtxVersion { major, minor }: PtxVersion) -> Vec<String> {
    let feature = format!("--cuda-feature=+ptx{major}{minor}");
    vec![format!("--cuda-gpu-arch={sm}"), feature, "-nocudainc".to_string()]
}

/// The flags for square roots of CUDA C++ that are rounded to nearest, as nvcc's are without `--use_fast_math`: libdevice
/// has an approximation otherwise.
fn square_roots(session: &Session<'_>) -> Result<Vec<String>> {
    let is_fast = session.sources.flags.iter().any(|flag| flag == "-ffast-math");
    if !session.sources.has_cuda() || is_fast || !session.tools().llvm()?.has_reflection() {
        return Ok(Vec::new());
    }
    Ok(["-mllvm", "-nvvm-reflect-add=__CUDA_PREC_SQRT=1"].map(str::to_string).into())
}

/// What LLVM's passes make of loops, as nvcc's do.
///
/// Loop strength reduction adds induction variables, which ptxas makes itself where they pay. It counts them as one
/// register each; they are of 64 bits, and a kernel of more than 32 registers has half as many threads of blocks of 1,024.
///
/// A loop with a step that is not constant (`i += blockDim.x`) has a trip count that costs a division. Unrolled, it has
/// several loads in flight. LLVM's budget for trip counts is below a division, and its threshold for such loops,
/// a quarter of that for others, is below four times a call of `expf`.
fn loops() -> Vec<String> {
    [
        "-disable-lsr",
        "-scev-cheap-expansion-budget=16",
        "-unroll-max-count=4",
        "-unroll-partial-threshold=150",
    ]
    .into_iter()
    .flat_map(|flag| ["-mllvm".to_string(), flag.to_string()])
    .collect()
}

/// Whether the module or a library that it imports includes headers of the toolkit.
fn wants_sdk(session: &Session<'_>) -> bool {
    let libraries = session.sources.libraries().into_iter().map(|library| &library.sources);
    libraries.chain([session.sources]).any(|sources| sources.options.cuda_sdk == Some(true))
}

/// The headers for the host part of CUDA C++, which know no processor.
pub(crate) fn host_headers(session: &Session<'_>) -> Result<Vendor> {
    if session.sources.options.cuda_sdk == Some(true) {
        return toolkit::with_headers(session, vec!["-nocudainc".to_string()]);
    }
    let mut flags = vec!["-nocudainc".to_string()];
    flags.extend(newest_toolkit(session)?);
    flags.extend(own_headers::cuda_flags(session)?);
    Ok(Vendor { dialect: Language::Cuda, flags, header: CUDA_HEADER.into() })
}

/// The flags of the newest release of the toolkit that clang knows.
pub(crate) fn newest_toolkit(session: &Session<'_>) -> Result<[String; 2]> {
    toolkit::newest_version(session)
}

/// The version is always explicit: LLVM's default is too low for new architectures.
fn machine(sm: &SmArch, PtxVersion { major, minor }: PtxVersion) -> Vec<String> {
    let feature = format!("+ptx{major}{minor}");
    [
        "--target=nvptx64-nvidia-cuda",
        &format!("-march={sm}"),
        "-Xclang",
        "-target-feature",
        "-Xclang",
        &feature,
    ]
    .map(str::to_string)
    .into()
}

fn version(sm: &SmArch) -> Result<PtxVersion> {
    sm.min_ptx().ok_or_else(|| {
        let known: Vec<String> = SmArch::known().map(|sm| sm.to_string()).collect();
        Error::new(format!("the PTX version of `{sm}` is not known"))
            .with_hint(format!("known are {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_lowest_of_the_architecture() {
        let Target::Nvptx(sm) = "nvptx:sm_90a".parse().unwrap() else { panic!() };
        let machine = machine(&sm, version(&sm).unwrap());
        assert_eq!(machine[1], "-march=sm_90a");
        assert_eq!(machine[5], "+ptx80");
    }
}
