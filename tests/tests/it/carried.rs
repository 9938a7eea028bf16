//! The programs and plugins of the fixture `carried`, one of each linker that every machine has, to be treated and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::support::{self, Project, program};
use serde_json::Value;

/// The ways to link that every machine with rustc and gcc has.
const LINKERS: [(&str, &[&str]); 2] =
    [("rust-lld", &[]), ("bfd", &["-Clinker-features=-lld", "-Clink-arg=-fuse-ld=bfd"])];

/// A program and a plugin of one linker, in a directory to play in.
pub(crate) struct Linked {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) linker: &'static str,
}

/// The files of each linker, built once for all tests.
fn linked_files() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut project = Project::new("carried");
        // Development builds compress nothing by themselves, and how images are stored is what these files are for.
        project.set("OFFLOAD_COMPRESSION", "fast");
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("carried");
        LINKERS.iter().for_each(|(linker, args)| link(&project, &dir.join(linker), args));
        dir
    })
}

fn link(project: &Project, dir: &Path, args: &[&str]) {
    fs::create_dir_all(dir).unwrap();
    for (which, name) in [(["--bins"], "app"), (["--lib"], "plug.so")] {
        let rustc = [&["rustc", "--offline", "--message-format=json"], &which[..], &["--"], args].concat();
        // The same package is linked with several linkers.
        project.write("src/report.rs", &fs::read_to_string(project.path("src/report.rs")).unwrap());
        let outcome = project.cargo(&rustc);
        assert!(outcome.success, "{}", outcome.text);
        program::copy(&built(&outcome.text), &dir.join(name));
    }
}

impl Linked {
    /// Copies of what each linker has linked.
    pub(crate) fn each() -> Vec<Linked> {
        LINKERS.iter().map(|(linker, _)| Linked::new(linker)).collect()
    }

    pub(crate) fn new(linker: &'static str) -> Linked {
        let dir = tempfile::tempdir().unwrap();
        for name in ["app", "plug.so"] {
            program::copy(&linked_files().join(linker).join(name), &dir.path().join(name));
        }
        Linked { dir, linker }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The name of the sidecar that starts with `start`; its hash comes from what is in it.
    pub(crate) fn sidecar(&self, start: &str) -> String {
        sidecar(self.dir.path(), start)
    }

    /// The names of all that start so.
    pub(crate) fn sidecars(&self, start: &str) -> Vec<String> {
        sidecars(self.dir.path(), start)
    }

    pub(crate) fn size(&self, name: &str) -> u64 {
        fs::metadata(self.path(name)).unwrap().len()
    }

    /// Runs cargo-offload in the directory.
    pub(crate) fn offload(&self, args: &[&str]) -> Output {
        let mut command = Command::new(support::cargo_offload());
        command.args(args).current_dir(self.dir.path()).output().unwrap()
    }

    /// The same, which must succeed; returns its messages.
    pub(crate) fn ok(&self, args: &[&str]) -> Vec<Value> {
        let output = self.offload(&[args, &["--message-format", "json"]].concat());
        assert!(output.status.success(), "{}: {args:?}: {}", self.linker, stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What a program says, with a plugin.
    pub(crate) fn run(&self, program: &str, plugin: &str) -> String {
        self.run_with(program, plugin, "")
    }

    pub(crate) fn run_with(&self, program: &str, plugin: &str, packs: &str) -> String {
        let output = Command::new(self.path(program))
            .arg(self.path(plugin))
            .env("OFFLOAD_PACK_DIR", packs)
            .current_dir("/")
            .output()
            .unwrap();
        assert!(output.status.success(), "{} {program} {plugin}: {}", self.linker, stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// GNU readelf finds nothing to complain of.
    pub(crate) fn check_elf(&self, name: &str) {
        let mut command = Command::new("readelf");
        let output = command.args(["-lSWdr", "-n"]).arg(self.path(name)).env("LC_ALL", "C").output().unwrap();
        let output_text = [stderr(&output), String::from_utf8_lossy(&output.stdout).into_owned()].concat();
        assert!(
            !output_text.contains("arning:") && !output_text.contains("rror:"),
            "{} {name}: {output_text}",
            self.linker
        );
    }
}

/// The name of the one sidecar in `dir` that starts with `start`.
pub(crate) fn sidecar(dir: &Path, start: &str) -> String {
    let found = sidecars(dir, start);
    let [name] = found.as_slice() else { panic!("{start}: {found:?}") };
    name.clone()
}

/// The names of the sidecars in `dir` that start with `start`, as `app` of `app.0123456789abcdef.offload`.
fn sidecars(dir: &Path, start: &str) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| is_sidecar(name, start)).collect()
}

fn is_sidecar(name: &str, start: &str) -> bool {
    let rest = name.strip_prefix(start).and_then(|rest| rest.strip_prefix('.'));
    let hash = rest.and_then(|rest| rest.strip_suffix(".offload"));
    hash.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The program or library in cargo's messages.
fn built(messages: &str) -> PathBuf {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut files = messages.filter_map(|message| {
        let crate_type = message["target"]["crate_types"][0].as_str()?;
        match crate_type {
            "cdylib" => message["filenames"]
                .as_array()?
                .iter()
                .find_map(|name| name.as_str().filter(|name| name.ends_with(".so")).map(str::to_string)),
            _ => message["executable"].as_str().map(str::to_string),
        }
    });
    PathBuf::from(files.next_back().unwrap())
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn sum(messages: &[Value], reason: &str, field: &str) -> u64 {
    messages
        .iter()
        .filter(|message| message["reason"] == reason)
        .map(|message| message[field].as_u64().unwrap())
        .sum()
}

/// Both modules compute on the CPU, in the program and in the plugin.
pub(crate) fn assert_right(text: &str) {
    for module in ["kern_a", "kern_b"] {
        for line in [format!("{module} on the CPU: right"), format!("plugin {module} on the CPU: right")] {
            assert!(text.lines().any(|is| is == line), "{line}: {text}");
        }
    }
}

/// Both modules have an image for the device that takes SPIR-V.
pub(crate) fn count_spirv(text: &str) -> usize {
    text.lines().filter(|line| line.contains(" with SPIR-V: ") && line.ends_with(" bytes")).count()
}
