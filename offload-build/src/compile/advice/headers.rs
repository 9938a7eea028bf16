//! Hints for missing headers: the package that has the header, and the option that finds it.

use crate::compile::Session;
use crate::error::{Error, ErrorKind};
use crate::module::{self, LanguageFamily};
use crate::options::Compiler;

/// The part of the installer that has the headers of a toolkit.
const INSTALL: &str = "`cargo offload toolchain install cuda-headers`";

/// Who ships a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// A CUDA toolkit, in this package of Python's.
    Cuda(&'static str),
    /// A CUDA toolkit, for functions that run on the CPU.
    CudaHost,
    Hip,
    /// A C or C++ library, which no GPU has.
    C,
}

/// The devices that code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    Nvidia,
    /// AMD's GPUs and the CPU, for which NVIDIA does not license its headers.
    Others,
}

/// The options of a module that a hint depends on.
#[derive(Debug)]
struct Case<'a> {
    module: &'a str,
    devices: Devices,
    compiler: Option<Compiler>,
    cuda_sdk: bool,
    /// The CUDA toolkit of this machine.
    toolkit: Option<String>,
    /// Whether `toolchain install` brought it.
    is_installed: bool,
}

/// `error`, with what helps if a header was not found.
pub(crate) fn explained(session: &Session<'_>, devices: Devices, error: Error) -> Error {
    let header = missing(error.message()).filter(|_| error.kind() == ErrorKind::Tool);
    let Some(header) = header.filter(|_| error.hint().is_none()).map(str::to_string) else { return error };
    let sources = session.sources;
    let Some(origin) = origin(&header) else { return error };
    let is_vendors = matches!(module::family(&sources.files), Ok(LanguageFamily::Cuda | LanguageFamily::Hip));
    if origin != Origin::C && !is_vendors {
        let text =
            format!("`{header}` is for CUDA C++ or HIP C++: files that include it are called .cu or .hip");
        return error.with_hint(text);
    }
    let toolkit = session.tools().cuda_sdk().ok();
    let folder = session.env().toolchain_folder();
    let is_installed = match (&toolkit, folder) {
        (Some(root), Some(folder)) => root.starts_with(folder),
        _ => false,
    };
    let case = Case {
        module: &sources.module,
        devices,
        compiler: sources.options.compiler,
        cuda_sdk: sources.options.cuda_sdk == Some(true),
        toolkit: toolkit.map(|root| root.display().to_string()),
        is_installed,
    };
    error.with_hint(case.hint(&header, origin))
}

/// The header that clang or gcc misses.
fn missing(printed: &str) -> Option<&str> {
    printed.lines().find_map(|line| {
        let (_, text) = line.split_once("error: ")?;
        let clang = text.strip_prefix('\'').and_then(|text| text.strip_suffix("' file not found"));
        clang.or_else(|| text.strip_suffix(": No such file or directory"))
    })
}

fn origin(header: &str) -> Option<Origin> {
    const C: [&str; 14] = [
        "assert.h",
        "cassert",
        "cmath",
        "cstdint",
        "cstdio",
        "cstdlib",
        "cstring",
        "iostream",
        "math.h",
        "stdio.h",
        "stdlib.h",
        "string.h",
        "type_traits",
        "vector",
    ];
    const RUNTIME: [&str; 9] = [
        "cuda",
        "cooperative_groups",
        "device_",
        "driver_types.h",
        "host_defines.h",
        "math_constants.h",
        "mma.h",
        "sm_",
        "vector_",
    ];
    const HOST: [&str; 5] = ["cublas", "cudnn", "cufft", "cusolver", "cusparse"];
    match header {
        _ if C.contains(&header) => Some(Origin::C),
        _ if starts_with(header, &["hip/", "hip_"]) => Some(Origin::Hip),
        _ if starts_with(header, &["cuda/", "cub/", "thrust/", "nv/"]) => {
            Some(Origin::Cuda("nvidia-cuda-cccl"))
        }
        _ if starts_with(header, &["curand"]) => Some(Origin::Cuda("nvidia-curand")),
        _ if starts_with(header, &HOST) => Some(Origin::CudaHost),
        _ if starts_with(header, &["crt/"]) => Some(Origin::Cuda("nvidia-cuda-crt")),
        _ if starts_with(header, &RUNTIME) => Some(Origin::Cuda("nvidia-cuda-runtime")),
        _ => None,
    }
}

fn starts_with(header: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| header.starts_with(prefix))
}

