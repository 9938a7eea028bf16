//! The package with kernels that is built, and its builds.

mod package;
mod run;
mod trace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

pub(super) use self::package::{Dialect, Package};
use self::run::Ended;
use super::machine::Machine;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

/// The package.
#[derive(Debug)]
pub(super) struct Project {
    dir: PathBuf,
    target: PathBuf,
    cargo: PathBuf,
    tool: PathBuf,
    images: usize,
    compression: Option<&'static str>,
    /// The network in which it is built, if it has one of its own.
    network: Option<String>,
    /// A folder of `toolchain install`, if its compilers are used.
    toolchain: Option<PathBuf>,
    /// A file with credentials of AWS.
    credentials: Option<PathBuf>,
    /// CUDA's toolkit, if the package needs it.
    toolkit: Option<PathBuf>,
}

/// A compile cache of its own.
#[derive(Debug)]
pub(super) struct Cache(tempfile::TempDir);

/// The outcome of a build.
#[derive(Debug, PartialEq)]
pub(super) struct Built {
    pub(super) time: Duration,
    /// The compilers that ran locally, without queries such as `--version`; `None` in a timed build.
    pub(super) compilers: Option<Vec<String>>,
    /// The program, if there is one.
    pub(super) program: Vec<u8>,
    /// Why other machines did not do the work, as the user sees it.
    pub(super) why: Vec<String>,
    /// The output of cargo, if it failed.
    pub(super) failure: Option<String>,
}

#[cfg(test)]
impl Built {
    /// A build that ran these here, and came to nothing.
    pub(super) fn by(compilers: &[&str]) -> Built {
        let compilers = Some(compilers.iter().map(ToString::to_string).collect());
        Built { time: Duration::ZERO, compilers, program: vec![], why: vec![], failure: None }
    }
}

impl Cache {
    /// An empty one.
    pub(super) fn new() -> Result<Cache> {
        Ok(Cache(tempfile::Builder::new().prefix("offload-remote-").tempdir()?))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Cache {
    /// The process that reaches other machines waits for more to do, and would do so for every cache.
    fn drop(&mut self) {
        let place = self.path().display().to_string();
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let command = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
            if command.contains(&place) && command.contains("remote-server") {
                let _ = Command::new("kill").arg(process.file_name()).stderr(Stdio::null()).status();
            }
        }
    }
}

impl Project {
    /// Writes the package, and builds all that it depends on.
    pub(super) fn prepare(machine: &Machine<'_>, package: Package) -> Result<Project> {
        let dir = machine.place(package);
        write(machine.workspace, &dir, package)?;
        let project = Project {
            target: dir.join("target"),
            dir,
            cargo: machine.workspace.cargo_path().to_path_buf(),
            tool: machine.tool.clone(),
            images: package.images(),
            compression: package.compression(),
            network: None,
            toolchain: None,
            credentials: None,
            toolkit: package.needs_toolkit().then(|| machine.toolkit()).transpose()?,
        };
        // Only what the package itself takes is measured later.
        project.set_remote("")?;
        let cache = Cache::new()?;
        let output = project.command("build", &cache).output()?;
        if !output.status.success() {
            return Err(Error::new(String::from_utf8_lossy(&output.stderr).trim().to_string()));
        }
        Ok(project)
    }

    /// Builds the package from its sources, with these settings for other machines: a table of TOML, or nothing.
    pub(super) fn build(&self, remote: &str, cache: &Cache) -> Result<Built> {
        self.clean(remote, cache)?;
        self.built(trace::run(&self.command("build", cache))?)
    }

    /// The same, without counting compilers: that takes time of its own.
    pub(super) fn time(&self, remote: &str, cache: &Cache) -> Result<Built> {
        self.clean(remote, cache)?;
        self.built(run::run(self.command("build", cache))?)
    }

    /// Leaves only what the package depends on.
    fn clean(&self, remote: &str, cache: &Cache) -> Result<()> {
        self.set_remote(remote)?;
        let cleaned = self.command("clean", cache).output()?;
        if !cleaned.status.success() {
            return Err(Error::new(String::from_utf8_lossy(&cleaned.stderr).trim().to_string()));
        }
        Ok(())
    }

    fn built(&self, ended: Ended) -> Result<Built> {
        let is_good = ended.code == 0;
        Ok(Built {
            time: ended.time,
            compilers: ended.compilers,
            program: if is_good { fs::read(self.program())? } else { Vec::new() },
            why: warnings(&ended.output),
            failure: (!is_good).then_some(ended.output),
        })
    }

    /// From now on it is built in this network.
    pub(super) fn set_network(&mut self, name: Option<&str>) {
        self.network = name.map(str::to_string);
    }

