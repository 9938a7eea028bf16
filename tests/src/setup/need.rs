//! Tools that the tasks require beyond Rust, gcc and Python.

use super::probe::Probe;

/// A tool, what it is for, how it is found, and which packages hold it.
#[derive(Debug)]
pub struct Need {
    pub(crate) what: &'static str,
    pub(crate) purpose: &'static str,
    pub(crate) probe: Probe,
    pub(crate) packages: Packages,
}

/// Package names by package manager; a `-` stands for none.
#[derive(Debug)]
pub(crate) struct Packages {
    pub(crate) apt: &'static str,
    pub(crate) dnf: &'static str,
    pub(crate) pacman: &'static str,
    pub(crate) brew: &'static str,
}

/// Compiles kernels for the targets of offload.toml.
pub const BUILD: &[Need] = &[
    Need {
        what: "clang",
        purpose: "compiles kernels",
        probe: Probe::Llvm("clang"),
        packages: packages(["clang-22", "clang", "clang", "llvm"]),
    },
    Need {
        what: "ld.lld",
        purpose: "links images of the target `host`",
        probe: Probe::Llvm("ld.lld"),
        packages: packages(["lld-22", "lld", "lld", "lld"]),
    },
    Need {
        what: "llvm-link",
        purpose: "joins the files of a kernel module",
        probe: Probe::Llvm("llvm-link"),
        packages: packages(["llvm-22", "llvm", "llvm", "llvm"]),
    },
    Need {
        what: "PoCL's function library",
        purpose: "OpenCL C's functions for the target `host`",
        // Debian keeps the library with the driver's code, under a name that differs from release to release.
        probe: Probe::Glob {
            dirs: &["/usr/share/pocl", "/usr/local/share/pocl", "/opt/homebrew/share/pocl"],
            prefix: "kernel-",
            suffix: ".bc",
        },
        packages: packages(["pocl-opencl-icd", "pocl", "pocl", "pocl"]),
    },
    Need {
        what: "ocloc",
        purpose: "makes native code for Intel GPUs",
        probe: Probe::Program("ocloc"),
        packages: packages(["intel-opencl-icd", "intel-ocloc", "intel-compute-runtime", "-"]),
    },
    Need {
        what: "spirv-val",
        purpose: "checks SPIR-V",
        probe: Probe::Program("spirv-val"),
        packages: packages(["spirv-tools", "spirv-tools", "spirv-tools", "spirv-tools"]),
    },
];

/// Compiles kernels for the GPUs of every vendor.
pub const GPUS: &[Need] = &[Need {
    what: "libclc",
    purpose: "OpenCL C's functions for NVIDIA and AMD GPUs",
    probe: Probe::Glob {
        dirs: &["/usr/lib/clc", "/usr/share/clc", "/usr/lib64/clc", "/usr/local/share/clc"],
        prefix: "amdgcn-amd-",
        suffix: ".bc",
    },
    packages: packages(["libclc-22", "libclc", "libclc", "-"]),
}];

/// Opens the pages that reports write.
pub const BROWSER: &[Need] = &[Need {
    what: "chromium",
    purpose: "opens the page of a report",
    probe: Probe::Program("chromium"),
    packages: packages(["chromium", "chromium", "chromium", "-"]),
}];

/// Shows what commands print on terminals of some width.
pub const TERMINAL: &[Need] = &[Need {
    what: "tmux",
    purpose: "a terminal for the first hour of a new user",
    probe: Probe::Program("tmux"),
    packages: packages(["tmux", "tmux", "tmux", "tmux"]),
}];

/// Runs kernels through OpenCL, steps through one, counts processes and ends them.
pub const DRIVERS: &[Need] = &[
    Need {
        what: "libOpenCL.so.1",
        purpose: "finds the OpenCL drivers",
        probe: Probe::Library("libOpenCL.so.1"),
        packages: packages(["ocl-icd-libopencl1", "ocl-icd", "ocl-icd", "-"]),
    },
    Need {
        what: "PoCL",
        purpose: "an OpenCL driver for CPUs that compiles OpenCL C",
        probe: Probe::Icd("pocl"),
        packages: packages(["pocl-opencl-icd", "pocl", "pocl", "pocl"]),
    },
    Need {
        what: "oclgrind",
        purpose: "an OpenCL device that watches what kernels do",
        probe: Probe::Program("oclgrind"),
        packages: packages(["oclgrind", "-", "-", "oclgrind"]),
    },
    Need {
        what: "gdb",
        purpose: "steps through a kernel of the target `host`",
        probe: Probe::Program("gdb"),
        packages: packages(["gdb", "gdb", "gdb", "gdb"]),
    },
    Need {
        what: "strace",
        purpose: "counts the processes of an unchanged build, and ends commands at every step",
        probe: Probe::Program("strace"),
        packages: packages(["strace", "strace", "strace", "-"]),
    },
];

