//! Front ends for the CPU: OpenCL C and C++ for OpenCL against PoCL's built-in functions, C and C++ against our own
//! `gpuintrin.h`.

use std::borrow::Cow;

use offload_ir::Kernel;

use super::cpu::Cpu;
use super::wrapper;
use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::front_end;
use crate::compile::front_end::own_headers;
use crate::compile::front_end::own_headers::hip::HipHeader;
use crate::compile::front_end::reading::{FrontEnd, HOST};
use crate::compile::linking::distinct_names::with_distinct_names;
use crate::compile::linking::foreign_code::without_foreign_code;
use crate::compile::linking::inline_functions;
use crate::compile::remote::roots::{RELATIVE_PATHS, Roots};
use crate::compile::session::Scanned;
use crate::compile::steps::action::{Arg, texts};
use crate::compile::targets::nvptx;
use crate::error::Result;
use crate::module::{Language, SourceFile};
use crate::options::SpecForm;

/// Headers of CUDA for the CPU.
const CUDA_HEADER: &str = concat!(
    "# 1 \"offload_cuda.h\" 1 3\n",
    include_str!("../../device/cuda/include/offload_names_begin.h"),
    include_str!("../../device/cuda/core.h"),
    include_str!("../../device/cuda/target_host.h"),
    include_str!("../../device/cuda/hip_math.h"),
    include_str!("../../device/cuda/intrinsics.h"),
    include_str!("../../device/cuda/rounding.h"),
    include_str!("../../device/cuda/words.h"),
    include_str!("../../device/cuda/warps.h"),
    include_str!("../../device/cuda/functions.h"),
    include_str!("../../device/cuda/atomics.h"),
    include_str!("../../device/cuda/host_api.h"),
    include_str!("../../device/cuda/textures.h"),
    include_str!("../../device/cuda/textures_host.h"),
    include_str!("../../device/cuda/texture_functions.h"),
    include_str!("../../device/cuda/include/offload_names_end.h"),
    "# 1 \"<stdin>\" 2\n"
);
/// Headers of HIP for the CPU.
const HIP_HEADER: HipHeader = HipHeader {
    before: concat!(
        "# 1 \"offload_hip.h\" 1 3\n",
        include_str!("../../device/cuda/core.h"),
        include_str!("../../device/cuda/target_host.h"),
        include_str!("../../device/cuda/hip_math.h"),
        include_str!("../../device/cuda/intrinsics.h"),
        include_str!("../../device/cuda/rounding.h"),
        include_str!("../../device/cuda/words.h"),
        include_str!("../../device/cuda/warps.h"),
        include_str!("../../device/cuda/functions.h"),
        include_str!("../../device/cuda/atomics.h"),
    ),
    textures: concat!(
        include_str!("../../device/cuda/textures_host.h"),
        include_str!("../../device/cuda/texture_functions.h")
    ),
};
/// The functions of mathematics that they call.
const CUDA_MATH: &str =
    concat!(include_str!("../../device/host_ocml.cl"), include_str!("../../device/cuda_ocml.cl"));
const ATOMICS: &str = include_str!("../../device/c11_atomics.cl");

/// One file, with a function of one work-item for each of its kernels.
pub(super) fn file_ir(session: &Session<'_>, file: &Scanned, cpu: &Cpu) -> Result<Blob> {
    let made = match file.file.language {
        Language::Cuda | Language::Hip => cuda_ir(session, &file.file, cpu, &[])?,
        Language::OpenClC => return written(session, &file.file, cpu, Some(wrapper::source(file)?), &[]),
        Language::OpenClCpp => written(session, &file.file, cpu, Some(wrapper::included(file)?), &[])?,
        _ => written(session, &file.file, cpu, None, &[])?,
    };
    let made = without_foreign_code(session, file, made)?;
    let key =
        KeyBuilder::new("host entries").part(&made.hash.0).part(format!("{:?}", file.kernels).as_bytes());
    session.cache().get_or(key.finish(), || {
        let mut text = made.read_text()?;
        if matches!(file.file.language, Language::Cuda | Language::Hip) {
            text = offload_ir::with_warp_synchronous_stores(&offload_ir::with_shared_memory(&text));
            text = offload_ir::with_variables(&text);
        }
        let text = offload_workgroup::merge_address_spaces(&text)?;
        let kernels: Vec<_> = file.kernels.iter().map(Kernel::for_work_groups).collect();
        Ok(offload_workgroup::add_work_item_functions(&text, &kernels)?.into_bytes())
    })
}

/// A file of CUDA C++ as clang writes it, with further `flags`.
pub(super) fn cuda_ir(session: &Session<'_>, file: &SourceFile, cpu: &Cpu, flags: &[&str]) -> Result<Blob> {
    let made = written(session, file, cpu, Some(cuda_source(session, file)?), flags)?;
    with_distinct_names(session, file, made)
}

/// `file`, or `input` in its place, as clang writes it.
fn written(
    session: &Session<'_>,
    file: &SourceFile,
    cpu: &Cpu,
    input: Option<String>,
    further: &[&str],
) -> Result<Blob> {
    let last = match input {
        Some(_) => Arg::Text("-".into()),
        None => Arg::Text(file.path.clone().into()),
    };
    inline_functions::front_end(session, file.language, |flags| {
        let flags = texts(flags.iter().chain(further).copied());
        // clang's mode for HIP compiles no device code for the CPU.
        let dialect = if file.language == Language::Hip { Language::Cuda } else { file.language };
        let args = args(session, dialect, cpu)?;
        session.front_end_result(&FrontEnd {
            name: HOST,
            tool: &session.tools().llvm()?.clang,
            args: flags.chain(args).chain([last.clone()]).collect(),
            input: input.clone(),
        })
    })
}

