//! A fixture copied to a directory of its own, and the fake tools it is built with.

mod hint;
mod place;
pub mod processors;
#[path = "../../../../cargo-offload/tests/it/support/program.rs"]
pub mod program;
pub mod random;
pub mod script;
#[path = "../../../../cargo-offload/tests/it/support/strace.rs"]
pub mod strace;
mod target_dir;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use offload_format::pack::{Pack, Pages};

use self::place::Place;
use self::target_dir::target_dir;

/// Settings with less to compile and to link. Every cargo that builds a fixture needs them, or it rebuilds all
/// dependencies.
pub const LESS_TO_COMPILE: [(&str, &str); 3] = [
    ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only"),
    // Build scripts are half as large.
    ("CARGO_PROFILE_DEV_BUILD_OVERRIDE_STRIP", "symbols"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
];

const FAKE_TOOL: &str = env!("CARGO_BIN_EXE_fake-tool");

/// The checkout that is tested.
pub fn root() -> PathBuf {
    offload_tests::workspace_root()
}

/// A fixture project with its own cache and fake tools.
pub struct Project {
    place: Place,
    target_dir: PathBuf,
    env: Vec<(String, String)>,
}

/// How a build ended.
#[derive(Debug)]
pub struct Outcome {
    pub success: bool,
    pub code: i32,
    pub text: String,
}

impl Project {
    /// Copies the fixture `name`. Its build uses real tools.
    pub fn new(name: &str) -> Project {
        let fixture = root().join("tests/fixtures").join(name);
        let target_dir = target_dir();
        let mut place = Place::take(&fixture, &target_dir);
        copy(&fixture, &place.directory, &place.name());
        fs::copy(root().join("Cargo.lock"), place.directory.join("Cargo.lock")).unwrap();
        place.keep_build_script(&fixture);
        let cache = place.directory.join("cache").display().to_string();
        Project { place, target_dir, env: vec![("OFFLOAD_CACHE_DIR".into(), cache)] }
    }

    /// As [`Project::new`], with a cache that all such projects share: for tests that look at programs and errors, whose
    /// kernels or targets are those of other tests too.
    pub fn with_shared_cache(name: &str) -> Project {
        let mut project = Project::new(name);
        let cache = offload_tests::fixture_target_dir().join("kernels");
        project.set("OFFLOAD_CACHE_DIR", &cache.display().to_string());
        project
    }

    /// As [`Project::new`], with the fake tools in place of all compilers.
    pub fn with_fake_tools(name: &str) -> Project {
        let mut project = Project::new(name);
        let tools = project.path("tools");
        fs::create_dir_all(tools.join("resource")).unwrap();
        for tool in ["clang", "llvm-link", "ocloc", "spirv-val"] {
            program::copy(FAKE_TOOL.as_ref(), &tools.join(tool));
        }
        for (variable, tool) in
            [("OFFLOAD_CLANG", "clang"), ("OFFLOAD_OCLOC", "ocloc"), ("OFFLOAD_SPIRV_VAL", "spirv-val")]
        {
            project.set(variable, &tools.join(tool).display().to_string());
        }
        project
    }

    /// A second LLVM of fake tools, in a directory of its own, whose clang has a fault.
    pub fn fake_llvm(&self, directory: &str, fault: &str) {
        let tools = self.path(directory);
        fs::create_dir_all(tools.join("resource")).unwrap();
        for tool in ["clang", "llvm-link"] {
            program::copy(FAKE_TOOL.as_ref(), &tools.join(tool));
        }
        fs::write(tools.join("clang.fault"), fault).unwrap();
    }

    /// The name of the package.
    pub fn name(&self) -> String {
        let manifest = fs::read_to_string(self.path("Cargo.toml")).unwrap();
        let line = manifest.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
        line.trim_matches('"').to_string()
    }

    /// Calls the real clang through a script that records it.
    pub fn record_clang(&mut self) {
        self.script_clang("exec clang-22 \"$@\"\n");
    }

    /// Calls clang through a shell script that records it and then runs `script`.
    pub fn script_clang(&mut self, script: &str) {
        let dir = self.path("tools");
        let clang = self.path("tools/clang");
        fs::create_dir_all(&dir).unwrap();
        let log = dir.join("calls.log");
        let text = format!("#!/bin/sh\necho clang \"$@\" >> '{}'\n{script}", log.display());
        program::write(&clang, text);
        self.set("OFFLOAD_CLANG", clang.to_str().unwrap());
    }

    /// Sets a variable for the builds that follow.
    pub fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(other, _)| other != name);
        self.env.push((name.to_string(), value.to_string()));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.directory.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        // cargo compares times: an edit in the same instant as the last build would go unseen.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(self.path(name), text).unwrap();
    }

    /// Has the package built as for a release, and so its kernels; its dependencies stay those of development builds.
    pub fn optimize(&self) {
        let manifest = fs::read_to_string(self.path("Cargo.toml")).unwrap();
        let name = self.name();
        let settings = "opt-level = 3\ndebug = false\ndebug-assertions = false\n";
        self.write("Cargo.toml", &format!("{manifest}\n[profile.dev.package.{name}]\n{settings}"));
    }

    /// Where cargo builds it: the target directory of the thread that made the project.
    pub fn target_dir(&self) -> &Path {
        target_dir::ensure_seeded(&self.target_dir);
        &self.target_dir
    }

    /// Runs cargo in the project.
    pub fn cargo(&self, args: &[&str]) -> Outcome {
        self.command_in("", Command::new(env!("CARGO")).args(args))
    }

    /// Runs `cargo offload` of this checkout in the project.
    pub fn offload(&self, args: &[&str]) -> Outcome {
        self.command_in("", Command::new(cargo_offload()).arg("offload").args(args))
    }

    /// `cargo offload` of this checkout, to be run in the project.
    pub fn offload_command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(cargo_offload());
        command.arg("offload").args(args).current_dir(self.path(""));
        self.set_environment(self.target_dir(), &mut command);
        command
    }

    /// Runs `command` in a directory of the project's.
    pub fn command_in(&self, directory: &str, command: &mut Command) -> Outcome {
        self.command_with(self.target_dir(), command.current_dir(self.path(directory)))
    }

    /// Runs `command` with a target directory.
    fn command_with(&self, target_dir: &Path, command: &mut Command) -> Outcome {
        self.set_environment(target_dir, command);
        let output = command.output().unwrap();
        let text =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Outcome { success: output.status.success(), code: output.status.code().unwrap_or(-1), text }
    }

    /// What cargo and `cargo offload` get in the project.
    pub fn set_environment(&self, target_dir: &Path, command: &mut Command) {
        command
            .env("CARGO_TARGET_DIR", target_dir)
            .env("CARGO_TERM_COLOR", "never")
            .envs(LESS_TO_COMPILE)
            .env_remove("OFFLOAD_CONFIG")
            .env_remove("CLIPPY_ARGS")
            .envs(self.env.iter().map(|(name, value)| (name, value)));
    }

    /// The compiled build script, to be run with the environment of a target that cannot be built here.
    pub fn build_script(&self) -> PathBuf {
        let outcome = self.cargo(&["build", "--offline", "--message-format=json-render-diagnostics"]);
        assert!(outcome.success, "{}", outcome.text);
        let messages =
            outcome.text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut ours = messages.filter(|message| {
            message["reason"] == "compiler-artifact"
                && message["target"]["kind"][0] == "custom-build"
                && message["target"]["src_path"] == self.path("build.rs").to_str().unwrap()
        });
        PathBuf::from(ours.next_back().unwrap()["filenames"][0].as_str().unwrap())
    }

    /// The built program.
    pub fn program(&self) -> PathBuf {
        let outcome = self.cargo(&["build", "--offline", "--message-format=json-render-diagnostics"]);
        assert!(outcome.success, "{}", without_messages(&outcome.text));
        executable(&outcome.text)
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
        assert!(
            !outcome.text.contains("panicked") && !outcome.text.contains("RUST_BACKTRACE"),
            "{}",
            outcome.text
        );
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

    /// The files in the project's cache.
    pub fn cached(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        list(&self.path("cache"), &mut files);
        files
    }

    /// The results in the project's cache.
    pub fn blobs(&self) -> Vec<PathBuf> {
        let mut files = self.cached();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "blob"));
        files
    }

    /// The file whose time says when the cache was last swept.
    pub fn stamp(&self) -> PathBuf {
        self.cached().into_iter().find(|file| file.ends_with("swept")).unwrap()
    }

    /// The whole command lines since the last call, in order.
    pub fn command_lines(&self) -> Vec<String> {
        let log = self.path("tools/calls.log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        text.lines().map(str::to_string).collect()
    }

    /// Adds a fake tool that writes `output`, and names it in `variable`.
    pub fn fake_tool(&mut self, tool: &str, variable: &str, output: &[u8]) {
        let path = self.path("tools").join(tool);
        program::copy(FAKE_TOOL.as_ref(), &path);
        fs::write(path.with_extension("out"), output).unwrap();
        self.set(variable, path.to_str().unwrap());
    }

    /// Makes a fake tool misbehave; an empty text ends that.
    pub fn fault(&self, tool: &str, fault: &str) {
        fs::write(self.path(&format!("tools/{tool}.fault")), fault).unwrap();
    }
}