    /// From now on it is built with the compilers of this folder, or with the machine's.
    pub(super) fn set_toolchain(&mut self, folder: Option<&Path>) {
        self.toolchain = folder.map(Path::to_path_buf);
    }

    /// From now on it is built by who has these credentials, or none.
    pub(super) fn set_credentials(&mut self, file: Option<PathBuf>) {
        self.credentials = file;
    }

    /// Checks the number of images in the program.
    pub(super) fn check_images(&self) -> Result<()> {
        let output = Command::new(self.program()).output()?;
        let count = String::from_utf8_lossy(&output.stdout).trim().to_string();
        if count != self.images.to_string() {
            return Err(Error::new(format!("the program has `{count}` images, not {}", self.images)));
        }
        Ok(())
    }

    fn program(&self) -> PathBuf {
        self.target.join("debug/app")
    }

    fn set_remote(&self, remote: &str) -> Result<()> {
        let path = self.dir.join("offload.toml");
        let text = fs::read_to_string(&path)?;
        let first = text.lines().next().unwrap_or_default();
        let line = if remote.is_empty() { String::new() } else { format!("remote = {{ {remote} }}\n") };
        Ok(fs::write(&path, format!("{first}\n{line}"))?)
    }

    fn command(&self, subcommand: &str, cache: &Cache) -> Command {
        let mut command = match &self.network {
            Some(name) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", name]).arg(&self.cargo);
                command
            }
            None => Command::new(&self.cargo),
        };
        command.args([subcommand, "--offline", "--package", "app"]).current_dir(&self.dir);
        command.env("CARGO_TARGET_DIR", &self.target).env("OFFLOAD_CACHE_DIR", cache.path());
        // The images are compared in the program.
        command.env("OFFLOAD_EMBED", "always").env("OFFLOAD_CARGO_OFFLOAD", &self.tool);
        if let Some(folder) = &self.toolchain {
            command.env("OFFLOAD_TOOLCHAIN", folder);
            let tools = [
                ("CLANG", "clang-22"),
                ("LLVM_LINK", "llvm-link-22"),
                ("LLD", "ld.lld-22"),
                ("STRIP", "llvm-strip-22"),
            ];
            for (variable, program) in tools {
                command.env(format!("OFFLOAD_{variable}"), folder.join("usr/bin").join(program));
            }
        }
        // Isolated from files of the user and of the machine.
        let credentials = self.credentials.as_deref().unwrap_or(Path::new("/dev/null"));
        command.env("AWS_SHARED_CREDENTIALS_FILE", credentials).env("AWS_CONFIG_FILE", "/dev/null");
        command.env("AWS_EC2_METADATA_DISABLED", "true");
        command.envs(self.compression.map(|mode| ("OFFLOAD_COMPRESSION", mode)));
        command.envs(self.toolkit.iter().map(|toolkit| ("CUDA_PATH", toolkit)));
        for name in [
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_PROFILE",
            "OFFLOAD_CONFIG",
            "OFFLOAD_TARGETS",
            "OFFLOAD_REMOTE",
            "CLIPPY_ARGS",
            "RUSTFLAGS",
            "CARGO_MAKEFLAGS",
            "MAKEFLAGS",
            "CI",
        ] {
            command.env_remove(name);
        }
        command
    }
}

/// The warnings of the package in the output of cargo, which prints each line as one, also a hint.
fn warnings(output: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let lines = output.lines().filter_map(|line| line.strip_prefix("warning: app@0.1.0: "));
    for line in lines {
        match found.last_mut() {
            Some(last) if line.starts_with("hint: ") => {
                last.push(' ');
                last.push_str(line);
            }
            _ => found.push(line.to_string()),
        }
    }
    found
}

fn write(workspace: &Workspace, dir: &Path, package: Package) -> Result<()> {
    for (path, text) in package.files(&workspace.root) {
        write_file(workspace, &dir.join(path), &text)?;
    }
    // The checkout's own lock file: no version is looked up.
    workspace.shell.copy_file(workspace.root.join("Cargo.lock"), dir.join("Cargo.lock"))?;
    Ok(())
}

/// Cargo looks at times: a file that is as it should be keeps its own.
fn write_file(workspace: &Workspace, path: &Path, text: &str) -> Result<()> {
    if workspace.shell.read_file(path).ok().as_deref() != Some(text) {
        workspace.shell.write_file(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_belongs_to_its_warning() {
        let output = "   Compiling app v0.1.0\nwarning: app@0.1.0: a\nwarning: app@0.1.0: hint: b\nwarning: app@0.1.0: c\n";
        assert_eq!(warnings(output), ["a hint: b", "c"]);
    }
}
