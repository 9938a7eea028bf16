//! What compilers are given on their command lines: languages, includes, outputs.

use std::path::Path;

use super::action::{Arg, texts};
use crate::error::{Error, Result};
use crate::module::Sources;
use crate::source::Language;

/// The language and the user's flags: the same for every target.
pub(super) fn flags(sources: &Sources, language: Language) -> impl Iterator<Item = Arg> {
    let std = cl_std(sources);
    let fixed: Vec<String> = match language {
        Language::OpenClC => vec!["-x".into(), "cl".into(), std, "-cl-kernel-arg-info".into()],
        Language::OpenClCpp => {
            ["-x", "clcpp", "-cl-std=clc++2021", "-cl-kernel-arg-info"].map(str::to_string).into()
        }
        // GNU's: gpuintrin.h has `asm`. Without a C library: there is none on a GPU, and headers of this machine's would be found otherwise.
        Language::C => ["-x", "c", "-std=gnu17", "-ffreestanding", "-nostdlibinc"].map(str::to_string).into(),
        Language::Cpp => {
            let rest = ["-ffreestanding", "-nostdlibinc", "-fno-exceptions", "-fno-rtti"];
            ["-x", "c++", "-std=gnu++20"].iter().chain(&rest).map(|flag| flag.to_string()).collect()
        }
        Language::Cuda => {
            let rest = ["--cuda-device-only", "-nocudalib", "-std=c++17", "-Wno-unknown-cuda-version"];
            ["-x", "cuda"].iter().chain(&rest).map(|flag| flag.to_string()).collect()
        }
        Language::Hip => {
            let rest =
                ["--cuda-device-only", "-nogpuinc", "-nogpulib", "--no-gpu-bundle-output", "-std=c++17"];
            // The hash that clang puts into names by default depends on the output's path.
            ["-x", "hip", "-fuse-cuid=none"].iter().chain(&rest).map(|flag| flag.to_string()).collect()
        }
        _ => vec!["-x".into(), "ir".into()],
    };
    texts(fixed).chain(texts(sources.flags.clone()))
}

/// The version of OpenCL C, as a flag.
pub(super) fn cl_std(sources: &Sources) -> String {
    format!("-cl-std={}", sources.options.std.unwrap_or_default().flag())
}

/// The line that includes `file`.
pub(super) fn include_line(file: &Path) -> Result<String> {
    Ok(format!("#include \"{}\"\n", quotable(file)?))
}

/// A path as it may stand between the quotes of an `#include`.
fn quotable(file: &Path) -> Result<&str> {
    let text = file.to_str().filter(|text| !text.contains(['"', '\n', '\\']));
    text.ok_or_else(|| Error::new(format!("the path `{}` cannot be written in an #include", file.display())))
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

/// What llvm-link is given: its output is text, which is rewritten afterwards.
pub(super) fn link_args(inputs: usize) -> Vec<Arg> {
    texts(["-S", "-o"]).chain([Arg::Output]).chain((0..inputs).map(Arg::Input)).collect()
}