/// cargo-offload, built once for all tests of a file.
pub fn cargo_offload() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let output = build_of_workspace("cargo-offload").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        program_of_workspace(&output.stdout, "cargo-offload")
    })
}

/// Builds a program of the workspace with the dependencies that are there from the tests, and prints cargo's messages.
///
/// `--test it` is built already. Without it cargo leaves out the features that only tests ask for, and compiles the
/// workspace a second time.
pub fn build_of_workspace(program: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--workspace", "--all-features", "--test", "it", "--bin", program]);
    cargo.arg("--message-format=json-render-diagnostics").current_dir(root()).env_remove("CLIPPY_ARGS");
    for name in offload_tests::workspace::PACKAGE_VARS {
        cargo.env_remove(name);
    }
    cargo
}

/// What cargo printed for people.
fn without_messages(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('{')).collect::<Vec<_>>().join("\n")
}

/// The program called `name` in cargo's messages: others of the workspace are built with the tests, in any order.
pub fn program_of_workspace(messages: &[u8], name: &str) -> PathBuf {
    let mut programs = executables(&String::from_utf8_lossy(messages)).into_iter();
    programs.find(|program| program.file_name().is_some_and(|file| file == name)).unwrap()
}

/// The last program in cargo's messages that is no test.
pub fn executable(messages: &str) -> PathBuf {
    executables(messages).pop().unwrap()
}

