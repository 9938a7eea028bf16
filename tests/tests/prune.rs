//! Programs and plugins lose images, or have them moved into files beside them, and run on.
//!
//! `cargo xtask prune` does the same with every linker, in every profile, and with what strips programs.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use support::Project;

/// The ways to link that every machine with rustc and gcc has.
const LINKERS: [(&str, &[&str]); 2] =
    [("rust-lld", &[]), ("bfd", &["-Clinker-features=-lld", "-Clink-arg=-fuse-ld=bfd"])];

/// A program and a plugin of one linker, in a directory to play in.
struct Linked {
    dir: tempfile::TempDir,
    linker: &'static str,
}

/// The files of each linker, built once for all tests.
fn linked_files() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let project = Project::new("carried");
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
        fs::copy(built(&outcome.text), dir.join(name)).unwrap();
    }
}

impl Linked {
    /// Copies of what each linker has linked.
    fn each() -> Vec<Linked> {
        LINKERS.iter().map(|(linker, _)| Linked::new(linker)).collect()
    }

    fn new(linker: &'static str) -> Linked {
        let dir = tempfile::tempdir().unwrap();
        for name in ["app", "plug.so"] {
            fs::copy(linked_files().join(linker).join(name), dir.path().join(name)).unwrap();
        }
        Linked { dir, linker }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn size(&self, name: &str) -> u64 {
        fs::metadata(self.path(name)).unwrap().len()
    }

    /// Runs cargo-offload in the directory.
    fn offload(&self, args: &[&str]) -> Output {
        let mut command = Command::new(support::cargo_offload());
        command.args(args).current_dir(self.dir.path()).output().unwrap()
    }

    /// The same, which must succeed; returns its messages.
    fn ok(&self, args: &[&str]) -> Vec<Value> {
        let output = self.offload(&[args, &["--message-format", "json"]].concat());
        assert!(output.status.success(), "{}: {args:?}: {}", self.linker, stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What a program says, with a plugin.
    fn run(&self, program: &str, plugin: &str) -> String {
        self.run_with(program, plugin, "")
    }

    fn run_with(&self, program: &str, plugin: &str, packs: &str) -> String {
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
    fn check_elf(&self, name: &str) {
        let mut command = Command::new("readelf");
        let output = command.args(["-lSWdr", "-n"]).arg(self.path(name)).env("LC_ALL", "C").output().unwrap();
        let said = [stderr(&output), String::from_utf8_lossy(&output.stdout).into_owned()].concat();
        assert!(!said.contains("arning:") && !said.contains("rror:"), "{} {name}: {said}", self.linker);
    }
}

/// The program or library in cargo's messages.
fn built(messages: &str) -> PathBuf {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut files = messages.filter_map(|message| {
        let library = || {
            message["filenames"]
                .as_array()?
                .iter()
                .find_map(|name| name.as_str().filter(|name| name.ends_with(".so")).map(str::to_string))
        };
        let crate_type = message["target"]["crate_types"][0].as_str()?;
        match crate_type {
            "cdylib" => library(),
            _ => message["executable"].as_str().map(str::to_string),
        }
    });
    PathBuf::from(files.next_back().unwrap())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn sum(messages: &[Value], reason: &str, field: &str) -> u64 {
    messages
        .iter()
        .filter(|message| message["reason"] == reason)
        .map(|message| message[field].as_u64().unwrap())
        .sum()
}

/// Both modules compute on the CPU, in the program and in the plugin.
fn assert_right(text: &str) {
    for module in ["kern_a", "kern_b"] {
        for line in [format!("{module} on the CPU: right"), format!("plugin {module} on the CPU: right")] {
            assert!(text.lines().any(|is| is == line), "{line}: {text}");
        }
    }
}

/// Both modules have an image for the device that takes SPIR-V.
fn count_spirv(text: &str) -> usize {
    text.lines().filter(|line| line.contains(" with SPIR-V: ") && line.ends_with(" bytes")).count()
}

#[test]
fn dropped_targets_are_gone_and_told_and_the_others_run() {
    for linked in Linked::each() {
        let whole = linked.run("app", "plug.so");
        assert_right(&whole);
        assert_eq!(count_spirv(&whole), 4, "{whole}");
        for (old, new) in [("app", "small"), ("plug.so", "small.so")] {
            let messages = linked.ok(&["prune", old, "--keep", "host", "-o", new]);
            let dropped = sum(&messages, "dropped", "stored_size");
            let saved = linked.size(old) - linked.size(new);
            assert!(saved * 10 >= dropped * 9, "{} {old}: {saved} of {dropped}", linked.linker);
            assert_eq!(sum(&messages, "pruned", "images_dropped"), 6);
            linked.check_elf(new);
            assert_eq!(mode(&linked.path(old)), mode(&linked.path(new)));
        }
        let text = linked.run("small", "small.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 0);
        let told = "spirv64: `cargo offload prune` has removed it from the program";
        assert_eq!(text.matches(told).count(), 4, "{text}");

        // Same input, same bytes.
        linked.ok(&["prune", "app", "--keep", "host", "-o", "again"]);
        assert!(fs::read(linked.path("again")).unwrap() == fs::read(linked.path("small")).unwrap());
    }
}

fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions())
}

#[test]
fn a_pruned_program_is_pruned_again_and_its_images_are_checked() {
    for linked in Linked::each() {
        linked.ok(&["prune", "app", "--drop", "opencl-c", "spirv64:*", "-o", "one"]);
        let text = linked.run("one", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 4);
        fs::copy(linked.path("one"), linked.path("two")).unwrap();
        let (before, messages) =
            (linked.size("two"), linked.ok(&["prune", "two", "--drop", "spirv64", "--in-place"]));
        let (dropped, saved) = (sum(&messages, "dropped", "stored_size"), before - linked.size("two"));
        assert!(saved * 10 >= dropped * 9, "{}: {saved} of {dropped}", linked.linker);
        linked.check_elf("two");
        let text = linked.run("two", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 2);

        // The image of the pack that comes first.
        support::damage(&linked.path("two"), "host");
        let text = linked.run("two", "plug.so");
        let failed = ["kern_a", "kern_b"].map(|module| {
            text.contains(&format!("\n{module} on the CPU: cannot load {module} for host: "))
                || text.starts_with(&format!("{module} on the CPU: cannot load {module} for host: "))
        });
        assert_eq!(failed.iter().filter(|failed| **failed).count(), 1, "{text}");
    }
}

#[test]
fn programs_are_stripped_before_and_after() {
    for linked in Linked::each() {
        for name in ["app", "plug.so"] {
            let pruned = format!("pruned-{name}");
            linked.ok(&["prune", name, "--keep", "host", "-o", &pruned]);
            strip(&linked, &pruned, &format!("after-{name}"));
            strip(&linked, name, &format!("before-{name}"));
            linked.ok(&["prune", &format!("before-{name}"), "--keep", "host", "--in-place"]);
            linked.check_elf(&format!("before-{name}"));
        }
        assert_right(&linked.run("after-app", "after-plug.so"));
        assert_right(&linked.run("before-app", "before-plug.so"));
        let difference = linked.size("after-app").abs_diff(linked.size("before-app"));
        assert!(difference <= 4096, "{}: {difference}", linked.linker);
    }
}

fn strip(linked: &Linked, from: &str, to: &str) {
    let status =
        Command::new("strip").arg("-o").arg(linked.path(to)).arg(linked.path(from)).status().unwrap();
    assert!(status.success());
}

#[test]
fn images_move_into_files_beside_the_program_and_back() {
    for linked in Linked::each() {
        let (app, plug) = (fs::read(linked.path("app")).unwrap(), fs::read(linked.path("plug.so")).unwrap());
        let before = linked.size("app");
        linked.ok(&["repack", "app", "--sidecar", "--in-place"]);
        linked.ok(&["repack", "plug.so", "--split", "--in-place"]);
        let moved = linked.size("app.offload");
        assert!((before - linked.size("app")) * 10 >= moved * 9, "{}", linked.linker);
        for name in ["app", "plug.so"] {
            linked.check_elf(name);
        }
        let text = linked.run("app", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 4);

        let verified = linked.ok(&["verify", "plug.so"]);
        assert_eq!((sum(&verified, "summary", "images"), sum(&verified, "summary", "problems")), (8, 0));

        // Where a machine has no use for some files, the error names the one that is missing.
        fs::rename(linked.path("plug.so.spirv.offload"), linked.path("kept")).unwrap();
        let text = linked.run("app", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 2);
        assert!(text.contains("spirv64: its images are in `plug.so.spirv.offload`"), "{text}");
        let verified = linked.offload(&["verify", "plug.so"]);
        assert_eq!(verified.status.code(), Some(1), "{}", stderr(&verified));
        fs::rename(linked.path("kept"), linked.path("plug.so.spirv.offload")).unwrap();

        // The directory of the variable comes first; a file of another build is not used.
        fs::create_dir(linked.path("packs")).unwrap();
        fs::rename(linked.path("app.offload"), linked.path("packs/app.offload")).unwrap();
        assert!(!linked.run("app", "plug.so").starts_with("kern_a on the CPU: right"));
        let packs = linked.path("packs").display().to_string();
        assert_right(&linked.run_with("app", "plug.so", &packs));
        fs::copy(linked.path("plug.so.host.offload"), linked.path("app.offload")).unwrap();
        let text = linked.run("app", "plug.so");
        assert!(text.contains("has one of another build"), "{text}");
        fs::rename(linked.path("packs/app.offload"), linked.path("app.offload")).unwrap();

        for name in ["app", "plug.so"] {
            linked.ok(&["repack", name, "--embed", "--in-place"]);
            linked.check_elf(name);
        }
        for name in fs::read_dir(linked.dir.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if name.extension().is_some_and(|extension| extension == "offload") {
                fs::remove_file(name).unwrap();
            }
        }
        let text = linked.run("app", "plug.so");
        assert_right(&text);
        assert_eq!(count_spirv(&text), 4);
        // GNU ld puts images at the end, where nothing of the table of segments has to change.
        if linked.linker == "bfd" {
            assert!(
                fs::read(linked.path("app")).unwrap() == app
                    && fs::read(linked.path("plug.so")).unwrap() == plug
            );
        }
    }
}

#[test]
fn what_cannot_be_done_leaves_the_program_alone() {
    let linked = &Linked::each()[0];
    let before = fs::read(linked.path("app")).unwrap();
    for (args, code, text) in [
        (
            &["prune", "app", "--drop", "intel:*", "--in-place"][..],
            2,
            "it has host, opencl-c, spirv64, spirv64:v1.4",
        ),
        (&["prune", "app", "--drop", "spirv46", "--in-place"], 2, "spirv64"),
        (&["prune", "app", "--drop", "portable", "--in-place"], 2, "no image of it would be left"),
        (&["prune", "app", "--keep", "*", "--in-place"], 2, "every image of it would stay"),
        (&["prune", "app", "--keep", "host", "-o", "plug.so"], 2, "`plug.so` exists"),
        (&["prune", "app", "--keep", "host"], 2, "--in-place"),
        (&["prune", "app", "--in-place"], 2, "--keep"),
        (&["repack", "app", "--embed", "--in-place"], 2, "are in it already"),
    ] {
        let output = linked.offload(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(text), "{args:?}: {}", stderr(&output));
    }
    assert!(fs::read(linked.path("app")).unwrap() == before);
    let mut names: Vec<_> =
        fs::read_dir(linked.dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["app", "plug.so"]);
}

#[test]
fn damaged_headers_are_refused_or_harmless() {
    for linked in Linked::each() {
        strip(&linked, "app", "small");
        let good = fs::read(linked.path("small")).unwrap();
        let headers = 64 + 56 * usize::from(good[56]);
        let sections = usize::try_from(u64::from_le_bytes(good[40..48].try_into().unwrap())).unwrap();
        for at in (0..headers).step_by(7).chain((sections..good.len()).step_by(61)) {
            let mut bad = good.clone();
            bad[at] ^= 0x90;
            fs::write(linked.path("bad"), &bad).unwrap();
            let _ = fs::remove_file(linked.path("out"));
            let output = linked.offload(&["prune", "bad", "--keep", "host", "-o", "out"]);
            // A panic has the code 101.
            assert!(matches!(output.status.code(), Some(0..=3)), "byte {at}: {}", stderr(&output));
            assert_eq!(output.status.success(), linked.path("out").exists(), "byte {at}");
        }
    }
}
