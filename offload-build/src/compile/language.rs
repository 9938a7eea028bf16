//! How each language is given to clang's front end.

use super::Sources;
use super::action::{Arg, texts};
use crate::source::Language;

/// The language and the user's flags: the same for every target.
pub(super) fn flags(sources: &Sources, language: Language) -> impl Iterator<Item = Arg> {
    let std = format!("-cl-std={}", sources.std);
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