fn executables(messages: &str) -> Vec<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let programs = messages.filter(|message| message["target"]["kind"][0] == "bin");
    programs.filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?))).collect()
}

/// Changes a byte in the middle of the stored image of `target` in `program`.
pub fn damage(program: &Path, target: &str) {
    let mut bytes = fs::read(program).unwrap();
    let magic = offload_format::pack::layout::MAGIC;
    // The magic is also a constant of the code that reads packs.
    let starts = (0..bytes.len() - 8).filter(|at| bytes[*at..].starts_with(&magic));
    let pages = Pages::default();
    let pack = starts.filter_map(|at| Pack::parse(&bytes[at..], &pages).ok()).next().unwrap();
    let image = pack.images().map(Result::unwrap).find(|image| image.target_text == target).unwrap();
    let frame = pack.frame(&image).unwrap();
    let at = frame.as_ptr() as usize - bytes.as_ptr() as usize + frame.len() / 2;
    bytes[at] ^= 0x20;
    // A new file: the old one may be linked from elsewhere.
    program::write(program, bytes);
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

fn list(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { list(&path, files) } else { files.push(path) }
    }
}

/// Copies a fixture whose package is to have this name.
fn copy(from: &Path, to: &Path, name: &str) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target, name);
        } else if path.file_name().unwrap() == "Cargo.toml" {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.replace("@ROOT@", root().to_str().unwrap()).replace("@NAME@", name);
            fs::write(target, text).unwrap();
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The code blocks of a document in this language.
pub fn blocks(document: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let blocks = document.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_string()).collect()
}