/// Whether IR calls atomic functions of OpenCL C 2.0 on pointers to no named memory: PoCL's library for CPUs, which is
/// compiled as OpenCL C 1.2, lacks them.
pub(super) fn has_generic_atomics(ir: &str) -> bool {
    ir.lines().any(|line| line.starts_with("declare ") && line.contains("PU9CLgenericVU7_Atomic"))
}

/// Those functions.
pub(super) fn generic_atomics(session: &Session<'_>, cpu: &Cpu) -> Result<Blob> {
    functions(session, cpu, "host atomics", ATOMICS.to_string())
}

/// The functions of mathematics of CUDA C++.
pub(super) fn cuda_math(session: &Session<'_>, cpu: &Cpu) -> Result<Blob> {
    functions(session, cpu, "host functions of CUDA", CUDA_MATH.to_string())
}

/// Functions in OpenCL C that stand beside PoCL's.
pub(super) fn functions(
    session: &Session<'_>,
    cpu: &Cpu,
    name: &'static str,
    source: String,
) -> Result<Blob> {
    let flags = ["-fPIC", "-fvisibility=hidden", "-x", "cl", "-cl-std=CL3.0"];
    session.front_end(&FrontEnd {
        name,
        tool: &session.tools().llvm()?.clang,
        args: cpu
            .flags()
            .chain(texts(flags))
            .chain(opencl_args(session, cpu)?)
            .chain(front_end::front_end_output())
            .chain(texts(["-"]))
            .collect(),
        input: Some(source),
    })
}

fn args(session: &Session<'_>, language: Language, cpu: &Cpu) -> Result<impl Iterator<Item = Arg>> {
    let of_language: Vec<Arg> = if language.has_opencl_functions() {
        opencl_args(session, cpu)?
    } else if language == Language::Cuda {
        cuda_args(session)?
    } else {
        // Functions with barriers are `convergent`, as in OpenCL C. A scalarised structure is recognised by its name.
        texts(["-fconvergent-functions", "-fno-discard-value-names"])
            .chain(own_headers::host_flags(session)?)
            .collect()
    };
    Ok(cpu
        .flags()
        // How vectors are passed is known to both sides of each call, which LLVM compiles together.
        .chain(texts(["-fPIC", "-fvisibility=hidden", "-Wno-psabi"]))
        .chain(of_language)
        .chain(Roots::for_session(session).prefix_maps())
        .chain(debug_args(session))
        .chain(front_end::flags(session.sources, language, SpecForm::Literal))
        .chain(texts((language == Language::Cuda).then_some("--cuda-host-only")))
        .chain(front_end::front_end_output()))
}

/// The text that is compiled in place of `file`. clang has an architecture of its own for the CPU.
fn cuda_source(session: &Session<'_>, file: &SourceFile) -> Result<String> {
    let arch = front_end::cuda_arch(session.sources);
    let include = front_end::include_line(&file.path)?;
    let header: Cow<'_, str> =
        if file.language == Language::Hip { HIP_HEADER.text().into() } else { CUDA_HEADER.into() };
    Ok(format!("#undef __CUDA_ARCH__\n#define __CUDA_ARCH__ {arch}\n{header}{include}"))
}

/// clang compiles the device functions of CUDA C++ for the CPU if it takes the CPU for the device.
fn cuda_args(session: &Session<'_>) -> Result<Vec<Arg>> {
    // clang defines `__NVPTX__` for the CPU, too.
    let device = [
        "-Xclang",
        "-fcuda-is-device",
        "-U__NVPTX__",
        "-nocudainc",
        "-fno-math-errno",
        "-fno-discard-value-names",
    ];
    let mut args: Vec<Arg> = texts(device).collect();
    args.extend(texts(nvptx::newest_toolkit(session)?));
    args.extend(texts(own_headers::cuda_flags(session)?));
    args.extend(own_headers::flags(session)?);
    Ok(args)
}

/// PoCL's functions have names of their own, so that none is taken for a function of the C library.
fn opencl_args(session: &Session<'_>, cpu: &Cpu) -> Result<Vec<Arg>> {
    let headers = session.tools().llvm()?.resource_dir.join("include");
    let mut args: Vec<Arg> = texts(["-cl-no-stdinc"])
        .chain(texts(cpu.opencl.iter().copied()))
        .chain(texts(cpu.features.iter()))
        .chain(own_headers::flags(session)?)
        .collect();
    for header in [cpu.pocl.renames.clone(), headers.join("opencl-c-base.h"), headers.join("opencl-c.h")] {
        args.extend(texts(["-include".into(), header.into_os_string()]));
    }
    Ok(args)
}

fn debug_args(session: &Session<'_>) -> impl Iterator<Item = Arg> {
    // Reports of checks name variables.
    let is_wanted = session.env().profile.debug_info || session.env().is_sanitized();
    let args: &[&str] = if is_wanted { &["-g", RELATIVE_PATHS] } else { &[] };
    texts(args.iter().copied())
}
