//! Full builds of all files by nvcc and by this project, one after the other: their time, and the bytes of the images.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Toolkit};
use offload_tests::table::Table;
use offload_tests::workspace::Workspace;

use super::files::File;
use super::{KERNELS_VAR, sources, wanted};

const FIXTURE: &str = "candle-build";
const FILES_VAR: &str = "CANDLE_FILES";
/// candle does not build it as it comes, and nvcc's part of it is Thrust's.
const LEFT_OUT: &str = "moe_align";
/// The architectures of NVIDIA that both compile for.
const ARCHITECTURES: [&str; 3] = ["80", "90", "100"];
const TARGETS_OF_AMD: [&str; 3] = ["amdgcn:gfx90a", "amdgcn:gfx942", "amdgcn:gfx1100"];
/// As candle has nvcc compile them.
const NVCC_FLAGS: [&str; 5] =
    ["-fatbin", "--compress-mode=size", "--expt-relaxed-constexpr", "-std=c++17", "-O3"];
/// The modes of compression, the default of release builds first.
const MODES: [&str; 2] = ["balanced", "archive"];
/// A header that one file includes.
const HEADER: &str = "binary_op_macros.cuh";
/// Processes of nvcc at a time, as many as cargo starts jobs here.
fn jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let paths = paths(&wanted(args)?);
    setup::ensure(workspace, &[setup::BUILD])?;
    let toolkit = setup::ensure_cuda(workspace, Toolkit::Nvcc)?;
    let root = workspace.shell.create_dir(workspace.target_dir.join("candle/build"))?;
    let kernels = root.join("kernels");
    copy(&sources(workspace)?, &kernels)?;
    let project = Project::create(workspace, &toolkit, &root, &kernels)?;
    let mut table = Table::new(["build", "seconds", "bytes of images for NVIDIA"]);
    let nvcc = nvcc(&toolkit, &kernels, paths.clone(), &root.join("nvcc"))?;
    table.row(["nvcc, three of NVIDIA".to_string(), seconds(nvcc.took), nvcc.bytes.to_string()]);
    // What does not depend on the kernels is built before the clock starts.
    project.build(&nvidia(), MODES[0], "fill")?;
    project.clear_cache()?;
    let all = [nvidia(), TARGETS_OF_AMD.map(str::to_string).to_vec()].concat();
    let names = paths.join(" ");
    table.row([
        "offload-build, three of NVIDIA and three of AMD".to_string(),
        seconds(project.build(&all, MODES[0], &names)?),
        String::new(),
    ]);
    table.row([
        "the same, nothing changed".to_string(),
        seconds(project.build(&all, MODES[0], &names)?),
        String::new(),
    ]);
    change(&kernels.join(HEADER))?;
    table.row([
        format!("the same, {HEADER} changed"),
        seconds(project.build(&all, MODES[0], &names)?),
        String::new(),
    ]);
    for mode in MODES {
        let took = project.build(&nvidia(), mode, &names)?;
        table.row([
            format!("{mode}, three of NVIDIA, from the cache"),
            seconds(took),
            project.bytes()?.to_string(),
        ]);
    }
    println!("{table}");
    Ok(ExitCode::SUCCESS)
}

fn nvidia() -> Vec<String> {
    ARCHITECTURES.map(|architecture| format!("cubin:sm_{architecture}")).into()
}

