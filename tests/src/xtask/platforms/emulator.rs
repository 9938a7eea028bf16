//! Programs that run programs for other systems.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use offload_tests::error::Result;

use super::folder::Folder;

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emulator {
    /// This machine itself.
    None,
    Qemu,
    Wine,
    Node,
}

/// Where Debian's cross compiler has the C library for AArch64.
const AARCH64_ROOT: &str = "/usr/aarch64-linux-gnu";

/// CPUs that qemu emulates beside the one with everything that it knows, and the level of each.
pub(super) const OTHER_CPUS: [(&str, &str); 2] =
    [("cortex-a76", "(aarch64 armv8.2-a)"), ("cortex-a72", "(aarch64 baseline)")];
/// The level of the former.
pub(super) const HIGHEST_LEVEL: &str = "(aarch64 armv8.2-a+sve)";

impl Emulator {
    pub(super) fn name(self) -> &'static str {
        match self {
            Emulator::None => "yes",
            Emulator::Qemu => "in qemu-user",
            Emulator::Wine => "in wine",
            Emulator::Node => "in node",
        }
    }

    /// The command that runs `program`.
    pub(super) fn command(self, folder: &Folder<'_>, program: &Path) -> Result<Command> {
        Ok(match self {
            Emulator::None => Command::new(program),
            Emulator::Qemu => {
                let mut command = Command::new("qemu-aarch64");
                command.args(["-L", AARCH64_ROOT]).arg(program);
                command
            }
            Emulator::Wine => {
                let mut command = Command::new("wine");
                command.arg(program).envs(wine_variables(folder)?);
                command
            }
            Emulator::Node => {
                let mut command = Command::new("node");
                command.arg("--no-warnings").arg(folder.path("src/emulators/wasi.mjs")).arg(program);
                command
            }
        })
    }
}

/// The environment of programs in wine.
pub(super) fn wine_variables(folder: &Folder<'_>) -> Result<[(&'static str, OsString); 4]> {
    // Wine shows the system around it as a drive.
    let libraries = format!("Z:{}", folder.windows_libraries()?.display()).replace('/', "\\");
    Ok([
        ("WINEPREFIX", folder.path("wine").into()),
        ("WINEPATH", libraries.into()),
        ("WINEDEBUG", "-all".into()),
        // Neither .NET nor a browser is to be installed into the prefix.
        ("WINEDLLOVERRIDES", "mscoree=;mshtml=".into()),
    ])
}