/// Builds programs for other systems, and runs them.
pub const PLATFORMS: &[Need] = &[
    Need {
        what: "aarch64-linux-gnu-gcc",
        purpose: "links programs for AArch64",
        probe: Probe::Program("aarch64-linux-gnu-gcc"),
        packages: packages([
            "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
            "gcc-aarch64-linux-gnu",
            "aarch64-linux-gnu-gcc",
            "-",
        ]),
    },
    Need {
        what: "qemu-aarch64",
        purpose: "runs programs for AArch64",
        probe: Probe::Program("qemu-aarch64"),
        packages: packages(["qemu-user", "qemu-user", "qemu-user", "-"]),
    },
    Need {
        what: "x86_64-w64-mingw32-gcc",
        purpose: "links programs for Windows",
        probe: Probe::Program("x86_64-w64-mingw32-gcc"),
        packages: packages(["gcc-mingw-w64-x86-64", "mingw64-gcc", "mingw-w64-gcc", "mingw-w64"]),
    },
    Need {
        what: "wine",
        purpose: "runs programs for Windows",
        probe: Probe::Program("wine"),
        packages: packages(["wine wine64", "wine", "wine", "-"]),
    },
    Need {
        what: "node",
        purpose: "runs programs for WebAssembly",
        probe: Probe::Program("node"),
        packages: packages(["nodejs", "nodejs", "nodejs", "node"]),
    },
];

/// Other machines to build with, on this one.
pub const REMOTE: &[Need] = &[
    Need {
        what: "bwrap",
        purpose: "the sandbox in which a build server runs compilers",
        probe: Probe::Program("bwrap"),
        packages: packages(["bubblewrap", "bubblewrap", "bubblewrap", "-"]),
    },
    Need {
        what: "nginx",
        purpose: "keeps results over HTTP, and encrypts what other servers say",
        probe: Probe::Runs(&["nginx", "-v"]),
        packages: packages(["nginx", "nginx", "nginx", "nginx"]),
    },
    Need {
        what: "openssl",
        purpose: "makes certificates, valid and expired",
        probe: Probe::Program("openssl"),
        packages: packages(["openssl", "openssl", "openssl", "openssl"]),
    },
    Need {
        what: "setpriv",
        purpose: "ends servers with the task that started them",
        probe: Probe::Program("setpriv"),
        packages: packages(["util-linux", "util-linux", "util-linux", "-"]),
    },
    Need {
        what: "strace",
        purpose: "counts the compilers of a build",
        probe: Probe::Program("strace"),
        packages: packages(["strace", "strace", "strace", "-"]),
    },
];

/// Gives programs another time, and watches their memory.
pub const STRESS: &[Need] = &[
    Need {
        what: "faketime",
        purpose: "builds at another time, to compare",
        probe: Probe::Program("faketime"),
        packages: packages(["faketime", "libfaketime", "libfaketime", "libfaketime"]),
    },
    Need {
        what: "valgrind",
        purpose: "watches the memory of programs that open and close plugins",
        probe: Probe::Program("valgrind"),
        packages: packages(["valgrind", "valgrind", "valgrind", "-"]),
    },
];

/// Generates code in build scripts, to compare.
pub const COLD: &[Need] = &[
    Need {
        what: "protoc",
        purpose: "reads what prost-build generates code from, to compare",
        probe: Probe::Program("protoc"),
        packages: packages(["protobuf-compiler", "protobuf-compiler", "protobuf", "protobuf"]),
    },
    Need {
        what: "libclang",
        purpose: "reads what bindgen generates code from, to compare",
        probe: Probe::Glob {
            dirs: &["/usr/lib/llvm-22/lib", "/usr/lib64", "/usr/lib", "/opt/homebrew/opt/llvm/lib"],
            prefix: "libclang",
            suffix: ".so.1",
        },
        packages: packages(["libclang-22-dev", "clang-devel", "clang", "llvm"]),
    },
];

/// What kernels are built with beside, to compare.
pub const BENCH: &[Need] = &[
    Need {
        what: "ninja",
        purpose: "builds the same kernels, to compare",
        probe: Probe::Program("ninja"),
        packages: packages(["ninja-build", "ninja-build", "ninja", "ninja"]),
    },
    Need {
        what: "ccache",
        purpose: "helps ninja, to compare",
        probe: Probe::Program("ccache"),
        packages: packages(["ccache", "ccache", "ccache", "ccache"]),
    },
    Need {
        what: "strace",
        purpose: "counts the processes of a build",
        probe: Probe::Program("strace"),
        packages: packages(["strace", "strace", "strace", "-"]),
    },
];

