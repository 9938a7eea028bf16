//! The command that installs a missing tool on this system.

use std::path::Path;

use super::search::MIN_LLVM;
use crate::fs;

/// Families of systems with a package manager of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Debian,
    Fedora,
    Arch,
    MacOs,
    Other,
}

pub(super) fn llvm() -> String {
    without_root([
        "apt install clang-22 lld-22 llvm-22",
        "dnf install clang lld llvm",
        "pacman -S clang lld llvm",
        "brew install llvm lld",
    ])
}

pub(super) fn ocloc() -> String {
    let text = without_root([
        "apt install intel-opencl-icd (Debian 12) or intel-ocloc (Ubuntu 24.04 and later, Debian sid)",
        "dnf install intel-ocloc",
        "pacman -S intel-compute-runtime",
        "nothing: there is no ocloc for macOS",
    ]);
    format!("{text}; or remove the `intel:` targets: Intel's driver compiles `spirv64` at run time")
}

pub(super) fn pocl() -> String {
    without_root(["apt install pocl-opencl-icd", "dnf install pocl", "pacman -S pocl", "brew install pocl"])
}

pub(super) fn ptxas() -> String {
    let part = part("ptxas", "41 MB");
    format!("{part}; or embed PTX alone (`nvptx:` targets), which the driver compiles")
}

/// A part of this project's own installer, for what NVIDIA ships in packages of Python; or a toolkit.
fn part(name: &str, size: &str) -> String {
    format!(
        "`cargo offload toolchain install {name}` (a download of {size}), or set CUDA_PATH to an installed CUDA toolkit"
    )
}

pub(super) fn spirv_val() -> String {
    without_root([
        "apt install spirv-tools",
        "dnf install spirv-tools",
        "pacman -S spirv-tools",
        "brew install spirv-tools",
    ])
}

pub(super) fn nvcc() -> String {
    format!("{}; or leave `compiler` out: clang compiles CUDA C++ too", part("nvcc", "129 MB"))
}

pub(super) fn hipcc() -> String {
    let text = install([
        "apt install hipcc",
        "dnf install hipcc",
        "pacman -S hip-runtime-amd",
        "nothing: there is no ROCm for macOS",
    ]);
    format!("{text}; or leave `compiler` out: clang compiles HIP C++ too")
}

pub(super) fn icpx() -> String {
    "install Intel's oneAPI DPC++ compiler and source its setvars.sh, or set OFFLOAD_ICPX".to_string()
}

pub(super) fn cuda_sdk() -> String {
    part("cuda-headers", "7 MB")
}

/// It lies in the package of ptxas.
pub(crate) fn libdevice() -> String {
    part("ptxas", "41 MB")
}

/// The library of LLVM `major`; from 23 on it comes with clang.
pub(super) fn libclc(major: u32) -> String {
    if major != MIN_LLVM {
        return match system() {
            System::Debian => format!("install Debian's package libclc-{major}, or set OFFLOAD_LIBCLC_DIR"),
            _ => format!("install libclc of LLVM {major}, and set OFFLOAD_LIBCLC_DIR to its folder"),
        };
    }
    without_root([
        "apt install libclc-22",
        "dnf install libclc",
        "pacman -S libclc",
        "nothing: brew has no libclc",
    ])
}

pub(super) fn nvdisasm() -> String {
    part("nvdisasm", "5 MB")
}

pub(super) fn spirv_tools() -> String {
    install([
        "apt install spirv-tools",
        "dnf install spirv-tools",
        "pacman -S spirv-tools",
        "brew install spirv-tools",
    ])
}

pub(super) fn oclgrind() -> String {
    install([
        "apt install oclgrind",
        "nothing: Fedora has no package of Oclgrind",
        "nothing: Arch has no package of Oclgrind, its user repository has one",
        "brew install oclgrind",
    ])
}

pub(super) fn compute_sanitizer() -> String {
    "a whole CUDA toolkit has it: set CUDA_PATH to one; so has Python's package nvidia-cuda-sanitizer-api"
        .to_string()
}

/// As [`install`], for what this project's own installer brings too.
fn without_root(commands: [&str; 4]) -> String {
    match system() {
        System::Debian => {
            format!("{}; or, without root, `cargo offload toolchain install`", install(commands))
        }
        _ => install(commands),
    }
}

fn install([debian, fedora, arch, macos]: [&str; 4]) -> String {
    match system() {
        System::Debian => debian.to_string(),
        System::Fedora => fedora.to_string(),
        System::Arch => arch.to_string(),
        System::MacOs => macos.to_string(),
        System::Other => [debian, fedora, arch].join(" | "),
    }
}

fn system() -> System {
    if cfg!(target_os = "macos") {
        return System::MacOs;
    }
    let text = fs::read_text(Path::new("/etc/os-release")).unwrap_or_default();
    from_os_release(&text)
}

fn from_os_release(text: &str) -> System {
    let ids = text.lines().filter_map(|line| line.strip_prefix("ID=").or(line.strip_prefix("ID_LIKE=")));
    let words = ids.flat_map(|value| value.trim_matches('"').split_whitespace());
    words
        .filter_map(|id| match id {
            "debian" | "ubuntu" => Some(System::Debian),
            "fedora" | "rhel" | "centos" => Some(System::Fedora),
            "arch" => Some(System::Arch),
            _ => None,
        })
        .next()
        .unwrap_or(System::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_count() {
        assert_eq!(from_os_release("NAME=x\nID=debian\n"), System::Debian);
        assert_eq!(from_os_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), System::Debian);
        assert_eq!(from_os_release("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), System::Fedora);
        assert_eq!(from_os_release("ID=plan9\n"), System::Other);
    }
}
