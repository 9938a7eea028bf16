//! Build scripts in sandboxes, and under build systems other than cargo: no home, no caches, sources that are links.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Project;
use crate::support::script::{Files, Places, Script, differences, files, of_programs, output_text, succeed};

/// What cargo sets, and other build systems do not.
const OF_CARGO: [&str; 2] = ["CARGO_MANIFEST_PATH", "CARGO_PKG_VERSION"];

/// A package, and places where it is built.
struct Sandbox {
    project: Project,
    script: Script,
    directory: tempfile::TempDir,
}

impl Sandbox {
    fn new() -> Sandbox {
        let project = Project::with_fake_tools("two-files");
        Sandbox { script: Script::for_project(&project), project, directory: tempfile::tempdir().unwrap() }
    }

    /// The package in a root of this name: of each file that is declared there is a link, and there is no manifest.
    fn linked(&self, root: &str) -> Places {
        let package = self.directory.path().join(root).join("package");
        fs::create_dir_all(package.join("kernels")).unwrap();
        for entry in fs::read_dir(self.project.path("kernels")).unwrap() {
            let file = entry.unwrap().path();
            symlink(&file, package.join("kernels").join(file.file_name().unwrap())).unwrap();
        }
        self.places(root, package)
    }

    fn places(&self, root: &str, package: PathBuf) -> Places {
        let root = self.directory.path().join(root);
        Places { package, out: root.join("out"), cache: root.join("cache") }
    }

    /// A development build without a home, without a cache, and with nothing of this process's environment.
    fn command(&self, places: &Places) -> Command {
        let cargo_s = self.script.command(places);
        let mut command = Command::new(cargo_s.get_program());
        command.env_clear().current_dir(&places.package);
        command.envs(cargo_s.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env_remove("OFFLOAD_CACHE_DIR").env("OFFLOAD_TARGETS", "spirv64,intel:pvc,opencl-c");
        command.env("PROFILE", "debug").env("OPT_LEVEL", "0");
        command
    }

    /// The same by another build system.
    fn other(&self, places: &Places) -> Command {
        let mut command = self.command(places);
        for name in OF_CARGO {
            command.env_remove(name);
        }
        command
    }
}

/// Without the cache, which only cargo keeps.
fn output(out: &Path) -> Files {
    let mut all = of_programs(out);
    all.retain(|path, _| !path.starts_with("offload-cache"));
    all
}

fn archive(out: &Path) -> Vec<u8> {
    let mut all = files(out);
    all.retain(|path, _| path.extension().is_some_and(|it| it == "a"));
    all.pop_first().unwrap().1
}

fn packs(cache: &Path) -> usize {
    files(cache).keys().filter(|path| path.extension().is_some_and(|it| it == "pack")).count()
}

/// The files of a package, without what the stand-ins for compilers note of their calls.
fn sources(package: &Path) -> Files {
    let mut all = files(package);
    all.retain(|path, _| !path.starts_with("tools"));
    all
}

/// As in a sandbox of Nix: it shows no home and no network, and the sources may only be read.
#[test]
fn a_build_needs_no_home_and_writes_to_its_own_directory_alone() {
    let sandbox = Sandbox::new();
    let package = sandbox.project.path("");
    let places = ["one", "another"].map(|root| sandbox.places(root, package.clone()));
    let before = sources(&package);
    for places in &places {
        succeed(sandbox.command(places).env("HOME", "/proc/homeless-shelter"));
        assert_eq!(differences(&sources(&package), &before), [""; 0]);
        assert_eq!(files(&places.cache).len(), 0);
    }
    assert_eq!(differences(&output(&places[0].out), &output(&places[1].out)), [""; 0]);
    // The next run finds what this one has made, also without HOME.
    sandbox.project.calls();
    succeed(&mut sandbox.command(&places[0]));
    assert_eq!(sandbox.project.calls(), [""; 0]);
    assert_eq!(differences(&output(&places[0].out), &output(&places[1].out)), [""; 0]);
}

#[test]
fn a_cache_that_cannot_be_made_is_told_with_its_variable() {
    let sandbox = Sandbox::new();
    let places = sandbox.places("one", sandbox.project.path(""));
    let output = sandbox.command(&places).env("OFFLOAD_CACHE_DIR", "/proc/kernels").output().unwrap();
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("`/proc/kernels") && text.contains("hint: set OFFLOAD_CACHE_DIR"), "{text}");
}

/// As `rules_rust` runs it: the contents of `OUT_DIR` are compared and copied to other machines, dangling links end the
/// build, and neither the manifest nor a version is there unless a rule sets it.
#[test]
fn other_build_systems_get_what_programs_need_and_nothing_else() {
    let sandbox = Sandbox::new();
    let places = ["one", "another"].map(|root| sandbox.linked(root));
    for places in &places {
        let output_text = succeed(&mut sandbox.other(places));
        assert!(!output_text.contains("offload-absent"), "{output_text}");
        for (path, bytes) in files(&places.out) {
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            assert!(path.components().count() == 1 && ["a", "rs"].contains(&end.as_str()), "{path:?}");
            let place = sandbox.directory.path().as_os_str().as_encoded_bytes();
            assert!(!bytes.windows(place.len()).any(|window| window == place), "{path:?} names a place");
        }
    }
    assert_eq!(differences(&files(&places[0].out), &files(&places[1].out)), [""; 0]);
    // Cargo watches for a file with settings, and keeps what it has made.
    let cargo_s = sandbox.linked("cargo");
    let manifest = sandbox.project.path("Cargo.toml");
    symlink(manifest, cargo_s.package.join("Cargo.toml")).unwrap();
    assert!(succeed(&mut sandbox.command(&cargo_s)).contains("offload-absent"));
    assert!(cargo_s.out.join("offload-cache").is_dir() && cargo_s.out.join("offload-recipe").is_file());
}

/// Only cargo runs the script again when a pack was evicted from the cache.
#[test]
fn large_packs_stay_in_the_cache_for_cargo_alone() {
    let sandbox = Sandbox::new();
    let numbers: String = (0..700_000).map(|number| format!("{number},\n")).collect();
    let kernel = "__kernel void alpha(__global int *x) {\n}\n";
    sandbox.project.write("kernels/a.cl", &format!("{kernel}__constant int table[] = {{\n{numbers}}};\n"));
    let [cargo_s, other_s] = ["one", "another"].map(|root| sandbox.places(root, sandbox.project.path("")));
    succeed(sandbox.command(&cargo_s).env("OFFLOAD_CACHE_DIR", &cargo_s.cache));
    succeed(sandbox.other(&other_s).env("OFFLOAD_CACHE_DIR", &other_s.cache));
    let large = 4 << 20;
    assert!(archive(&cargo_s.out).len() < large && packs(&cargo_s.cache) == 1);
    assert!(archive(&other_s.out).len() > large && packs(&other_s.cache) == 0);
}