impl Case<'_> {
    fn hint(&self, header: &str, origin: Origin) -> String {
        match origin {
            Origin::C => {
                format!("GPUs have no C or C++ library: leave `{header}` out, and call built-in functions")
            }
            Origin::CudaHost => format!(
                "`{header}` is of a library that host code calls: leave it out of kernels, and call the library from Rust"
            ),
            Origin::Hip => self.hip(header),
            Origin::Cuda(_) if self.devices == Devices::Others => format!(
                "`{header}` is part of a CUDA toolkit, has no stand-in, and NVIDIA licenses its own for NVIDIA's GPUs: leave it out for other targets with `#ifdef __NVPTX__`"
            ),
            Origin::Cuda(_) if !self.has_toolkit_s() => format!(
                "{}; or leave `{header}` out",
                self.with_toolkit(&format!("`{header}` is part of a CUDA toolkit, and has no stand-in"))
            ),
            Origin::Cuda(package) => self.lacking(header, package),
        }
    }

    /// Whether the compiler sees the headers of a toolkit.
    fn has_toolkit_s(&self) -> bool {
        self.cuda_sdk || self.compiler == Some(Compiler::Nvcc)
    }

    /// How clang gets to see a toolkit.
    fn with_toolkit(&self, why: &str) -> String {
        let module = self.module;
        let setting = format!("{why}: write `cuda-sdk = true` below `[modules.{module}]` in offload.toml");
        match &self.toolkit {
            Some(root) => format!("{setting}; `{root}` is one"),
            None => {
                format!(
                    "{setting}, and install the headers: {INSTALL} (7 MB), or set CUDA_PATH to your toolkit"
                )
            }
        }
    }

    /// Of a toolkit without this header.
    fn lacking(&self, header: &str, package: &str) -> String {
        let root = self.toolkit.as_deref().unwrap_or("the CUDA toolkit");
        if self.is_installed && package != "nvidia-curand" {
            return format!(
                "the release of CUDA in `{root}` has no `{header}`: set CUDA_PATH to a CUDA toolkit of a release that has it, or leave it out"
            );
        }
        let how = match package {
            "nvidia-curand" => "a whole CUDA toolkit has it: set CUDA_PATH to one",
            _ => &format!("{INSTALL} (7 MB) brings it, or set CUDA_PATH to a whole CUDA toolkit"),
        };
        format!("`{root}` lacks `{header}`, which is in the Python package {package}: {how}")
    }

    fn hip(&self, header: &str) -> String {
        let package = "Debian's package libamdhip64-dev, or ROCm, has it";
        match (self.compiler, header) {
            (Some(Compiler::Hipcc), _) => format!("{package}: set ROCM_PATH to where it is"),
            _ => format!(
                "`{header}` has no stand-in: leave it out; or {package}: write `compiler = \"hipcc\"` below `[modules.{}]` in offload.toml, and install ROCm's hipcc",
                self.module
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(header: &str, change: fn(&mut Case<'_>)) -> String {
        let mut case = Case {
            module: "m",
            devices: Devices::Nvidia,
            compiler: None,
            cuda_sdk: false,
            toolkit: None,
            is_installed: false,
        };
        change(&mut case);
        case.hint(header, origin(header).unwrap())
    }

    #[test]
    fn compilers_name_the_header_that_they_miss() {
        let clang = "a.cu:1:10: fatal error: 'cuda_fp16.h' file not found\n    1 | #include";
        assert_eq!(missing(clang), Some("cuda_fp16.h"));
        let gcc = "a.cu:1:10: fatal error: cuda/std/limits: No such file or directory";
        assert_eq!(missing(gcc), Some("cuda/std/limits"));
        assert_eq!(missing("a.cu:1:10: error: no"), None);
        assert_eq!(origin("mine.h"), None);
    }

    #[test]
    fn the_way_to_a_header_depends_on_what_there_is() {
        let alone = hint("cuda_pipeline.h", |_| {});
        assert!(alone.contains("`cuda-sdk = true` below `[modules.m]`"), "{alone}");
        assert!(alone.contains("`cargo offload toolchain install cuda-headers` (7 MB)"), "{alone}");
        assert!(alone.ends_with("; or leave `cuda_pipeline.h` out"), "{alone}");
        let here = hint("cuda_pipeline.h", |case| case.toolkit = Some("/opt/cuda".into()));
        assert!(here.contains("`/opt/cuda` is one") && !here.contains("install"), "{here}");
        // No hint to set, or to remove, an option that is set.
        let lacking = hint("cuda/std/limits", |case| case.cuda_sdk = true);
        assert!(lacking.contains("nvidia-cuda-cccl") && !lacking.contains("cuda-sdk"), "{lacking}");
        assert!(lacking.contains("`cargo offload toolchain install cuda-headers`"), "{lacking}");
        let amd = hint("cuda_pipeline.h", |case| {
            case.cuda_sdk = true;
            case.devices = Devices::Others;
        });
        assert!(amd.contains("`#ifdef __NVPTX__`") && !amd.contains("cuda-sdk"), "{amd}");
        let installed = hint("cub/iterator/old.cuh", |case| {
            case.cuda_sdk = true;
            case.is_installed = true;
            case.toolkit = Some("/opt/offload".into());
        });
        assert!(installed.contains("`/opt/offload` has no `cub/iterator/old.cuh`"), "{installed}");
        assert!(!installed.contains("install ") && !installed.contains("cuda-sdk"), "{installed}");
        let nvcc = hint("cuda_runtime.h", |case| case.compiler = Some(Compiler::Nvcc));
        assert!(nvcc.contains("nvidia-cuda-runtime") && !nvcc.contains("leave"), "{nvcc}");
        let hip = hint("hip/hip_fp8.h", |_| {});
        assert!(hip.contains("has no stand-in") && hip.contains("`compiler = \"hipcc\"`"), "{hip}");
        assert!(
            hint("hip/hip_runtime.h", |case| case.compiler = Some(Compiler::Hipcc)).contains("ROCM_PATH")
        );
        assert!(hint("stdio.h", |_| {}).contains("no C or C++ library"));
        assert!(hint("cublas_v2.h", |_| {}).contains("host code"));
    }
}
