//! A build script as a program for Windows, in wine, with clang for Windows: it writes the packs that the same script writes on
//! Linux, byte for byte.
//!
//! No Rust for Windows runs in wine 8, so that the script runs without cargo, with the variables that cargo sets. clang is Zig's;
//! `llvm-link` and `ld.lld` are those of the system around wine.

use std::path::{Path, PathBuf};
use std::process::Command;

use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, WheelSystem};
use offload_tests::workspace::Workspace;

use super::clangs::release::{self, Zig};
use super::emulator::Emulator;
use super::folder::Folder;
use super::platform::Platform;
use super::run_program;

/// What the script builds for.
pub(super) const TARGET: &str = "x86_64-pc-windows-gnu";
const PACKS: [&str; 2] = ["offload_scale.pack", "offload_sum.pack"];

/// As cargo sets them in a release build for [`TARGET`].
const VARIABLES: [(&str, &str); 16] = [
    ("CARGO_PKG_NAME", "platforms-app"),
    ("CARGO_PKG_VERSION", "0.1.0"),
    ("CARGO_CFG_TARGET_OS", "windows"),
    ("CARGO_CFG_TARGET_ENV", "gnu"),
    ("CARGO_CFG_TARGET_ARCH", "x86_64"),
    ("CARGO_CFG_TARGET_FAMILY", "windows"),
    ("CARGO_CFG_TARGET_ENDIAN", "little"),
    ("CARGO_CFG_TARGET_POINTER_WIDTH", "64"),
    ("TARGET", TARGET),
    ("HOST", TARGET),
    ("PROFILE", "release"),
    ("OPT_LEVEL", "3"),
    ("DEBUG", "false"),
    ("NUM_JOBS", "2"),
    ("OFFLOAD_TARGETS", "host,spirv64,opencl-c"),
    ("OFFLOAD_COMPRESSION", "balanced"),
];

/// What the table says of it.
pub(super) fn check(workspace: &Workspace, folder: &Folder<'_>, windows: &Platform) -> Result<String> {
    let linux = Platform::for_target("x86_64-unknown-linux-gnu")?;
    for platform in [linux, windows] {
        if !folder.cargo_for_script(platform).status()?.success() {
            return Err(Error::new("a build script does not build; see above"));
        }
    }
    let zig = Zig::ensure(workspace, &folder.path("clangs"))?;
    let lld = setup::llvm(workspace, "ld.lld").ok_or_else(|| Error::new("ld.lld is missing"))?;
    let here = Script { folder, name: "here", emulator: Emulator::None };
    let mut command = here.command(&folder.built(linux, "platforms-script"))?;
    command.envs(zig.compiler.variables.iter().cloned()).env("OFFLOAD_LLD", &lld);
    let expected = here.packs(workspace, command)?;
    let tools = WindowsTools::new(workspace, folder)?;
    tools.unpack_clang(&zig)?;
    let tool = folder.built(windows, "platforms-tool.exe");
    let there = Script { folder, name: "there", emulator: Emulator::Wine };
    let mut command = there.command(&folder.built(windows, "platforms-script.exe"))?;
    command.env("OFFLOAD_CLANG", wine_path(&tools.install(&tool, "clang", None)?));
    command.env("OFFLOAD_LLVM_LINK", wine_path(&tools.install(&tool, "llvm-link", Some(&zig.llvm_link))?));
    command.env("OFFLOAD_LLD", wine_path(&tools.install(&tool, "ld.lld", Some(&lld))?));
    command.env("OFFLOAD_POCL_DIR", wine_path(Path::new("/usr/share/pocl")));
    if there.packs(workspace, command)? != expected {
        return Err(Error::new("the build script makes other packs in wine than on Linux"));
    }
    Ok("runs in wine".to_string())
}

/// A run of the build script, with folders of its own.
struct Script<'f> {
    folder: &'f Folder<'f>,
    name: &'static str,
    emulator: Emulator,
}

impl Script<'_> {
    fn command(&self, program: &Path) -> Result<Command> {
        let mut command = self.emulator.command(self.folder, program)?;
        let package = self.folder.path("src/app");
        command.current_dir(&package).envs(VARIABLES);
        command.env("CARGO_MANIFEST_DIR", self.path(&package));
        command.env("OUT_DIR", self.path(&self.out_dir()));
        command.env("OFFLOAD_CACHE_DIR", self.path(&self.place("cache")));
        Ok(command)
    }

    /// Runs the script in empty folders.
    fn packs(&self, workspace: &Workspace, command: Command) -> Result<Vec<Vec<u8>>> {
        for folder in [self.out_dir(), self.place("cache")] {
            workspace.shell.remove_path(&folder)?;
            workspace.shell.create_dir(&folder)?;
        }
        run_program(command)?;
        let mut packs = Vec::new();
        for name in PACKS {
            packs.push(workspace.shell.read_binary_file(self.out_dir().join(name))?);
        }
        Ok(packs)
    }

    fn out_dir(&self) -> PathBuf {
        self.place("out")
    }

    fn place(&self, what: &str) -> PathBuf {
        self.folder.path(&format!("script/{}/{what}", self.name))
    }

    fn path(&self, path: &Path) -> String {
        match self.emulator {
            Emulator::Wine => wine_path(path),
            _ => path.display().to_string(),
        }
    }
}

/// Wine shows the system around it as a drive.
fn wine_path(path: &Path) -> String {
    format!("Z:{}", path.display()).replace('/', "\\")
}

/// A folder of compilers for Windows.
struct WindowsTools<'w> {
    workspace: &'w Workspace,
    root: PathBuf,
}

impl<'w> WindowsTools<'w> {
    fn new(workspace: &'w Workspace, folder: &Folder<'_>) -> Result<WindowsTools<'w>> {
        let root = workspace.shell.create_dir(folder.path("script/tools"))?;
        Ok(WindowsTools { workspace, root })
    }

    /// Unpacks `zig.exe`, with clang's headers where it looks for them.
    fn unpack_clang(&self, zig: &Zig) -> Result<()> {
        let shell = &self.workspace.shell;
        if !self.program("zig").is_file() {
            let wheel = setup::ensure_download(self.workspace, release::ZIG, WheelSystem::Windows)?;
            shell.cmd("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&self.root).quiet().run()?;
        }
        let resources = self.root.join("lib/clang");
        if !resources.is_dir() {
            shell.create_dir(&resources)?;
            shell.cmd("cp").arg("-r").arg(&zig.headers).arg(&resources).quiet().run()?;
        }
        Ok(())
    }

    /// Gives `tool` a name: it runs clang, or `command` outside of wine.
    fn install(&self, tool: &Path, name: &str, command: Option<&Path>) -> Result<PathBuf> {
        let program = self.program(name);
        self.workspace.shell.copy_file(tool, &program)?;
        if let Some(command) = command {
            release::write_script(
                self.workspace,
                &program.with_extension(""),
                &command.display().to_string(),
            )?;
        }
        Ok(program)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.root.join("ziglang").join(format!("{name}.exe"))
    }
}
