//! Two versions of `offload-rt` in one program, and a plugin with the older one that comes and goes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::script::succeed;
use crate::support::{Project, program, root};

/// The number of the older version.
const OLDER: &str = "0.0.9";

/// The program and the plugin, built once.
struct Built {
    app: PathBuf,
    plugin: PathBuf,
}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let project = Project::new("versions");
        add_older_version(&project);
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("versions");
        fs::create_dir_all(&directory).unwrap();
        let built = Built { app: directory.join("app"), plugin: directory.join("plugin.so") };
        program::copy(&project.program(), &built.app);
        let outcome = project.cargo(&["build", "--offline", "--package", "plugin", "--message-format=json"]);
        assert!(outcome.success, "{}", outcome.text);
        program::copy(&library(&outcome.text), &built.plugin);
        // valgrind reads what debuggers need each time that the plugin is opened.
        succeed(Command::new("strip").args(["--strip-debug"]).arg(&built.plugin));
        built
    })
}

/// Copies the crates, with what they inherit from the workspace and another number.
fn add_older_version(project: &Project) {
    for package in ["offload-rt", "offload-format"] {
        let mut command = Command::new("cp");
        command.arg("-a").args([root().join(package), project.path("")]);
        succeed(&mut command);
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let start = manifest.find("[workspace.package]").unwrap();
    let end = manifest.find("[workspace.lints.rust]").unwrap();
    let lints = "[workspace.lints.rust]\n";
    let inherited = manifest[start..end].replace("\"0.1.0\"", &format!("{OLDER:?}"));
    let inherited = inherited.replace("\"=0.1.0\"", &format!("\"={OLDER}\""));
    let own = fs::read_to_string(project.path("Cargo.toml")).unwrap();
    project.write("Cargo.toml", &format!("{own}\n{inherited}\n{lints}"));
}

fn library(messages: &str) -> PathBuf {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut plugins = messages.filter(|message| message["target"]["kind"][0] == "cdylib");
    PathBuf::from(plugins.next().unwrap()["filenames"][0].as_str().unwrap())
}

/// The word behind `name=` at the start of a line.
fn word<'a>(output_text: &'a str, name: &str) -> &'a str {
    let mut lines = output_text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    lines.next().unwrap_or_else(|| panic!("{name}: {output_text}"))
}

#[test]
fn two_versions_see_every_image_once() {
    let output_text = succeed(&mut Command::new(&built().app));
    for version in ["a", "b"] {
        let mut images: Vec<&str> = word(&output_text, version).split(',').collect();
        images.sort_unstable();
        // A module has several images for the host: one for each generation of CPUs.
        assert!(images.windows(2).all(|two| two[0] != two[1]), "{version}: {images:?}");
        for image in ["kern_a opencl-c", "kern_b opencl-c"] {
            assert!(images.contains(&image), "{version}: {images:?}");
        }
    }
    assert_eq!(word(&output_text, "launched"), "true");
    offload_tests::figure("two versions of offload-rt in a program", "every image seen once by both");
}

#[test]
fn a_plugin_with_another_version_comes_and_goes() {
    if !offload_tests::is_nightly() {
        return;
    }
    let cycles = if offload_tests::is_full() { 1000 } else { 50 };
    let grown = run(&mut Command::new(&built().app), cycles);
    assert!(grown <= 512 << 10, "{grown} bytes more after {cycles} cycles");
    let tried = format!("{cycles} cycles of opening, launching and closing with another version");
    offload_tests::figure(tried, format!("{} KiB more", grown >> 10));
    if offload_tests::is_full() {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        valgrind.arg("--errors-for-leak-kinds=definite").arg(&built().app);
        run(&mut valgrind, cycles);
        offload_tests::figure(format!("{cycles} cycles under valgrind"), "0 errors, 0 leaks");
    }
}

/// Bytes of memory that the process has more after the cycles.
fn run(command: &mut Command, cycles: usize) -> usize {
    let output_text = succeed(command.arg(&built().plugin).arg(cycles.to_string()));
    // What the plugin brought went with it.
    assert_eq!(
        word(&output_text, "images"),
        word(&output_text, "a").split(',').count().to_string(),
        "{output_text}"
    );
    word(&output_text, "grown").parse().unwrap()
}
