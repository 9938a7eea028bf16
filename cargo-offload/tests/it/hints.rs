//! Commands that hints name run as they stand.

use std::fs;
use std::process::Output;

#[cfg(target_os = "linux")]
use crate::support::machine::Machine;
use crate::support::{self, all_output, fails, offload, ok, stderr};

/// The commands of the subcommand that stand between backticks.
fn commands(text: &str) -> Vec<Vec<&str>> {
    let quoted =
        text.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.strip_prefix("cargo offload "));
    quoted.map(|words| words.split(' ').collect()).collect()
}

/// The command of the only hint in `text`, run by `run`.
fn follow(text: &str, run: impl Fn(&[&str]) -> Output) -> Output {
    let (_, hint) = text.split_once("\nhint: ").unwrap_or_else(|| panic!("no hint in {text}"));
    let commands = commands(hint);
    let [command] = commands.as_slice() else { panic!("{commands:?} in {hint}") };
    run(command)
}

#[test]
fn init_names_the_directory_of_a_package() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("Cargo.toml"), "[workspace]\nmembers = [\"solver\"]\nresolver = \"3\"\n")
        .unwrap();
    fs::create_dir_all(dir.path().join("solver/src")).unwrap();
    fs::write(dir.path().join("solver/src/lib.rs"), "").unwrap();
    let manifest = "[package]\nname = \"solver\"\nedition = \"2024\"\n";
    fs::write(dir.path().join("solver/Cargo.toml"), manifest).unwrap();
    let first = stderr(&offload(dir.path(), &["init"]));
    assert!(
        first.contains("next: run `cargo offload init DIRECTORY` to add a kernel to a package"),
        "{first}"
    );
    ok(dir.path(), &["init", "solver"]);
    assert!(dir.path().join("solver/kernels/blas.cl").is_file());
}

#[test]
fn a_set_of_the_machine_is_no_filter_and_inspect_lists_the_targets() {
    let dir = support::with_pack(64);
    let text = fails(dir.path(), &["inspect", "images.pack", "--for", "native"], 2);
    let listed = follow(&text, |words| offload(dir.path(), &[words, &["images.pack"]].concat()));
    assert!(
        listed.status.success() && all_output(&listed).contains("amdgcn:gfx1100"),
        "{}",
        all_output(&listed)
    );
}

#[test]
fn a_file_without_a_syclbin_is_inspected() {
    let dir = support::with_pack(64);
    let file = support::data("group.fatbin");
    fs::write(dir.path().join("other"), file).unwrap();
    let text = fails(dir.path(), &["verify", "images.pack", "--linked-with", "other"], 2);
    assert!(text.contains("`other` has no SYCLBIN to link with"), "{text}");
    let shown = follow(&text, |words| offload(dir.path(), &[words, &["other"]].concat()));
    assert!(shown.status.success(), "{}", all_output(&shown));
}

/// Follows the hint in `text` to `doctor`, which ends with 1 if something is missing on this machine.
#[cfg(target_os = "linux")]
fn assert_diagnosed(machine: &Machine, text: &str) {
    let output = follow(text, |words| machine.offload(words));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", all_output(&output));
    assert!(all_output(&output).contains("clang"), "{}", all_output(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn what_helps_to_install_compilers() {
    let machine = Machine::new();
    let refused = machine.offload(&["toolchain", "remove"]);
    let listed = follow(&all_output(&refused), |words| machine.offload(words));
    assert!(listed.status.success() && all_output(&listed).contains("ptxas"), "{}", all_output(&listed));

    // Without apt, the lock file has what is fetched.
    let apt = fs::read(machine.path("bin/apt-get")).unwrap();
    fs::remove_file(machine.path("bin/apt-get")).unwrap();
    assert_diagnosed(&machine, &all_output(&machine.offload(&["toolchain", "install"])));
    support::program::write(&machine.path("bin/apt-get"), &apt);
    assert!(machine.install(&[]).status.success());
    let lock = machine.path("data/offload-toolchain.lock");
    let locked = fs::read_to_string(&lock).unwrap();
    fs::remove_file(machine.path("bin/apt-get")).unwrap();
    fs::remove_dir_all(machine.path("data/toolchain")).unwrap();
    let newer = with_other_system(&locked).replace("glibc = \"2.36\"", "glibc = \"2.41\"");
    fs::write(&lock, newer).unwrap();
    assert_diagnosed(&machine, &all_output(&machine.install(&[])));
    let without: Vec<&str> = locked.lines().filter(|line| !line.starts_with("url = \"http")).collect();
    fs::write(&lock, with_other_system(&without.join("\n"))).unwrap();
    let refused = all_output(&machine.install(&[]));
    assert!(refused.contains("the lock file has no URL for"), "{refused}");
    support::program::write(&machine.path("bin/apt-get"), &apt);
    let written = follow(&refused, |words| machine.offload(words));
    assert!(written.status.success(), "{}", all_output(&written));
    assert_eq!(fs::read_to_string(&lock).unwrap(), locked);
}

#[cfg(target_os = "linux")]
fn with_other_system(lock: &str) -> String {
    let system = lock.lines().find(|line| line.starts_with("system")).unwrap();
    lock.replace(system, &format!("system = \"other 1 {}\"", std::env::consts::ARCH))
}
