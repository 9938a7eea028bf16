//! The two projects: the same programs, with candle as the registry has it, and patched.

use std::fs;
use std::path::{Path, PathBuf};

use offload_tests::CUDA_VAR;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;
use serde_json::Value;

use super::COMPUTE_CAPABILITY;
use super::libraries::Libraries;
use crate::candle::crates::Crates;

const FIXTURE: &str = "tests/fixtures/candle-core";
/// The release of CUDA whose functions cudarc declares: that of nvcc.
const CUDA_VERSION: &str = "13000";

/// The tests, as the fixture's program has them.
const TESTS: [&str; 11] = [
    "bilinear_tests",
    "conv_tests",
    "custom_op_tests",
    "display_tests",
    "grad_tests",
    "indexing_tests",
    "layout_tests",
    "matmul_tests",
    "pool_tests",
    "quantized_tests",
    "tensor_tests",
];

/// The crates with patches.
const PATCHED: [&str; 2] = ["candle-core", "candle-kernels"];

/// The programs of a project.
const PROGRAMS: [&str; 2] = ["candle-model", "candle-tests"];

pub(super) enum Side {
    /// With a whole toolkit.
    Nvcc { toolkit: PathBuf },
    /// With an assembler and the library of mathematics alone.
    Offload { toolkit: PathBuf, targets: String },
}

pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) file: PathBuf,
}

pub(super) struct Project {
    side: Side,
    directory: PathBuf,
    target: PathBuf,
}

impl Project {
    /// Writes the project below `root`. Files that are as they were keep their time, and what was built from them.
    pub(super) fn create(workspace: &Workspace, side: Side, crates: &Crates, root: &Path) -> Result<Project> {
        let directory = root.join(side.name());
        let fixture = workspace.root.join(FIXTURE);
        let core = crates.directory("candle-core")?;
        for part in ["src", "tests"] {
            copy(&fixture.join(part), &directory.join(part))?;
        }
        for name in TESTS {
            let file = Path::new(name).with_extension("rs");
            copy(&core.join("tests").join(&file), &directory.join("tests/candle").join(&file))?;
        }
        let mut manifest = fs::read_to_string(fixture.join("Cargo.toml"))?;
        if let Side::Offload { targets, .. } = &side {
            patch_crates(workspace, crates, root, &directory)?;
            manifest.push_str(&patched(workspace));
            let targets: Vec<String> = targets.split(',').map(|target| format!("\"{target}\"")).collect();
            let settings = format!("targets = [{}]\n", targets.join(", "));
            write(&directory.join("offload.toml"), settings.as_bytes())?;
        }
        write(&directory.join("Cargo.toml"), manifest.as_bytes())?;
        // What both need of the registry is built once.
        let target = root.join("target");
        Ok(Project { side, directory, target })
    }

    pub(super) fn name(&self) -> &'static str {
        self.side.name()
    }

    /// The programs, in the order of their list. The next project's take the place of the first one.
    pub(super) fn build(&self, workspace: &Workspace, libraries: &Libraries) -> Result<Vec<Program>> {
        let _in = workspace.shell.push_dir(&self.directory);
        let cargo = workspace.cargo().args([
            "test",
            "--no-run",
            "--release",
            "--message-format=json-render-diagnostics",
        ]);
        // Its program too: a test may run it.
        let cargo = cargo.arg("--test=candle-tests");
        let cargo = cargo.env("CARGO_TARGET_DIR", &self.target).env("CUDARC_CUDA_VERSION", CUDA_VERSION);
        let cargo = cargo.env_remove("RUSTFLAGS").env_remove("OFFLOAD_TARGETS");
        // The sizes are those of a release.
        let cargo = cargo.env("CARGO_INCREMENTAL", "0");
        let cargo = match &self.side {
            Side::Nvcc { toolkit } => cargo
                .env("NVCC", toolkit.join("bin/nvcc"))
                .env(CUDA_VAR, &libraries.root)
                .env("CUDA_COMPUTE_CAP", COMPUTE_CAPABILITY),
            Side::Offload { toolkit, .. } => {
                cargo.env(CUDA_VAR, toolkit).env("OFFLOAD_CONFIG", self.directory.join("offload.toml"))
            }
        };
        let messages = cargo.read()?;
        let mut programs = Vec::new();
        for name in PROGRAMS {
            let file = executable(&messages, name)
                .ok_or_else(|| Error::new(format!("cargo names no program {name}")))?;
            programs.push(Program { name, file });
        }
        Ok(programs)
    }
}

impl Side {
    fn name(&self) -> &'static str {
        match self {
            Side::Nvcc { .. } => "nvcc",
            Side::Offload { .. } => "offload",
        }
    }
}

/// Copies both crates into the project's folder, patched.
fn patch_crates(workspace: &Workspace, crates: &Crates, root: &Path, directory: &Path) -> Result<()> {
    let patches = workspace.root.join(FIXTURE).join("patches");
    // Not in place: a file that the patch leaves as it was keeps its time.
    let stage = root.join("stage");
    for name in PATCHED {
        workspace.shell.remove_path(&stage)?;
        copy(&crates.directory(name)?, &stage)?;
        let patch = workspace.shell.cmd("patch").args(["--strip=1", "--quiet", "--directory"]);
        patch.arg(&stage).arg("--input").arg(patches.join(name).with_extension("patch")).run()?;
        if name == "candle-kernels" {
            copy(&patches.join("build.rs"), &stage.join("build.rs"))?;
        }
        copy(&stage, &directory.join(name))?;
    }
    Ok(())
}

/// The lines with which cargo takes the patched crates, and those of this checkout.
fn patched(workspace: &Workspace) -> String {
    let root = workspace.root.display();
    let mut lines = "\n[patch.crates-io]\n".to_string();
    for name in PATCHED {
        lines.push_str(&format!("{name} = {{ path = \"{name}\" }}\n"));
    }
    for name in ["offload-build", "offload-rt"] {
        lines.push_str(&format!("{name} = {{ path = \"{root}/{name}\" }}\n"));
    }
    lines
}

/// The program of the target that cargo's messages name.
fn executable(messages: &str, target: &str) -> Option<PathBuf> {
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let name = message.get("target").and_then(|target| target.get("name")).and_then(Value::as_str);
        let file = message.get("executable").and_then(Value::as_str);
        if let Some(file) = file.filter(|_| name == Some(target)) {
            return Some(PathBuf::from(file));
        }
    }
    None
}

/// Copies a file or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        return write(to, &fs::read(from)?);
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Writes a file that is not as it should be.
fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(file).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(file, bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_from_messages() {
        let messages = "{\"target\":{\"name\":\"a\"},\"executable\":null}\n\
                        {\"target\":{\"name\":\"b\"},\"executable\":\"/t/b\"}\n\
                        {\"target\":{\"name\":\"a\"},\"executable\":\"/t/a-0123\"}\n";
        assert_eq!(executable(messages, "a"), Some(PathBuf::from("/t/a-0123")));
        assert_eq!(executable(messages, "c"), None);
        assert_eq!(executable("not JSON", "a"), None);
    }

    #[test]
    fn a_file_that_is_as_it_should_be_keeps_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        write(&from.join("a/b"), b"1").unwrap();
        copy(&from, &to).unwrap();
        let time = fs::metadata(to.join("a/b")).unwrap().modified().unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::metadata(to.join("a/b")).unwrap().modified().unwrap(), time);
        write(&from.join("a/b"), b"2").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("a/b")).unwrap(), b"2");
    }
}