/// The files that can be built, without their extension.
fn paths(files: &[&'static File]) -> Vec<&'static str> {
    let mut paths = Vec::new();
    for file in files {
        if file.name != LEFT_OUT {
            paths.push(file.path.trim_end_matches(".cu"));
        }
    }
    paths
}

fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

struct Built {
    took: Duration,
    bytes: u64,
}

/// Compiles each file to a fatbin with all architectures, so many at a time as there are processors.
fn nvcc(toolkit: &Path, kernels: &Path, mut waiting: Vec<&str>, folder: &Path) -> Result<Built> {
    fs::create_dir_all(folder)?;
    let start = Instant::now();
    let mut running: Vec<(Child, PathBuf)> = Vec::new();
    let mut bytes = 0;
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < jobs()
            && let Some(path) = waiting.pop()
        {
            let fatbin = folder.join(path.replace('/', "_")).with_extension("fatbin");
            running.push((start_nvcc(toolkit, &kernels.join(path).with_extension("cu"), &fatbin)?, fatbin));
        }
        let mut left = Vec::new();
        for (mut child, fatbin) in running {
            match child.try_wait()? {
                None => left.push((child, fatbin)),
                Some(status) if status.success() => bytes += fs::metadata(&fatbin)?.len(),
                Some(status) => {
                    return Err(Error::new(format!("nvcc makes no {}: {status}", fatbin.display())));
                }
            }
        }
        running = left;
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(Built { took: start.elapsed(), bytes })
}

fn start_nvcc(toolkit: &Path, file: &Path, fatbin: &Path) -> Result<Child> {
    let mut nvcc = Command::new(toolkit.join("bin/nvcc"));
    nvcc.args(NVCC_FLAGS);
    for architecture in ARCHITECTURES {
        nvcc.arg(format!("-gencode=arch=compute_{architecture},code=sm_{architecture}"));
    }
    Ok(nvcc.arg("-o").arg(fatbin).arg(file).spawn()?)
}

/// The package whose build script compiles all files.
struct Project<'a> {
    workspace: &'a Workspace,
    toolkit: PathBuf,
    package: PathBuf,
    target: PathBuf,
    cache: PathBuf,
    kernels: PathBuf,
}

impl<'a> Project<'a> {
    fn create(workspace: &'a Workspace, toolkit: &Path, root: &Path, kernels: &Path) -> Result<Project<'a>> {
        let package = workspace.shell.create_dir(root.join("package"))?;
        fixture::copy(workspace, FIXTURE, &package)?;
        Ok(Project {
            workspace,
            toolkit: toolkit.to_path_buf(),
            package,
            target: root.join("target"),
            cache: root.join("cache"),
            kernels: kernels.to_path_buf(),
        })
    }

    fn clear_cache(&self) -> Result<()> {
        Ok(self.workspace.shell.remove_path(&self.cache)?)
    }

    /// Builds these files for these targets, and returns how long it took.
    fn build(&self, targets: &[String], mode: &str, files: &str) -> Result<Duration> {
        let quoted: Vec<String> = targets.iter().map(|target| format!("\"{target}\"")).collect();
        let config = self.package.join("offload.toml");
        let settings = format!("targets = [{}]\ncompression = \"{mode}\"\n", quoted.join(", "));
        if fs::read_to_string(&config).ok().as_ref() != Some(&settings) {
            fs::write(&config, settings)?;
        }
        let _in = self.workspace.shell.push_dir(&self.package);
        let cargo = self.workspace.cargo().args(["build", "--release", "--quiet"]);
        let cargo = cargo.env("CARGO_TARGET_DIR", &self.target).env("CUDA_PATH", &self.toolkit);
        let cargo = cargo.env("OFFLOAD_CONFIG", &config).env("OFFLOAD_CACHE_DIR", &self.cache);
        let cargo = cargo.env(KERNELS_VAR, &self.kernels).env(FILES_VAR, files);
        let cargo = cargo.env_remove("OFFLOAD_TARGETS").env_remove("RUSTFLAGS");
        let start = Instant::now();
        cargo.run()?;
        Ok(start.elapsed())
    }

    /// The size of the archives that the last build linked.
    fn bytes(&self) -> Result<u64> {
        let mut newest = None;
        for entry in fs::read_dir(self.target.join("release/build"))? {
            let out = entry?.path().join("out");
            let is_ours = out
                .parent()
                .and_then(Path::file_name)
                .is_some_and(|name| name.to_string_lossy().starts_with("offload-candle-build-"));
            if is_ours && out.is_dir() {
                newest = newest.max(Some((fs::metadata(&out)?.modified()?, out)));
            }
        }
        let (_, out) = newest.ok_or_else(|| Error::new("the build left no archive"))?;
        let mut bytes = 0;
        for entry in fs::read_dir(out)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "a") {
                bytes += fs::metadata(&path)?.len();
            }
        }
        Ok(bytes)
    }
}

/// Adds a function that nothing calls.
fn change(header: &Path) -> Result<()> {
    let text = fs::read_to_string(header)?;
    Ok(fs::write(header, format!("{text}\nstatic inline __device__ int changed() {{ return 1; }}\n"))?)
}

/// Copies a folder with all that is in it. Files that are as they were keep their time.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to)?;
            continue;
        }
        let bytes = fs::read(entry.path())?;
        if !fs::read(&to).is_ok_and(|known| known == bytes) {
            fs::write(&to, bytes)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candle_builds_all_files_but_one() {
        let all = wanted(&[]).unwrap();
        let paths = paths(&all);
        assert_eq!(paths.len(), all.len() - 1);
        assert!(paths.contains(&"mmq_gguf/mmq_instance_q4_0"));
        assert!(!paths.contains(&LEFT_OUT));
    }

    #[test]
    fn a_copy_keeps_times_and_a_change_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("a")).unwrap();
        fs::write(from.join("a/b"), b"1").unwrap();
        copy(&from, &to).unwrap();
        let time = fs::metadata(to.join("a/b")).unwrap().modified().unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::metadata(to.join("a/b")).unwrap().modified().unwrap(), time);
        change(&to.join("a/b")).unwrap();
        assert!(fs::read_to_string(to.join("a/b")).unwrap().starts_with("1\nstatic"));
    }
}
