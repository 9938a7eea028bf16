//! The folder in which the program is built for all systems, with what their builds and emulators need.

use std::path::PathBuf;
use std::process::Command;

use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::workspace::Workspace;

use super::apt::Apt;
use super::platform::Platform;
use super::{apple, microsoft};

/// The variable for the linker of AArch64, and Debian's cross compiler.
const AARCH64_LINKER: [&str; 2] = ["CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc"];
/// All levels of AArch64's instruction set.
const AARCH64_TARGETS: &str = "host,host:armv8.2-a,host:armv8.2-a+sve,spirv64,opencl-c";
/// The C compiler for Windows.
const WINDOWS_CC: &str = "x86_64-w64-mingw32-gcc";
/// The names that releases of Debian have for PoCL's library of functions.
const POCL: [&str; 2] = ["libpocl2", "libpocl2t64"];

/// The folder `platforms` of the target directory.
#[derive(Debug)]
pub(super) struct Folder<'w> {
    workspace: &'w Workspace,
    path: PathBuf,
}

impl<'w> Folder<'w> {
    /// Copies the program, and fetches what is not there.
    pub(super) fn prepare(workspace: &'w Workspace) -> Result<Folder<'w>> {
        let path = workspace.shell.create_dir(workspace.target_dir.join("platforms"))?;
        fixture::copy(workspace, "platforms", &path.join("src"))?;
        let folder = Folder { workspace, path };
        folder.fetch_pocl()?;
        Ok(folder)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The cargo command for the program on `platform`.
    pub(super) fn cargo(&self, platform: &Platform) -> Command {
        let mut cargo = self.cargo_for(platform);
        cargo.args(["build", "--quiet", "--package", "platforms-app", "--no-default-features"]).args([
            "--features",
            platform.features,
            "--target",
            platform.target,
        ]);
        cargo
    }

    /// The cargo command for a shared library with kernels and the program that loads it.
    pub(super) fn cargo_for_plugin(&self, platform: &Platform) -> Command {
        let mut cargo = self.cargo_for(platform);
        cargo
            .args(["build", "--quiet", "--package", "platforms-plugin", "--package", "platforms-loader"])
            .args(["--target", platform.target]);
        cargo
    }

    /// The cargo command for a build script as a program.
    pub(super) fn cargo_for_script(&self, platform: &Platform) -> Command {
        let mut cargo = self.cargo_for(platform);
        let name = platform.target.replace('-', "_");
        // The system's own compilers: a build script has parts in C.
        cargo.env_remove(format!("CC_{name}")).env_remove(format!("AR_{name}"));
        cargo.args(["build", "--quiet", "--package", "platforms-script", "--target", platform.target]);
        cargo
    }

    fn cargo_for(&self, platform: &Platform) -> Command {
        let target = platform.target;
        let mut cargo = Command::new(self.workspace.cargo_path());
        cargo
            .current_dir(self.path("src"))
            .env("CARGO_TARGET_DIR", self.path("target"))
            .env("OFFLOAD_CACHE_DIR", self.path("cache"))
            .env("OFFLOAD_TARGETS", "host,spirv64,opencl-c")
            .env("OFFLOAD_TARGETS_aarch64_unknown_linux_gnu", AARCH64_TARGETS)
            // Development builds store images as they are.
            .env("OFFLOAD_COMPRESSION", "balanced")
            .env("OFFLOAD_POCL_DIR_aarch64_unknown_linux_gnu", self.pocl())
            .env("OFFLOAD_POCL_DIR_aarch64_apple_darwin", self.pocl())
            .env(AARCH64_LINKER[0], AARCH64_LINKER[1])
            // The SDK of Apple: rustc asks for it by this name alone.
            .env("SDKROOT", apple::sdk(self))
            .env("CARGO_ENCODED_RUSTFLAGS", self.rustflags(platform).join("\x1f"));
        if platform.c_compiler() == "none" {
            let name = target.replace('-', "_");
            cargo.env(format!("CC_{name}"), "false").env(format!("AR_{name}"), "false");
        }
        cargo
    }

    fn rustflags(&self, platform: &Platform) -> Vec<String> {
        let mut flags = vec!["-Dwarnings".to_string()];
        if platform.is_apple() {
            flags.extend(apple::RUSTFLAGS.map(str::to_string));
        }
        if platform.target == microsoft::TARGET {
            flags.extend(microsoft::rustflags(self));
        }
        flags
    }

    /// The cargo command that checks offload-build for `platform`. C in dependencies is not looked at: its compilers and
    /// headers for these systems would be needed.
    pub(super) fn check_build_helper(&self, platform: &Platform) -> Command {
        let name = platform.target.replace('-', "_");
        let mut cargo = Command::new(self.workspace.cargo_path());
        cargo
            .current_dir(&self.workspace.root)
            .args(["check", "--quiet", "--package", "offload-build", "--target", platform.target])
            // What such C compilers leave behind cannot be linked.
            .env("CARGO_TARGET_DIR", self.path("checked"))
            .env(format!("CC_{name}"), "true")
            .env(format!("AR_{name}"), "true")
            .env("RUSTFLAGS", "-Dwarnings");
        cargo
    }

    /// The program for `platform`.
    pub(super) fn program(&self, platform: &Platform) -> PathBuf {
        let ending = match platform.target {
            target if target.contains("windows") => ".exe",
            target if target.starts_with("wasm") => ".wasm",
            _ => "",
        };
        self.built(platform, &format!("platforms-app{ending}"))
    }

    /// What cargo has made for `platform`.
    pub(super) fn built(&self, platform: &Platform, name: &str) -> PathBuf {
        self.path("target").join(platform.target).join("debug").join(name)
    }

    /// The folder with the library that Rust's standard library needs and wine 8 lacks.
    pub(super) fn windows_libraries(&self) -> Result<PathBuf> {
        let folder = self.workspace.shell.create_dir(self.path("libraries"))?;
        let library = folder.join("bcryptprimitives.dll");
        if library.is_file() {
            return Ok(folder);
        }
        let source = self.path("src/emulators/bcryptprimitives.c");
        let cc = self.workspace.shell.cmd(WINDOWS_CC).args(["-shared", "-O1", "-o"]).arg(library);
        cc.arg(source).arg("-ladvapi32").quiet().run()?;
        Ok(folder)
    }

    /// PoCL's functions for AArch64.
    fn pocl(&self) -> PathBuf {
        self.path("aarch64/usr/share/pocl")
    }

    /// Downloads and unpacks PoCL's packages for AArch64, with apt's lists in this folder.
    fn fetch_pocl(&self) -> Result<()> {
        if self.pocl().join("include").is_dir() {
            return Ok(());
        }
        let apt = Apt::for_architecture(self.workspace, &self.path("apt"), "arm64")?;
        if !POCL.iter().any(|name| apt.download(name).is_ok()) {
            return Err(Error::new("apt has no PoCL for arm64").hint(POCL.join(" or ")));
        }
        apt.download("libpocl2-common")?;
        apt.unpack(&self.path("aarch64"))?;
        Ok(())
    }
}
