//! The headers of a CUDA toolkit, for clang.

use std::path::{Path, PathBuf};

use crate::compile::Session;
use crate::compile::front_end::own_headers;
use crate::compile::targets::gpu::Vendor;
use crate::error::Result;
use crate::fs;
use crate::module::Language;

/// The header of clang that includes the toolkit's.
pub(crate) const WRAPPER: &str = "__clang_cuda_runtime_wrapper.h";
/// The newest toolkit that clang 22, and that clang 19, know by its number
/// (<https://github.com/llvm/llvm-project/blob/llvmorg-22.1.0/clang/include/clang/Basic/Cuda.h>).
const NEWEST_OF_CLANG_22: ToolkitVersion = ToolkitVersion { major: 13, minor: 0 };
const NEWEST_OF_CLANG_19: ToolkitVersion = ToolkitVersion { major: 12, minor: 3 };

/// The release of a toolkit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ToolkitVersion {
    major: u32,
    minor: u32,
}

/// CUDA C++ with the toolkit's headers: `flags`, and those that find them.
pub(super) fn with_headers(session: &Session<'_>, mut flags: Vec<String>) -> Result<Vendor> {
    let sdk = session.tools().cuda_sdk()?;
    // clang's wrapper includes a header that NVIDIA ships with another library: an empty one does.
    let empty = session.cache().dir().join("include");
    fs::create_dir_all(&empty)?;
    fs::publish_if_changed(&empty.join("curand_mtgp32_kernel.h"), b"\n")?;
    // clang's own way, `--cuda-path`, wants a directory `bin` too, which packages of headers lack. It does no more than
    // this.
    flags.extend(["-include", WRAPPER].map(str::to_string));
    // nvcc's profile names the second, and clang does not know it: `cuda/std`, CUB and Thrust since CUDA 13.
    let mut directories = vec![empty, sdk.join("include"), sdk.join("include/cccl")];
    directories.extend(sibling_packages(&sdk));
    for directory in directories.into_iter().filter(|directory| directory.is_dir()) {
        // Not `-isystem`, which goes behind `-I`: the wrapper would include a `cuda.h` in a folder of the user's.
        flags.extend(["-I".to_string(), directory.display().to_string()]);
    }
    if let Some(version) = version(&sdk)? {
        flags.extend(version.known_to_clang(session.tools().llvm()?.is_old()).flags());
    }
    flags.extend(own_headers::toolkit_flags(session)?);
    Ok(Vendor { dialect: Language::Cuda, flags, header: "".into() })
}

/// The other packages of Python's that have headers of release 12, where `sdk` is the one with `cuda.h`.
fn sibling_packages(sdk: &Path) -> Vec<PathBuf> {
    let packages = sdk.parent().filter(|_| sdk.ends_with("nvidia/cuda_runtime"));
    let Some(packages) = packages else { return Vec::new() };
    ["cuda_nvcc/include", "cuda_cccl/include"].map(|package| packages.join(package)).into()
}

/// The flags of the newest release that clang knows: without any it takes a toolkit for one before 9.2.
pub(super) fn newest_version(session: &Session<'_>) -> Result<[String; 2]> {
    Ok(if session.tools().llvm()?.is_old() { NEWEST_OF_CLANG_19 } else { NEWEST_OF_CLANG_22 }.flags())
}

/// The release that `cuda.h` names. Without one clang's wrapper has an error of its own.
fn version(sdk: &Path) -> Result<Option<ToolkitVersion>> {
    let text = fs::read_text(&sdk.join("include/cuda.h"))?;
    Ok(ToolkitVersion::parse(&text))
}

impl ToolkitVersion {
    /// Of the text of `cuda.h`, where 12.9 is 12090
    /// (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__VERSION.html>).
    fn parse(text: &str) -> Option<ToolkitVersion> {
        let mut lines = text.lines().map(str::split_whitespace);
        let number = lines.find_map(|mut words| {
            let is_version = words.next() == Some("#define") && words.next() == Some("CUDA_VERSION");
            if is_version { words.next() } else { None }
        });
        let number: u32 = number?.parse().ok()?;
        Some(ToolkitVersion { major: number / 1000, minor: number % 1000 / 10 })
    }

    /// This release, or the newest that clang knows: it takes any other for one before 9.2, where a launch was another
    /// call.
    fn known_to_clang(self, is_old: bool) -> ToolkitVersion {
        self.min(if is_old { NEWEST_OF_CLANG_19 } else { NEWEST_OF_CLANG_22 })
    }

    /// What clang's driver would pass on for `--cuda-path`.
    fn flags(self) -> [String; 2] {
        let ToolkitVersion { major, minor } = self;
        ["-Xclang".to_string(), format!("-target-sdk-version={major}.{minor}")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_header() {
        let text = "/* CUDA_VERSION */\n#ifndef CUDA_VERSION\n#define CUDA_VERSION 12090\n#endif\n";
        assert_eq!(ToolkitVersion::parse(text), Some(ToolkitVersion { major: 12, minor: 9 }));
        assert_eq!(ToolkitVersion::parse("#define  CUDA_VERSION  13050 // 13.5").unwrap().minor, 5);
        for text in ["", "#define CUDA_VERSION", "#define CUDA_VERSION x", "#define CUDA_VERSION_2 12090"] {
            assert_eq!(ToolkitVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn clang_is_given_a_version_that_it_knows() {
        let version = |major, minor| ToolkitVersion { major, minor };
        let flags = |version: ToolkitVersion, is_old| version.known_to_clang(is_old).flags()[1].clone();
        assert_eq!(flags(version(13, 5), false), "-target-sdk-version=13.0");
        assert_eq!(flags(version(13, 5), true), "-target-sdk-version=12.3");
        assert_eq!(flags(version(12, 9), false), "-target-sdk-version=12.9");
        assert_eq!(flags(version(11, 8), true), "-target-sdk-version=11.8");
    }
}
