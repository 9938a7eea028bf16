//! `platforms`: a program with kernels of its own and of a library, built for every system, and run where that is possible;
//! and kernels by each release of clang.

mod apple;
mod apt;
mod build_script;
mod changed;
mod clangs;
mod dylibs;
mod emulator;
mod folder;
mod microsoft;
mod platform;
mod suites;

use std::io::{Read, Seek};
use std::process::{Command, ExitCode};

use self::changed::Changes;
use self::emulator::{Emulator, HIGHEST_LEVEL, OTHER_CPUS};
use self::folder::Folder;
use self::platform::{PLATFORMS, Platform, Step};
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::table::Table;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "platforms [--quick | --tests | --clang [RELEASE...] | TARGET...]  build for other systems and by other compilers, and run

For each target of rustc: whether the program builds, with or without a C compiler for the target, links and runs, the
images that it decodes, and the devices on which its kernels give right results; and whether offload-build compiles for a
system to build on; on Windows a build script runs, with clang for Windows, and makes the packs of one on Linux. AArch64 runs in qemu-user, Windows in wine,
WebAssembly in node; programs for macOS are not run. Programs for macOS and for Microsoft's linker are linked by lld, without
the libraries of either: with text in place of Apple's, and with a start of some lines in place of Microsoft's. The images of
host for macOS are read by LLVM's tools. rustup and apt install what
is missing; everything else is in the folder platforms of the target directory. --quick takes Windows, WebAssembly and AArch64
and macOS alone.
Of the programs for Windows all images but one kind are removed, and all are moved into a file and back, by `cargo offload`;
llvm-objdump and Python's pefile read the result, and wine runs it. So it is with a DLL, which a program loads, launches a kernel
of, and frees, three times. A second table counts the tests of offload-rt and of the
crates that read and write packs which pass in wine; --tests prints it alone. --quick leaves both out.
A third table has, for each release of clang from 19 on, the targets for which it compiles 12 kernels and 20 of public
suites, and how many of them are right on the CPU (host), Intel's CPU runtime (spirv64) and PoCL (opencl-c). Releases that
Debian's own release lacks are downloaded, some 130 MB each. --clang prints this table alone; RELEASE is a number such as
21. --quick leaves it out.
With TARGET, a target of the first table, only its rows are made, in full.";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    match args {
        [] => {}
        [flag] if flag == "--quick" => {
            let quick: Vec<&Platform> = PLATFORMS.iter().filter(|platform| platform.quick).collect();
            return systems(workspace, &quick, true);
        }
        [flag] if flag == "--tests" => return windows_tests(workspace),
        [flag, releases @ ..] if flag == "--clang" => return clangs::run(workspace, releases),
        targets => return systems(workspace, &named(targets)?, false),
    }
    let all: Vec<&Platform> = PLATFORMS.iter().collect();
    let systems = systems(workspace, &all, false);
    let tests = windows_tests(workspace);
    let compilers = clangs::run(workspace, &[]);
    for outcome in [systems?, tests?] {
        if outcome != ExitCode::SUCCESS {
            return Ok(outcome);
        }
    }
    compilers
}

/// The table of tests in wine.
fn windows_tests(workspace: &Workspace) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD, setup::DRIVERS, setup::PLATFORMS])?;
    suites::run(workspace, &Folder::prepare(workspace)?)
}

/// The platforms with these names.
fn named(targets: &[String]) -> Result<Vec<&'static Platform>> {
    targets.iter().map(|target| Platform::for_target(target)).collect()
}