/// Writes and reads clang's offload bundles.
pub const BUNDLER: &[Need] = &[Need {
    what: "clang-offload-bundler",
    purpose: "bundles device images, to compare",
    probe: Probe::Llvm("clang-offload-bundler"),
    packages: packages(["clang-tools-22", "clang-tools-extra", "clang", "llvm"]),
}];

/// Tells the memory that a process takes.
pub const READ: &[Need] = &[Need {
    what: "GNU time",
    purpose: "tells the memory of a process",
    probe: Probe::Program("time"),
    packages: packages(["time", "time", "time", "gnu-time"]),
}];

/// Judges containers as well: the numbers of kinds and the versions of containers changed since.
pub const OLDER_LLVM: &[Need] = &[
    Need {
        what: "clang-offload-bundler-19",
        purpose: "writes and reads offload bundles as LLVM 19 did",
        probe: Probe::Program("clang-offload-bundler-19"),
        packages: packages(["clang-tools-19", "-", "-", "-"]),
    },
    Need {
        what: "llvm-objdump-19",
        purpose: "reads OffloadBinary as LLVM 19 did",
        probe: Probe::Program("llvm-objdump-19"),
        packages: packages(["llvm-19", "-", "-", "-"]),
    },
];

/// The oldest LLVM that compiles kernels.
pub const OLDEST_CLANG: &[Need] = &[
    Need {
        what: "clang-19",
        purpose: "compiles kernels as the oldest release does",
        probe: Probe::Program("clang-19"),
        packages: packages(["clang-19", "-", "-", "-"]),
    },
    Need {
        what: "ld.lld-19",
        purpose: "links what it compiles",
        probe: Probe::Program("ld.lld-19"),
        packages: packages(["lld-19", "-", "-", "-"]),
    },
    Need {
        what: "llvm-link-19",
        purpose: "joins the files of a kernel module",
        probe: Probe::Program("llvm-link-19"),
        packages: packages(["llvm-19", "-", "-", "-"]),
    },
];

/// Installs what comes from Python's package index.
pub(super) const PIP: &[Need] = &[Need {
    what: "pip",
    purpose: "installs Intel's OpenCL runtime for CPUs, NVIDIA's ptxas and what the decoder in Python needs under the target directory",
    probe: Probe::Runs(&["python3", "-m", "pip", "--version"]),
    packages: packages(["python3-pip", "python3-pip", "python-pip", "python"]),
}];

/// Linkers to test with, besides those of gcc and rustc.
pub const LINKERS: &[Need] = &[Need {
    what: "mold",
    purpose: "a linker to test with",
    probe: Probe::Program("mold"),
    packages: packages(["mold", "mold", "mold", "mold"]),
}];

/// Compiles a host program against SYCL's headers.
pub const SYCL: &[Need] = &[Need {
    what: "g++",
    purpose: "compiles the SYCL host program",
    probe: Probe::Program("g++"),
    packages: packages(["g++", "gcc-c++", "gcc", "gcc"]),
}];

/// Hides the home, the network and all other directories from a build.
pub const SANDBOX: &[Need] = &[Need {
    what: "bubblewrap",
    purpose: "builds in a sandbox",
    probe: Probe::Program("bwrap"),
    packages: packages(["bubblewrap", "bubblewrap", "bubblewrap", "-"]),
}];

/// Shells that complete `cargo offload`; bash is everywhere.
pub const SHELLS: &[Need] = &[
    Need {
        what: "zsh",
        purpose: "completes `cargo offload`",
        probe: Probe::Program("zsh"),
        packages: packages(["zsh", "zsh", "zsh", "zsh"]),
    },
    Need {
        what: "fish",
        purpose: "completes `cargo offload`",
        probe: Probe::Program("fish"),
        packages: packages(["fish", "fish", "fish", "fish"]),
    },
    Need {
        what: "elvish",
        purpose: "completes `cargo-offload`",
        probe: Probe::Program("elvish"),
        packages: packages(["elvish", "elvish", "elvish", "elvish"]),
    },
];

/// Makes a Debian of its own.
pub const FRESH: &[Need] = &[
    Need {
        what: "debootstrap",
        purpose: "makes a new Debian in a directory",
        probe: Probe::Program("debootstrap"),
        packages: packages(["debootstrap", "debootstrap", "debootstrap", "-"]),
    },
    Need {
        what: "git",
        purpose: "clones this checkout",
        probe: Probe::Program("git"),
        packages: packages(["git", "git", "git", "git"]),
    },
];

const fn packages([apt, dnf, pacman, brew]: [&'static str; 4]) -> Packages {
    Packages { apt, dnf, pacman, brew }
}
