//! Two builds that differ in all that is no input of theirs make the same bytes: directory, user, home, time zone, locale,
//! umask, clock, number of processors, order of directories. None of the bytes names a place of the build.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::script::{Files, Places, Script, differences, of_programs, succeed, wrapped};
use crate::support::{Project, cargo_offload, executable};

/// For each code generator one.
const TARGETS: &str = "spirv64,intel:pvc,nvptx:sm_80,amdgcn:gfx90a,host,opencl-c";
/// The same for a sample.
const SAMPLE: &str = "spirv64,intel:pvc,opencl-c";

/// A function of a header of ours, and one of clang's, are in its debug information.
const CHECKED: &str = "#include <assert.h>
__kernel void alpha(__global int *x) {
  assert(x[0] >= 0);
  x[get_global_id(0)] = mul24(x[0], 3);
}
";

/// A file system in memory lists a directory in another order than one on a disk.
const OTHER_FILE_SYSTEM: &str = "/dev/shm";

/// A copy of the package below `directory`, whose files are made in reverse order.
fn copy_of(package: &Path, directory: &Path) -> Places {
    let copy = directory.join("another place").join("packages").join("of an application");
    copy_reversed(package, &copy);
    Places { package: copy.clone(), out: directory.join("o"), cache: directory.join("c") }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        copy_reversed(from, to);
    } else {
        fs::copy(from, to).unwrap();
    }
}

fn copy_reversed(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut paths: Vec<PathBuf> = fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().rev() {
        let target = to.join(path.file_name().unwrap());
        copy(path, &target);
    }
}

/// `command` with everything else that is no input of a build.
fn elsewhere(command: &Command, home: &Path) -> Command {
    // One processor, another mask, and another time where the program is installed that says so.
    let clock = if offload_tests::is_full() {
        "exec faketime -f '2001-02-03 04:05:06' taskset -c 0"
    } else {
        "exec taskset -c 0"
    };
    let mut other = wrapped(&["sh", "-c", &format!("umask 077; {clock} \"$@\""), "sh"], command);
    for (name, value) in [("TZ", "Asia/Kathmandu"), ("LC_ALL", "tr_TR.UTF-8"), ("LANG", "tr_TR.UTF-8")] {
        other.env(name, value);
    }
    for (name, value) in [("USER", "another"), ("LOGNAME", "another"), ("NUM_JOBS", "1")] {
        other.env(name, value);
    }
    other.env("HOME", home);
    other
}

fn assert_names_none_of(all: &Files, places: &[&Path]) {
    for (path, bytes) in all {
        for place in places.iter().map(|place| place.as_os_str().as_encoded_bytes()) {
            let found = bytes.windows(place.len()).any(|window| window == place);
            assert!(!found, "{} names {}", path.display(), String::from_utf8_lossy(place));
        }
    }
}

#[test]
fn builds_elsewhere_and_at_another_time_make_the_same_bytes() {
    if offload_tests::require("clang-22").is_none() || offload_tests::require("ocloc").is_none() {
        return;
    }
    if offload_tests::is_full() && offload_tests::require("faketime").is_none() {
        return;
    }
    let targets = if offload_tests::is_full() { TARGETS } else { SAMPLE };
    build_twice(targets, &[]);
}

#[test]
fn debug_information_names_no_place() {
    if offload_tests::require("clang-22").is_some() {
        build_twice("nvptx:sm_80,host", &[("PROFILE", "debug"), ("DEBUG", "true")]);
    }
}

