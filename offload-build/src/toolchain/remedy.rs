//! The command that installs a missing tool on this system.

use std::path::Path;

use super::search::MIN_LLVM;
use crate::fs;

/// Systems by their package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Debian,
    Fedora,
    Arch,
    Suse,
    Nix,
    MacOs,
    Windows,
    /// A Linux whose package manager is not known.
    Other,
}

/// The command of each package manager that installs a program; `None` where it has no such package.
struct Packages {
    program: &'static str,
    apt: Option<&'static str>,
    dnf: Option<&'static str>,
    pacman: Option<&'static str>,
    zypper: Option<&'static str>,
    nix: Option<&'static str>,
    brew: Option<&'static str>,
    winget: Option<&'static str>,
}

const LLVM: Packages = Packages {
    program: "clang",
    apt: Some("apt install clang-22 lld-22 llvm-22"),
    dnf: Some("dnf install clang lld llvm"),
    pacman: Some("pacman -S clang lld llvm"),
    zypper: Some("zypper install clang lld llvm"),
    nix: Some("nix-shell -p llvmPackages_22.clang llvmPackages_22.lld llvmPackages_22.llvm"),
    brew: Some("brew install llvm lld"),
    winget: Some("winget install LLVM.LLVM"),
};

const OCLOC: Packages = Packages {
    program: "ocloc",
    apt: Some("apt install intel-opencl-icd (Debian 12) or intel-ocloc (Ubuntu 24.04 and later, Debian 14)"),
    dnf: Some("dnf install intel-ocloc"),
    pacman: Some("pacman -S intel-compute-runtime"),
    zypper: None,
    nix: Some("nix-shell -p intel-compute-runtime"),
    brew: None,
    winget: None,
};

const POCL: Packages = Packages {
    program: "PoCL",
    apt: Some("apt install pocl-opencl-icd"),
    dnf: Some("dnf install pocl"),
    pacman: Some("pacman -S pocl"),
    zypper: Some("zypper install pocl"),
    nix: Some("nix-shell -p pocl"),
    brew: Some("brew install pocl"),
    winget: None,
};

const SPIRV_TOOLS: Packages = Packages {
    program: "SPIRV-Tools",
    apt: Some("apt install spirv-tools"),
    dnf: Some("dnf install spirv-tools"),
    pacman: Some("pacman -S spirv-tools"),
    zypper: Some("zypper install spirv-tools"),
    nix: Some("nix-shell -p spirv-tools"),
    brew: Some("brew install spirv-tools"),
    winget: Some("winget install KhronosGroup.VulkanSDK"),
};

const HIPCC: Packages = Packages {
    program: "hipcc",
    apt: Some("apt install hipcc"),
    dnf: Some("dnf install hipcc"),
    pacman: Some("pacman -S hip-runtime-amd"),
    zypper: None,
    nix: Some("nix-shell -p rocmPackages.hipcc"),
    brew: None,
    winget: None,
};

const LIBCLC: Packages = Packages {
    program: "libclc",
    apt: Some("apt install libclc-22"),
    dnf: Some("dnf install libclc"),
    pacman: Some("pacman -S libclc"),
    zypper: Some("zypper install libclc"),
    nix: Some("nix-shell -p llvmPackages_22.libclc"),
    brew: Some("brew install libclc"),
    winget: None,
};

const OCLGRIND: Packages = Packages {
    program: "Oclgrind",
    apt: Some("apt install oclgrind"),
    dnf: None,
    pacman: None,
    zypper: None,
    nix: None,
    brew: Some("brew install oclgrind"),
    winget: None,
};

pub(super) fn llvm() -> String {
    without_root(&LLVM)
}

/// Of LLVM `major`.
pub(super) fn llvm_link(major: u32) -> String {
    match system() {
        System::Windows => format!(
            "`rustup component add llvm-tools`, if `rustc -vV` says LLVM {major}; or unpack LLVM's archive \
             clang+llvm-{major}.*-x86_64-pc-windows-msvc.tar.xz, and set OFFLOAD_LLVM_LINK"
        ),
        _ => llvm(),
    }
}

pub(super) fn ocloc() -> String {
    let text = without_root(&OCLOC);
    format!("{text}; or remove the `intel:` targets: Intel's driver compiles `spirv64` at run time")
}

pub(super) fn pocl() -> String {
    without_root(&POCL)
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
    without_root(&SPIRV_TOOLS)
}

pub(super) fn nvcc() -> String {
    format!("{}; or leave `compiler` out: clang compiles CUDA C++ too", part("nvcc", "129 MB"))
}

pub(super) fn hipcc() -> String {
    let text = install(system(), &HIPCC);
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
    without_root(&LIBCLC)
}

pub(super) fn nvdisasm() -> String {
    part("nvdisasm", "5 MB")
}

pub(super) fn spirv_tools() -> String {
    install(system(), &SPIRV_TOOLS)
}

pub(super) fn oclgrind() -> String {
    install(system(), &OCLGRIND)
}

pub(super) fn compute_sanitizer() -> String {
    "a whole CUDA toolkit has it: set CUDA_PATH to one; so has Python's package nvidia-cuda-sanitizer-api"
        .to_string()
}

/// As [`install`], for what this project's own installer brings too.
fn without_root(packages: &Packages) -> String {
    match system() {
        System::Debian => {
            let command = install(System::Debian, packages);
            format!("{command}; or, without root, `cargo offload toolchain install`")
        }
        system => install(system, packages),
    }
}

fn install(system: System, packages: &Packages) -> String {
    let command = match system {
        System::Debian => packages.apt,
        System::Fedora => packages.dnf,
        System::Arch => packages.pacman,
        System::Suse => packages.zypper,
        System::Nix => packages.nix,
        System::MacOs => packages.brew,
        System::Windows => packages.winget,
        System::Other => return packages.for_any_linux(),
    };
    match command {
        Some(command) => command.to_string(),
        None => format!("this system's package manager has no {}", packages.program),
    }
}

impl Packages {
    fn for_any_linux(&self) -> String {
        let commands = [self.apt, self.dnf, self.pacman, self.zypper, self.nix];
        let commands: Vec<&str> = commands.into_iter().flatten().collect();
        commands.join(" | ")
    }
}

fn system() -> System {
    if cfg!(target_os = "macos") {
        return System::MacOs;
    }
    if cfg!(windows) {
        return System::Windows;
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
            "suse" | "opensuse" => Some(System::Suse),
            "nixos" => Some(System::Nix),
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
        let tumbleweed = "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n";
        assert_eq!(from_os_release(tumbleweed), System::Suse);
        assert_eq!(from_os_release("ID=plan9\n"), System::Other);
    }

    #[test]
    fn a_system_without_the_package_gets_no_command_of_another() {
        assert_eq!(install(System::Fedora, &OCLGRIND), "this system's package manager has no Oclgrind");
        assert_eq!(install(System::Windows, &LLVM), "winget install LLVM.LLVM");
        assert_eq!(install(System::Other, &OCLGRIND), "apt install oclgrind");
    }
}