/// The table of systems.
fn systems(workspace: &Workspace, platforms: &[&Platform], quick: bool) -> Result<ExitCode> {
    if workspace.program("rustup").is_none() {
        return Err(Error::new("rustup is not installed").hint("https://rustup.rs"));
    }
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
        "changed",
        "offload-build",
    ]);
    let mut failures = Vec::new();
    for platform in platforms {
        let row = match outcome(workspace, &folder, platform, quick) {
            Ok(row) => row,
            Err(error) => {
                failures.push(format!("{}: {error}", platform.target));
                [platform.target, platform.c_compiler(), "FAILED", "", "", "", "", "", ""].map(str::to_string)
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
fn outcome(
    workspace: &Workspace,
    folder: &Folder<'_>,
    platform: &Platform,
    quick: bool,
) -> Result<[String; 9]> {
    if platform.is_apple() {
        apple::make_libraries(workspace, folder)?;
    }
    if platform.target == microsoft::TARGET {
        microsoft::make_libraries(workspace, folder)?;
    }
    let mut cargo = folder.cargo(platform);
    let status = cargo.status()?;
    if !status.success() {
        return Err(Error::new("it does not build; see above"));
    }
    let mut row = [platform.target, platform.c_compiler(), "yes", "yes", "not tried", "", "", "", ""];
    let mut found = [String::new(), String::new()];
    let mut changed = String::new();
    if let Step::Run { emulator, images, launched } = platform.step {
        let output = run_program(emulator.command(folder, &folder.program(platform))?)?;
        let counts = Counts::parse(&output).ok_or_else(|| Error::new(format!("it printed\n{output}")))?;
        if counts != (Counts { images, launched }) {
            let text = format!("{counts:?}, not {images} images and {launched} devices:\n{output}");
            return Err(Error::new(text));
        }
        if emulator == Emulator::Qemu {
            check_levels(folder, platform, &output)?;
        }
        row[4] = emulator.name();
        found = [counts.images.to_string(), counts.launched.to_string()];
        if emulator == Emulator::Wine && !quick {
            changed = changes(workspace, folder, platform, emulator)?;
        }
    }
    if platform.is_apple() && !quick {
        let changes = Changes::new(workspace, folder, Emulator::None)?;
        let program = folder.program(platform);
        let of_program = changed::check_unrun(&changes, &program)?;
        let dylibs = dylibs::check(workspace, &program, &changes)?;
        changed = format!("{of_program}; {dylibs}");
    }
    let mut helper = String::new();
    if platform.is_host {
        if !folder.check_build_helper(platform).status()?.success() {
            return Err(Error::new("offload-build does not compile for it; see above"));
        }
        helper.push_str("checked");
    }
    if platform.target == build_script::TARGET && !quick {
        helper = build_script::check(workspace, folder, platform)?;
    }
    let [images, launched] = &found;
    row[5] = images;
    row[6] = launched;
    row[7] = &changed;
    row[8] = &helper;
    Ok(row.map(str::to_string))
}

/// On each CPU the kernels run by the highest level that it has. `output` is that of a CPU with all of them.
fn check_levels(folder: &Folder<'_>, platform: &Platform, output: &str) -> Result<()> {
    expect_level(output, HIGHEST_LEVEL)?;
    for (cpu, level) in OTHER_CPUS {
        let mut command = Emulator::Qemu.command(folder, &folder.program(platform))?;
        command.env("QEMU_CPU", cpu);
        expect_level(&run_program(command)?, level)?;
    }
    Ok(())
}

fn expect_level(output: &str, level: &str) -> Result<()> {
    let is_right = output.lines().any(|line| line.ends_with(": right") && line.contains(level));
    if is_right { Ok(()) } else { Err(Error::new(format!("no kernel ran on `{level}`:\n{output}"))) }
}

/// What was done with the program, and with a library that another program loads.
fn changes(
    workspace: &Workspace,
    folder: &Folder<'_>,
    platform: &Platform,
    emulator: Emulator,
) -> Result<String> {
    let changes = Changes::new(workspace, folder, emulator)?;
    let of_program = changed::check(&changes, &folder.program(platform))?;
    if !folder.cargo_for_plugin(platform).status()?.success() {
        return Err(Error::new("a library with kernels does not build; see above"));
    }
    let loader = folder.built(platform, "platforms-loader.exe");
    let library = folder.built(platform, "platforms_plugin.dll");
    let of_library = changed::check_library(&changes, &loader, &library)?;
    Ok(format!("{of_program}; {of_library}"))
}

/// What the program printed; an error if it did not succeed.
fn run_program(mut command: Command) -> Result<String> {
    // Wine's services keep open what its first program has: the end of a pipe would not come.
    let mut output = tempfile::tempfile()?;
    let status = command.stdout(output.try_clone()?).stderr(output.try_clone()?).status()?;
    output.rewind()?;
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if status.success() {
        return Ok(text);
    }
    Err(Error::new(format!("the program failed ({status}):\n{text}")))
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
mod unit_tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_counts() {
        let output = "device host: right\nimages 9 of 9, 3 of the library, launched on 2\r\n";
        assert_eq!(Counts::parse(output), Some(Counts { images: 9, launched: 2 }));
        assert_eq!(Counts::parse("images of nothing"), None);
    }
}