/// Builds the kernels here, and elsewhere at another time.
fn build_twice(targets: &str, profile: &[(&str, &str)]) {
    let project = Project::new("two-files");
    project.write("offload.toml", &format!("targets = {:?}\n", targets.split(',').collect::<Vec<_>>()));
    project.write("kernels/a.cl", CHECKED);
    let script = Script::for_project(&project);
    let here = Places { package: project.path(""), out: project.path("out"), cache: project.path("cache2") };
    succeed(script.command(&here).envs(profile.iter().copied()));
    let directory = tempfile::tempdir_in(OTHER_FILE_SYSTEM).unwrap();
    let there = copy_of(&sources_of(&project, &project.path("")), directory.path());
    let home = directory.path().join("home");
    fs::create_dir(&home).unwrap();
    succeed(&mut elsewhere(script.command(&there).envs(profile.iter().copied()), &home));
    let one = of_programs(&here.out);
    let other = of_programs(&there.out);
    assert!(one.keys().any(|path| path.extension().is_some_and(|it| it == "a")), "{:?}", one.keys());
    let found = differences(&one, &other);
    assert!(found.is_empty(), "{found:?}");
    assert_names_none_of(&one, &[&project.path("")]);
    assert_names_none_of(&other, &[directory.path()]);
    let count = targets.split(',').count();
    offload_tests::figure(
        format!("2 builds of {count} targets, {} files", one.len()),
        "0 differ, 0 name a place",
    );
}

/// The files of a package alone, in a directory of their own below `directory`.
fn sources_of(project: &Project, directory: &Path) -> PathBuf {
    let sources = directory.join("sources");
    fs::create_dir(&sources).unwrap();
    for name in ["kernels", "src", "build.rs", "Cargo.toml", "Cargo.lock", "offload.toml"] {
        let from = project.path(name);
        let to = sources.join(name);
        copy(&from, &to);
    }
    sources
}

fn export(format: &str, file: &Path, out: &Path, directory: &Path) -> Command {
    let mut command = Command::new(cargo_offload());
    command.args(["export", "--format", format, "--module", "two", "--output"]).arg(out).arg(file);
    command.current_dir(directory);
    command
}

/// Containers for others, made of one program at two times and places.
#[test]
fn containers_for_others_are_the_same_bytes() {
    let project = Project::with_fake_tools("two-files");
    let program = project.program();
    let directory = tempfile::tempdir_in(OTHER_FILE_SYSTEM).unwrap();
    let copied = directory.path().join("program");
    fs::copy(&program, &copied).unwrap();
    fs::set_permissions(&copied, fs::Permissions::from_mode(0o755)).unwrap();
    let formats = ["syclbin", "ocloc-ar", "offload-binary"];
    for format in formats {
        let one = project.path(format);
        let other = directory.path().join(format);
        succeed(&mut export(format, &program, &one, directory.path()));
        succeed(&mut elsewhere(&export(format, &copied, &other, directory.path()), directory.path()));
        assert!(fs::read(&one).unwrap() == fs::read(&other).unwrap(), "{format}");
    }
    offload_tests::figure(format!("{} containers twice", formats.len()), "0 differ");
}

/// The program of a release build.
fn release_program(project: &Project, package: &Path, target_dir: &Path) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--release", "--offline", "--message-format=json"]).current_dir(package);
    project.set_environment(target_dir, &mut command);
    fs::read(executable(&succeed(&mut command))).unwrap()
}

/// A release of the program itself, from two directories with target directories of their own.
#[test]
fn executables_of_two_directories_are_the_same_bytes() {
    // Everything that programs depend on is compiled twice.
    if !offload_tests::is_full() {
        return;
    }
    let project = Project::with_fake_tools("two-files");
    let directory = tempfile::tempdir().unwrap();
    let there = copy_of(&sources_of(&project, directory.path()), directory.path());
    let one = release_program(&project, &project.path(""), &directory.path().join("target"));
    let other = release_program(&project, &there.package, &directory.path().join("another/target"));
    assert!(one == other, "{} and {} bytes", one.len(), other.len());
    let all = Files::from([("program".into(), one)]);
    assert_names_none_of(&all, &[&project.path(""), directory.path()]);
    offload_tests::figure("2 release executables", "0 differ, 0 name a place");
}
