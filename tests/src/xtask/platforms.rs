//! `platforms`: a program with kernels of its own and of a library, built for every system, and run where that is possible;
//! and kernels by each release of clang.

mod apt;
mod clangs;
mod emulator;
mod folder;
mod platform;

use std::process::{Command, ExitCode};

use self::folder::Folder;
use self::platform::{PLATFORMS, Platform, Step};
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::table::Table;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "platforms [--quick | --clang [RELEASE...]]  build for other systems and by other compilers, and run

For each target of rustc: whether the program builds, with or without a C compiler for the target, links and runs, the
images that it decodes, and the devices on which its kernels give right results; and whether offload-build compiles for a
system to build on. AArch64 runs in qemu-user, Windows in wine,
WebAssembly in node; macOS and Windows with Microsoft's linker are checked, and not linked. rustup and apt install what
is missing; everything else is in the folder platforms of the target directory. --quick takes Windows, WebAssembly and AArch64
alone, and checks macOS.
A second table has, for each release of clang from 19 on, the targets for which it compiles 12 kernels and 20 of public
suites, and how many of them are right on the CPU (host), Intel's CPU runtime (spirv64) and PoCL (opencl-c). Releases that
Debian's own release lacks are downloaded, some 130 MB each. --clang prints this table alone; RELEASE is a number such as
21. --quick leaves it out.";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let quick = match args {
        [] => false,
        [flag] if flag == "--quick" => true,
        [flag, releases @ ..] if flag == "--clang" => return clangs::run(workspace, releases),
        _ => return Err(Error::new("`platforms` takes no argument but `--quick` and `--clang`")),
    };
    let systems = systems(workspace, quick);
    if quick {
        return systems;
    }
    let compilers = clangs::run(workspace, &[]);
    match (systems?, compilers?) {
        (ExitCode::SUCCESS, compilers) => Ok(compilers),
        (systems, _) => Ok(systems),
    }
}

/// The table of systems.
fn systems(workspace: &Workspace, quick: bool) -> Result<ExitCode> {
    if workspace.program("rustup").is_none() {
        return Err(Error::new("rustup is not installed").hint("https://rustup.rs"));
    }
    let platforms: Vec<&Platform> = PLATFORMS.iter().filter(|platform| platform.quick || !quick).collect();
    let install = workspace.shell.cmd("rustup").args(["target", "add"]);
    let installed = workspace::run_through(install.args(platforms.iter().map(|platform| platform.target)))?;
    if !installed.success() {
        return Ok(workspace::exit_code(installed));
    }
    setup::ensure(workspace, &[setup::BUILD, setup::DRIVERS, setup::PLATFORMS])?;
    let folder = Folder::prepare(workspace)?;
    let mut table = Table::new([
        "target",
        "C compiler",
        "builds",
        "links",
        "runs",
        "images",
        "launched on",
        "offload-build",
    ]);
    let mut failures = Vec::new();
    for platform in platforms {
        let row = match outcome(&folder, platform) {
            Ok(row) => row,
            Err(error) => {
                failures.push(format!("{}: {error}", platform.target));
                [platform.target, platform.c_compiler(), "FAILED", "", "", "", "", ""].map(str::to_string)
            }
        };
        eprintln!("{}", row.join(" "));
        table.row(row);
    }
    print!("{table}");
    match failures.as_slice() {
        [] => Ok(ExitCode::SUCCESS),
        failures => Err(Error::new(failures.join("\n"))),
    }
}

/// The row of a platform.
fn outcome(folder: &Folder<'_>, platform: &Platform) -> Result<[String; 8]> {
    let mut cargo = folder.cargo(platform);
    let status = cargo.status()?;
    if !status.success() {
        return Err(Error::new("it does not build; see above"));
    }
    let mut row = [platform.target, platform.c_compiler(), "yes", "not tried", "not tried", "", "", ""];
    let mut found = [String::new(), String::new()];
    if platform.step != Step::Check {
        row[3] = "yes";
    }
    if let Step::Run { emulator, images, launched } = platform.step {
        let output = run_program(emulator.command(folder, &folder.program(platform))?)?;
        let counts = Counts::parse(&output).ok_or_else(|| Error::new(format!("it printed\n{output}")))?;
        if counts != (Counts { images, launched }) {
            let text = format!("{counts:?}, not {images} images and {launched} devices:\n{output}");
            return Err(Error::new(text));
        }
        row[4] = emulator.name();
        found = [counts.images.to_string(), counts.launched.to_string()];
    }
    if platform.is_host {
        if !folder.check_build_helper(platform).status()?.success() {
            return Err(Error::new("offload-build does not compile for it; see above"));
        }
        row[7] = "checked";
    }
    let [images, launched] = &found;
    row[5] = images;
    row[6] = launched;
    Ok(row.map(str::to_string))
}

/// What the program printed; an error if it did not succeed.
fn run_program(mut command: Command) -> Result<String> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(format!("the program failed ({}):\n{text}{errors}", output.status)))
}

/// What the last line of the program tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    images: usize,
    launched: usize,
}

impl Counts {
    /// Reads `images 9 of 9, 3 of the library, launched on 2`.
    fn parse(output: &str) -> Option<Counts> {
        let line = output.lines().rev().find_map(|line| line.strip_prefix("images "))?;
        let (images, rest) = line.split_once(' ')?;
        let (_, launched) = rest.rsplit_once("launched on ")?;
        Some(Counts { images: images.parse().ok()?, launched: launched.trim().parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_counts() {
        let output = "device host: right\nimages 9 of 9, 3 of the library, launched on 2\r\n";
        assert_eq!(Counts::parse(output), Some(Counts { images: 9, launched: 2 }));
        assert_eq!(Counts::parse("images of nothing"), None);
    }
}
