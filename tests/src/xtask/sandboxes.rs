//! `sandboxes`: builds of the demo where other tools keep, restore or hide files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

use crate::cargo_tool::CargoTool;

pub(crate) const HELP: &str =
    "sandboxes [--install]  build the demo in a sandbox without home and network, and with kache

In the sandbox (bubblewrap) the target directory alone can be written to, as in Nix; two builds have to make the same bytes.
kache keeps what build scripts have made: the program has to find its images after the target directory and the compile cache
are gone. --install compiles kache, which takes a quarter of an hour; without it a kache that is not there is not tried.";

const PACKAGE: &str = "example-app";
const KACHE: CargoTool =
    CargoTool { package: "kache", version: "2.0.0", arguments: &["--debug"], is_unoptimized: false };

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let kache = match args {
        [] => installed(workspace),
        [install] if install == "--install" => Some(install_kache(workspace)?),
        _ => return Err(Error::new("`sandboxes` takes `--install`")),
    };
    setup::ensure(workspace, &[setup::BUILD, setup::SANDBOX])?;
    let folder = workspace.shell.create_dir(workspace.target_dir.join("sandboxes"))?;
    let builds = without_home(workspace, &folder)?;
    println!("{FIGURE}{builds} builds without a home and a network; 0 differ, 0 files written elsewhere");
    match kache {
        Some(kache) => {
            let builds = Restored { workspace, kache: &kache, folder: &folder.join("kache") }.run()?;
            println!("{FIGURE}{builds} builds with kache {}; 0 programs without images", KACHE.version);
        }
        None => println!("kache is not installed and was not tried: `cargo xtask sandboxes --install`"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Where nothing but the target directory can be written to, with a home that is not there and without any.
fn without_home(workspace: &Workspace, folder: &Path) -> Result<usize> {
    let target = folder.join("target");
    let homes: [&[&str]; 2] = [&["--setenv", "HOME", "/homeless-shelter"], &[]];
    let mut programs = Vec::new();
    for home in homes {
        let clean = workspace.cargo().args(["clean", "--quiet", "--package", PACKAGE, "--target-dir"]);
        clean.arg(&target).quiet().run()?;
        let root = &workspace.root;
        fs::create_dir_all(&target)?;
        let mut sandbox = Command::new("bwrap");
        sandbox.args(["--unshare-all", "--clearenv", "--ro-bind", "/", "/", "--tmpfs", "/tmp"]);
        sandbox.args(["--dev", "/dev", "--proc", "/proc", "--ro-bind"]).args([root, root]);
        sandbox.arg("--bind").args([&target, &target]).arg("--chdir").arg(root).args(home);
        for (name, value) in toolchain(workspace) {
            sandbox.args(["--setenv", name]).arg(value);
        }
        sandbox.arg(workspace.cargo_path()).args(["build", "--quiet", "--locked", "--offline"]);
        sandbox.args(["--package", PACKAGE, "--target-dir"]).arg(&target);
        succeed(&mut sandbox)?;
        programs.push(fs::read(program(&target))?);
    }
    succeed(Command::new(program(&target)).env_clear().env("PATH", "/usr/bin:/bin"))?;
    if programs.windows(2).all(|two| two.first() == two.last()) {
        Ok(programs.len())
    } else {
        Err(Error::new("two builds in sandboxes made different programs"))
    }
}

/// What cargo needs of the environment.
fn toolchain(workspace: &Workspace) -> Vec<(&'static str, PathBuf)> {
    let tools = workspace.cargo_path().parent().unwrap_or(Path::new("/usr/bin"));
    let path = PathBuf::from(format!("{}:/usr/bin:/bin", tools.display()));
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cargo = std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
    vec![("PATH", path), ("CARGO_HOME", cargo)]
}

fn program(target: &Path) -> PathBuf {
    target.join("debug").join(PACKAGE)
}

fn succeed(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let streams = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Err(Error::new(format!("{command:?}: {}\n{}", output.status, streams.concat().trim_end())))
}

/// A kache that is there.
fn installed(workspace: &Workspace) -> Option<PathBuf> {
    KACHE.installed(workspace).or_else(|| workspace.program(KACHE.package))
}

fn install_kache(workspace: &Workspace) -> Result<PathBuf> {
    match installed(workspace) {
        Some(kache) => Ok(kache),
        None => KACHE.install(workspace),
    }
}

/// Builds whose build scripts kache restores.
struct Restored<'a> {
    workspace: &'a Workspace,
    kache: &'a Path,
    folder: &'a Path,
}

impl Restored<'_> {
    fn run(&self) -> Result<usize> {
        self.workspace.shell.remove_path(self.folder)?;
        let built = self.builds();
        // The first build starts it.
        let _ = self.command(self.kache).args(["daemon", "stop"]).output();
        built
    }

    /// A clean build, one from kache, and one from kache after the program's pack is gone from the compile cache.
    fn builds(&self) -> Result<usize> {
        let target = self.folder.join("target");
        let kernels = self.folder.join("kernels");
        self.build()?;
        fs::remove_dir_all(&target)?;
        self.build()?;
        if !self.has_restored()? {
            return Err(Error::new(format!("kache has restored no OUT_DIR of {PACKAGE}")));
        }
        fs::remove_dir_all(&target)?;
        fs::remove_dir_all(&kernels)?;
        self.build()?;
        fs::remove_dir_all(&kernels)?;
        self.build()?;
        Ok(4)
    }

    /// Builds, and runs the program, whose images are in the compile cache.
    fn build(&self) -> Result<()> {
        let mut cargo = self.command(self.workspace.cargo_path());
        cargo.args(["build", "--quiet", "--package", PACKAGE]).env("RUSTC_WRAPPER", self.kache);
        succeed(&mut cargo)?;
        succeed(&mut self.command(&program(&self.folder.join("target"))))
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.workspace.root)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("KACHE_CACHE_DIR", self.folder.join("store"))
            .env("OFFLOAD_CACHE_DIR", self.folder.join("kernels"))
            // A build script that watches for files that are not there is run each time.
            .env("OFFLOAD_CONFIG", self.workspace.root.join("offload.toml"))
            .env("OFFLOAD_EMBED", "release");
        command
    }

    fn has_restored(&self) -> Result<bool> {
        let events = self.workspace.shell.read_file(self.folder.join("store/events.jsonl"))?;
        let package = format!("\"package\":\"{PACKAGE}\"");
        let parts = ["\"local_hit\"", "\"build_script_run\"", &package];
        Ok(events.lines().any(|line| parts.iter().all(|part| line.contains(part))))
    }
}
