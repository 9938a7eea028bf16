//! The host part of CUDA C++: functions that launch kernels with `<<<...>>>`, as objects for the program.
//!
//! clang compiles a file once more, for the CPU, and makes the calls that register its kernels with CUDA's runtime. In
//! place of images they hand over a token with the name of the kernel module, and all calls of the runtime go to the
//! functions of `offload-rt`, which selects an image for the device at the first launch. So the object does not depend on
//! the images, and of the targets it knows the architectures alone (`__CUDA_ARCH_LIST__`).
//!
//! Refused: what the runtime of `offload-rt` lacks, at build time and by name; and modules with variants, whose host
//! functions would be defined once for each.

use std::collections::BTreeSet;

use offload_format::Target;
use offload_format::launchers::Token;
use offload_ir::{HostPart, Interface};

use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::front_end;
use crate::compile::front_end::own_headers;
use crate::compile::front_end::reading::FrontEnd;
use crate::compile::remote::roots::{RELATIVE_PATHS, Roots};
use crate::compile::steps::action::{Arg, Step, texts};
use crate::compile::steps::check;
use crate::compile::targets::nvptx;
use crate::error::{self, Error, Result};
use crate::module::{self, Language, LanguageFamily, LauncherObject, SourceFile, Sources};
use crate::options::{Compiler, SpecForm};
use crate::targets::WantedTarget;

/// What nvcc includes for host functions by itself, beside the runtime's header.
const C_HEADERS: &str = "#include <assert.h>\n#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n";

/// Device functions are not emitted here, and nvcc overlooks there what the host's variant of a class (`#ifndef
/// __CUDA_ARCH__`) lacks. clang does where functions of the other side are concerned, with `-fgpu-defer-diag`, and takes a
/// constructor of a variable that is not in shared memory.
const SHARED_IS_INTERNAL: &str = "#undef __shared__\n#define __shared__ __attribute__((internal_linkage))\n";
/// clang refuses the former on an array that several templates declare.
const SHARED_IS_PLAIN: &str = "#undef __shared__\n#define __shared__\n";

/// The host part of each file of the module, whose kernels are compiled for `targets`; none unless the module has
/// launchers.
pub(super) fn objects(session: &Session<'_>, targets: &[WantedTarget]) -> Result<Vec<LauncherObject>> {
    if !session.sources.has_launchers() {
        return Ok(Vec::new());
    }
    refuse_unsuited(session.sources)?;
    let files = &session.sources.files;
    let archs = arch_list(session.sources, targets);
    error::all(session.context().jobs.map(files, |file| object(session, file, &archs)))
}

/// The values of `__CUDA_ARCH__` that kernels are compiled with, as nvcc lists them
/// (<https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#virtual-architecture-macros>). Host functions choose blocks
/// and shared memory by it.
fn arch_list(sources: &Sources, targets: &[WantedTarget]) -> String {
    let mut archs = BTreeSet::new();
    for wanted in targets {
        archs.insert(match &wanted.target {
            Target::Nvptx(sm) | Target::Cubin(sm) => u32::from(sm.number()).saturating_mul(10),
            _ => front_end::cuda_arch(sources),
        });
    }
    let archs: Vec<String> = archs.into_iter().map(|arch| arch.to_string()).collect();
    archs.join(",")
}

/// Refuses a module whose host part is not compiled, or would be more than once.
fn refuse_unsuited(sources: &Sources) -> Result<()> {
    let module = &sources.module;
    let family = module::family(&sources.files)?;
    if family != LanguageFamily::Cuda {
        let error = format!("the kernel module `{module}` has `launchers`, and is {family}");
        return Err(Error::new(error).with_hint("only host functions of CUDA C++ (.cu) launch kernels: leave `launchers` out, and launch from Rust"));
    }
    if sources.options.compiler.unwrap_or_default() != Compiler::Clang {
        let error = format!("the kernel module `{module}` has `launchers`, and another compiler than clang");
        return Err(Error::new(error).with_hint("leave `compiler` out, or `launchers`"));
    }
    if !sources.options.variants.is_empty() {
        let error = format!(
            "the kernel module `{module}` has `launchers` and variants: each would define the same host functions"
        );
        return Err(Error::new(error).with_hint(
            "make modules of the variants, with `defines`, whose host functions have names of their own",
        ));
    }
    Ok(())
}

fn object(session: &Session<'_>, file: &SourceFile, archs: &str) -> Result<LauncherObject> {
    let module = host_ir(session, file, archs)?;
    let text = module.read_text()?;
    refuse_lacking(file, &text)?;
    let rewritten = rewritten(session, file, &module)?;
    let symbols = Interface::parse(&text).defined.into_keys().map(str::to_string).collect();
    Ok(LauncherObject {
        object: codegen(session, &rewritten)?,
        symbols,
        needs_cpp_library: offload_ir::needs_cpp_library(&text),
    })
}

