//! A fixture copied to a directory of its own, and the fake tools it is built with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The checkout that is tested.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A fixture project with its own cache and fake tools.
pub struct Project {
    dir: tempfile::TempDir,
    env: Vec<(String, String)>,
}

/// How a build ended.
#[derive(Debug)]
pub struct Outcome {
    pub success: bool,
    pub text: String,
}

impl Project {
    /// Copies the fixture `name`. Its build uses real tools.
    pub fn new(name: &str) -> Project {
        let dir = tempfile::tempdir().unwrap();
        copy(&root().join("tests/fixtures").join(name), dir.path());
        fs::copy(root().join("Cargo.lock"), dir.path().join("Cargo.lock")).unwrap();
        let cache = dir.path().join("cache").display().to_string();
        Project { dir, env: vec![("OFFLOAD_CACHE_DIR".into(), cache)] }
    }

    /// As [`Project::new`], with the fake tools in place of all compilers.
    pub fn with_fake_tools(name: &str) -> Project {
        let mut project = Project::new(name);
        let tools = project.path("tools");
        fs::create_dir_all(tools.join("resource")).unwrap();
        for tool in ["clang", "llvm-link", "opt", "ocloc", "spirv-val"] {
            fs::copy(env!("CARGO_BIN_EXE_fake-tool"), tools.join(tool)).unwrap();
        }
        for (variable, tool) in
            [("OFFLOAD_CLANG", "clang"), ("OFFLOAD_OCLOC", "ocloc"), ("OFFLOAD_SPIRV_VAL", "spirv-val")]
        {
            project.set(variable, &tools.join(tool).display().to_string());
        }
        project
    }

    /// Sets a variable for the builds that follow.
    pub fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(other, _)| other != name);
        self.env.push((name.to_string(), value.to_string()));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        // cargo compares times: an edit in the same instant as the last build would go unseen.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(self.path(name), text).unwrap();
    }

    /// Runs cargo in the project. All projects share one target directory for the crates of the checkout, and have
    /// one of their own for the rest by being packages at different paths.
    pub fn cargo(&self, args: &[&str]) -> Outcome {
        let target = std::env::var_os("OFFLOAD_TEST_TARGET_DIR")
            .map_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures"), PathBuf::from);
        let output = Command::new(env!("CARGO"))
            .args(args)
            .current_dir(self.dir.path())
            .env("CARGO_TARGET_DIR", target)
            .env("CARGO_TERM_COLOR", "never")
            .env_remove("OFFLOAD_CONFIG")
            .env_remove("CLIPPY_ARGS")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Outcome { success: output.status.success(), text }
    }

    /// Builds and runs the program; returns what it printed.
    pub fn run(&self, args: &[&str]) -> String {
        let outcome = self.cargo(&[&["run", "--quiet", "--offline"], args].concat());
        assert!(outcome.success, "{}", outcome.text);
        outcome.text
    }

    /// Builds, which must fail; returns what cargo printed.
    pub fn fail(&self) -> String {
        let outcome = self.cargo(&["build", "--offline"]);
        assert!(!outcome.success, "the build should have failed:\n{}", outcome.text);
        assert!(!outcome.text.contains("panicked") && !outcome.text.contains("RUST_BACKTRACE"), "{}", outcome.text);
        outcome.text
    }

    /// The compilers that ran since the last call, as `clang front-end a.cl`, sorted.
    pub fn calls(&self) -> Vec<String> {
        let log = self.path("tools/calls.log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        let mut calls: Vec<String> = text.lines().map(summary).collect();
        calls.sort();
        calls
    }

    /// Makes a fake tool misbehave; an empty text ends that.
    pub fn fault(&self, tool: &str, fault: &str) {
        fs::write(self.path(&format!("tools/{tool}.fault")), fault).unwrap();
    }
}

fn summary(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let last = words.last().unwrap();
    let what = match words[0] {
        "clang" if line.contains("--version") || line.contains("-print-resource-dir") => "ask",
        "clang" if line.contains("-x ir") => "codegen",
        "clang" if line.contains("-E ") => "merge",
        "clang" if *last == "-" => "check",
        "clang" => return format!("clang {last}"),
        _ if line.contains("--version") => "ask",
        _ => "run",
    };
    format!("{} {what}", words[0])
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else if path.file_name().unwrap() == "Cargo.toml" {
            let text = fs::read_to_string(&path).unwrap();
            fs::write(target, text.replace("@ROOT@", root().to_str().unwrap())).unwrap();
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
