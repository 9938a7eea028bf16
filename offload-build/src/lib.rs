//! A build.rs helper that compiles GPU kernels for many devices, compresses the images and embeds them in the
//! program, where the crate `offload-rt` finds them.
//!
//! ```no_run
//! // In `main` of build.rs:
//! offload_build::Build::new().file("kernels/blas.cl").compile("blas");
//! ```
//!
//! The program says `offload_rt::include_kernels!("blas");` and asks `blas::module()` for its images.
//!
//! build.rs does not say for which machines kernels are compiled: the final application decides, in its
//! `offload.toml`. Later entries of this list win:
//!
//! 1. `targets` under `[package.metadata.offload]` of the crate's own manifest,
//! 2. the file that the environment variable `OFFLOAD_CONFIG` names, or else the nearest `offload.toml`: for a package
//!    of the application's workspace from its own directory up to the workspace's root, for a dependency that of the
//!    root. Cargo does not name the workspace that it builds: it is the one around the target directory, or around the
//!    package. For a dependency whose target directory lies elsewhere `OFFLOAD_WORKSPACE` names it, which `cargo offload
//!    init` sets in `.cargo/config.toml`; without it the dependency takes its own defaults, and refuses to build where
//!    cargo was started below an `offload.toml`. A program of `cargo install` takes the file in its own package or
//!    repository, its dependencies none,
//! 3. `OFFLOAD_TARGETS` (separated by commas), `OFFLOAD_COMPRESSION` (a mode or a level) and `OFFLOAD_EMBED`.
//!
//! The file and the manifest may also say how a module is compiled, on top of what build.rs says:
//!
//! ```toml
//! targets = ["portable", "intel:xe-hpg", "cubin:sm_90", { name = "amdgcn:gfx90a", optional = true }]
//!
//! compression = "balanced"    # "none", "fast", "max", "archive", { level = 7 }, { mode = "max", level = 20 }
//! strip = false               # true: images for AMD without symbol table, line tables and `.comment`
//! embed = "auto"              # "always", "release", "library"
//!
//! vendored = "fallback"       # images that packages bring along: where tools are missing; "prefer", "never"
//!
//! [modules.attention]
//! variants = { HEAD_DIM = [64, 128], T = ["half", "float"] } # one module for each combination
//! split = "kernel"            # "none", "kernel", "source", "aspect"
//! only = ["nvptx", "cubin"]   # kinds of targets that the module is compiled for
//! compiler = "nvcc"           # "clang", "nvcc", "hipcc", "icpx"
//! cuda-sdk = true             # clang sees the headers of a CUDA toolkit, for NVIDIA targets
//! cuda-arch = 700             # `__CUDA_ARCH__` of CUDA C++ for others than NVIDIA
//! launchers = true            # host functions of CUDA C++ are linked into the program
//! std = "2.0"                 # OpenCL C: "1.2", "2.0", "3.0"
//! imports = ["bf16"]          # device libraries that dependencies export
//! includes = ["kernels"]      # relative to the crate's Cargo.toml
//! defines = { TILE = 16 }
//! flags = ["-ffp-contract=fast"]
//! max-registers = 128         # NVIDIA and AMD
//! grf = "auto"                # Intel: "auto", "default", "large"
//! max-spills = 0              # bytes; { warn = BYTES }; "any"
//! strip = true                # AMD, see above
//! kernels.forward.max-registers = 255
//! syclbin = "executable"      # also a SYCLBIN in OUT_DIR: "input", "object", "executable"
//! syclbin-libraries = ["lib.spv"] # SPIR-V files that become modules of it
//! ```
//!
//! | compression | what it does | usual level of zstd |
//! |---|---|---|
//! | `none` | equal images are stored once; the default of development builds | |
//! | `fast` | similar images are stored relative to each other, and which are similar is guessed | 1 |
//! | `balanced` | measures which images are similar, and what a filter saves; the default of release builds | 19 |
//! | `max` | the same, with more trials | 22 |
//! | `archive` | LZMA, for downloads: an image takes ten times as long to read; build script and program need the feature `archive` of this crate and of `offload-rt` | |
//!
//! | embed | which packs the program carries |
//! |---|---|
//! | `auto` | all; in development builds those below 4 MiB. The others stay in the compile cache, where the program reads them: linking it copies no large payload |
//! | `always` | all |
//! | `release` | in development builds none, in others all |
//! | `library` | all, and Rust's libraries carry copies: a static library (`crate-type = ["staticlib"]`) has to, for the linker of a C program finds nothing else |
//!
//! A development build has `opt-level = 0` and inherits `dev`, and is for the machine that builds it. Such a program runs as
//! long as the compile cache has its packs, and with the same `OFFLOAD_CACHE_DIR`; `cargo build` restores missing ones.
//!
//! [`offload_protocol::variable`] lists the environment variables that build scripts read: which tools are used, where the
//! cache is, what is built.
//!
//! As with the crate `cc`, `VAR_<target>` and `VAR_<target_with_underscores>` go before `VAR`. The limits of the cache
//! have no such forms: they change no output, so a change of them makes no build script run again. They are applied at
//! the end of a build, once a day.
//!
//! Nothing is compiled in documentation builds on docs.rs, under clippy, where rust-analyzer reads a project, and for other
//! systems than Linux. The program says so at run time.
//!
//! # Without a compiler in the build script
//!
//! An installed `cargo-offload` of the same version compiles for build scripts whose `offload-build` has no default
//! features. A first build then compiles this crate alone, without dependencies, and the images and the Rust are the same:
//!
//! ```toml
//! [build-dependencies]
//! offload-build = { version = "0.1", default-features = false }
//! ```
//!
//! `cargo install cargo-offload --locked` installs it; the variable `OFFLOAD_CARGO_OFFLOAD` names one that is not in
//! `PATH`. A library that others build from a registry keeps the default: their machines need not have it.
//!
//! # Editors
//!
//! A build script cannot see whether it runs for `cargo check` or for `cargo build`: both compile kernels, once,
//! because the compile cache has the images afterwards. `cargo offload check` only looks at their syntax, and needs no
//! compiler. So does `cargo check` of an editor that sets `OFFLOAD_CHECK`. A target directory of its own keeps it
//! from making build scripts run again for the next `cargo build`. For rust-analyzer, in `settings.json` of VS Code:
//!
//! ```json
//! {
//!     "rust-analyzer.cargo.extraEnv": { "OFFLOAD_CHECK": "1" },
//!     "rust-analyzer.cargo.targetDir": true
//! }
//! ```
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod build;
#[cfg(feature = "compiler")]
mod cache;
#[cfg(feature = "compiler")]
mod compile;
#[cfg(feature = "compiler")]
mod config;
#[cfg(not(feature = "compiler"))]
mod delegate;
mod diagnostics;
mod dispatch;
#[cfg(feature = "compiler")]
mod embed;
#[cfg(feature = "compiler")]
mod env;
mod error;
#[cfg(feature = "compiler")]
mod flow;
#[cfg(feature = "compiler")]
mod fs;
#[cfg(feature = "compiler")]
mod jobs;
#[cfg(feature = "compiler")]
mod library;
#[cfg(feature = "compiler")]
mod module;
mod options;
#[cfg(feature = "compiler")]
mod packing;
#[cfg(feature = "compiler")]
mod progress;
#[cfg(feature = "compiler")]
mod receive;
#[cfg(feature = "compiler")]
mod recipe;
#[cfg(feature = "compiler")]
mod remote;
mod report;
mod request;
#[cfg(feature = "compiler")]
mod settings;
#[cfg(feature = "compiler")]
mod syclbin;
#[cfg(feature = "compiler")]
pub mod targets;
mod toml_text;
#[cfg(feature = "compiler")]
mod tool;
#[cfg(feature = "compiler")]
mod toolchain;
mod variable;
#[cfg(feature = "compiler")]
mod vendor;

/// Private interface of `cargo offload`, without any promise of stability.
#[cfg(feature = "compiler")]
#[doc(hidden)]
pub mod shared {
    /// Events of device compiles.
    pub mod progress {
        pub use crate::progress::{Compile, CompileOrigin, Done, Event, FromRemote};
    }
    /// Repeated runs of build scripts without cargo.
    pub mod recipe {
        pub use crate::recipe::Recipe;
    }
    /// Discovery of compilers and tools.
    pub mod toolchain {
        pub use crate::toolchain::{Component, Output, ToolLocation, Toolchain};
    }

    pub use crate::cache::compile_cache;
    pub use crate::config::remote_table;
    pub use crate::receive::run_received;
}

pub use crate::build::{Build, compile_all, try_compile_all};
#[cfg(feature = "compiler")]
pub use crate::config::DEFAULT_TARGETS;
pub use crate::error::{Error, ErrorKind};
pub use crate::options::{
    Compiler, Grf, Link, OpenClStd, SpecValue, SpillBudget, Split, SyclState, TargetKind,
};