/// IR of the host part.
///
/// clang instantiates the bodies of kernels here too, where nvcc makes stubs of them. A body may need what its file defines
/// for device code alone (`#if __CUDA_ARCH__ >= 800`): a part that is refused is compiled once more with that macro.
fn host_ir(session: &Session<'_>, file: &SourceFile, archs: &str) -> Result<Blob> {
    let highest = archs.rsplit(',').next().unwrap_or_default();
    let as_device = format!("#define __CUDA_ARCH__ {highest}\n");
    let mut first_error = None;
    for shared in [SHARED_IS_INTERNAL, SHARED_IS_PLAIN] {
        for arch in ["", &as_device] {
            let action = front_end_action(session, file, archs, &format!("{shared}{arch}"))?;
            match session.front_end(&action) {
                Ok(module) => return Ok(module),
                Err(error) => first_error.get_or_insert(error),
            };
        }
    }
    Err(first_error.unwrap_or_else(|| Error::new("the host part was not compiled")))
}

/// Refuses calls of functions that offload-rt has not.
fn refuse_lacking(file: &SourceFile, module: &str) -> Result<()> {
    let missing = offload_ir::missing_runtime_functions(module);
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let error = format!(
        "the host part of `{}` calls {}, which programs with launchers lack",
        file.path.display(),
        names.join(", ")
    );
    Err(Error::new(error).with_hint("docs/languages.md lists the functions of CUDA's runtime that they have; keep what calls others in a file that nvcc compiles, or between `#ifdef` and `#endif`"))
}

/// IR with the token of the module.
fn rewritten(session: &Session<'_>, file: &SourceFile, module: &Blob) -> Result<Blob> {
    let env = session.env();
    let token =
        Token { package: &env.package, version: &env.version, module: &session.sources.module }.encode();
    let path = file.path.to_string_lossy();
    let part = HostPart { token: &token, file: session.sources.has_distinct_names().then_some(&*path) };
    let key = KeyBuilder::new("host part").part(&module.hash.0).part(format!("{part:?}").as_bytes());
    session
        .cache()
        .get_or(key.finish(), || Ok(offload_ir::host_part(&module.read_text()?, &part).into_bytes()))
}

fn codegen(session: &Session<'_>, module: &Blob) -> Result<Blob> {
    let fixed = ["-x", "ir", "-fPIC", "-ffunction-sections", "-fdata-sections", "-c", "-o"];
    let step = Step {
        name: "launchers",
        tool: &session.tools().llvm()?.clang,
        args: texts([target(session), format!("-O{}", session.env().profile.level)])
            .chain(texts(fixed))
            .chain([Arg::Output, Arg::Input(0)])
            .collect(),
        inputs: vec![(module, ".ll")],
        files: vec![],
    };
    session.step(&step, check::elf)
}

/// The compile of the host part, with lines for the preprocessor before the file.
fn front_end_action<'s>(
    session: &Session<'s>,
    file: &SourceFile,
    archs: &str,
    macros: &str,
) -> Result<FrontEnd<'s>> {
    let vendor = nvptx::host_headers(session)?;
    let has_header = !vendor.header.is_empty();
    let input = if has_header {
        Some(format!("{}{C_HEADERS}{macros}{}", vendor.header, front_end::include_line(&file.path)?))
    } else {
        None
    };
    let last = if has_header { Arg::Text("-".into()) } else { Arg::Text(file.path.clone().into()) };
    // Not an empty one: clang registers nothing then. The token takes the place of its content.
    let binary = ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", "/dev/null"];
    // The device part has shown the warnings.
    let host = ["--cuda-host-only", "-fPIC", "-w", "-fgpu-defer-diag"];
    // clang lists its default.
    let archs = ["-U__CUDA_ARCH_LIST__".to_string(), format!("-D__CUDA_ARCH_LIST__={archs}")];
    let debug: &[&str] =
        if session.env().profile.debug_info { &["-gline-tables-only", RELATIVE_PATHS] } else { &[] };
    Ok(FrontEnd {
        name: "host part",
        tool: &session.tools().llvm()?.clang,
        args: texts([target(session)])
            .chain(texts(vendor.flags))
            // Before the C library's, whose `assert` is no function of kernels.
            .chain(own_headers::flags(session)?)
            .chain(Roots::for_session(session).prefix_maps())
            .chain(front_end::flags(session.sources, Language::Cuda, SpecForm::Literal))
            .chain(texts(host))
            .chain(texts(archs))
            .chain(texts(binary))
            .chain(texts(debug.iter().copied()))
            .chain(front_end::front_end_output())
            .chain([last])
            .collect(),
        input,
    })
}

/// The program's system, by the name that rustc and clang share.
fn target(session: &Session<'_>) -> String {
    format!("--target={}", session.env().target)
}
