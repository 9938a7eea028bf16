//! `toolchain install` on a machine of stand-ins: what is fetched, checked and put in place.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;

use crate::support::all_output;
use crate::support::machine::Machine;
use crate::support::strace::{Fault, WRITES, Whose, injected};
use sha2::{Digest, Sha256};

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn packages_are_fetched_locked_and_unpacked() {
    let machine = Machine::new();
    let first = machine.install(&[]);
    assert!(first.status.success(), "{}", all_output(&first));
    assert!(
        all_output(&first).contains("skipping lld-22: not in this distribution"),
        "{}",
        all_output(&first)
    );
    assert_eq!(machine.installed(), ["clang-22", "lib", "libllvm22", "offload-toolchain.lock"]);
    assert_eq!(read(&machine.path("data/toolchain/clang-22")), "first");
    assert_eq!(read(&machine.path("data/toolchain/libllvm22")), "library");
    assert!(machine.path("data/toolchain/lib/python3/site-packages/nvidia/ptxas").is_file());
    let lock = read(&machine.path("data/offload-toolchain.lock"));
    let fetched = fs::read(machine.path("bin/clang-22_22_amd64.deb")).unwrap();
    let sum: String = Sha256::digest(&fetched).iter().map(|byte| format!("{byte:02x}")).collect();
    let address = "url = \"http://x/clang-22_22_amd64.deb\"";
    let named = ["name = \"clang-22\"\nversion = \"1:22\"", "name = \"nvidia-cuda-nvcc-cu12\""];
    for part in named.into_iter().chain([sum.as_str(), address, "glibc = \"2.36\""]) {
        assert!(lock.contains(part), "{lock}");
    }
    assert!(!lock.contains("libc6"), "{lock}");
    // What is there is not fetched again; a folder that is gone is made as it was.
    let again = machine.install(&[]);
    assert!(all_output(&again).contains(" already has the 3 packages of "), "{}", all_output(&again));
    assert!(!all_output(&again).contains("fetching"), "{}", all_output(&again));
    fs::remove_dir_all(machine.path("data/toolchain")).unwrap();
    assert!(machine.install(&["--quiet"]).status.success());
    assert_eq!(machine.installed(), ["clang-22", "lib", "libllvm22", "offload-toolchain.lock"]);
    assert_eq!(read(&machine.path("data/offload-toolchain.lock")), lock);
    assert_eq!(fs::read_dir(machine.path("data")).unwrap().count(), 2, "something was left behind");
}

#[test]
fn parts_are_installed_one_by_one() {
    let machine = Machine::new();
    let site = "data/toolchain/lib/python3/site-packages/nvidia";
    let first = machine.install(&["ptxas"]);
    assert!(first.status.success(), "{}", all_output(&first));
    // Who lacks ptxas alone fetches nothing else.
    assert!(
        all_output(&first).contains("fetching nvidia-cuda-nvcc-cu12 12.9.86 (38.7 MiB)"),
        "{}",
        all_output(&first)
    );
    assert!(
        !all_output(&first).contains("clang") && !all_output(&first).contains("lists"),
        "{}",
        all_output(&first)
    );
    assert_eq!(machine.installed(), ["lib", "offload-toolchain.lock"]);
    assert!(machine.install(&["nvdisasm"]).status.success());
    for file in ["ptxas", "nvdisasm"] {
        assert!(machine.path(site).join(file).is_file(), "{file}");
    }
    let table = all_output(&machine.offload(&["toolchain", "list"]));
    assert_eq!(
        ["llvm", "ptxas", "nvcc", "nvdisasm", "cuda-headers"].map(|part| {
            let line = table.lines().find(|line| line.starts_with(part)).unwrap().to_string();
            line.contains("  yes  ")
        }),
        [false, true, false, true, false],
        "{table}"
    );
    let again = machine.install(&["ptxas", "nvdisasm"]);
    assert!(
        all_output(&again).contains("already") && !all_output(&again).contains("fetching"),
        "{}",
        all_output(&again)
    );
    // All the rest comes beside them.
    assert!(machine.install(&[]).status.success());
    assert_eq!(machine.installed(), ["clang-22", "lib", "libllvm22", "offload-toolchain.lock"]);
    assert!(machine.path(site).join("nvdisasm").is_file());
    // Newest versions are those of all parts.
    machine.serve("second");
    assert!(machine.install(&["--update"]).status.success());
    assert_eq!(read(&machine.path("data/toolchain/clang-22")), "second");
    assert!(machine.path(site).join("nvdisasm").is_file());
    // The folder goes, and comes again as the lock file has it.
    assert!(machine.offload(&["toolchain", "remove"]).status.success());
    assert!(!machine.path("data/toolchain").exists() && machine.path("data/offload-toolchain.lock").exists());
    assert!(machine.install(&[]).status.success());
    assert!(machine.path(site).join("nvdisasm").is_file());
    fs::remove_file(machine.path("data/toolchain/offload-toolchain.lock")).unwrap();
    let kept = machine.offload(&["toolchain", "remove"]);
    assert!(all_output(&kept).contains("was not created by") && machine.path("data/toolchain").exists());
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn line<'t>(text: &'t str, start: &str) -> &'t str {
    text.lines().find(|line| line.starts_with(start)).unwrap()
}

/// The headers of release 12 lie in several packages, one of which is that of ptxas.
#[test]
fn headers_of_an_older_release_are_a_part_beside_ptxas() {
    let machine = Machine::new();
    assert!(machine.install(&["ptxas"]).status.success());
    let headers = machine.install(&["cuda-headers@12"]);
    assert!(headers.status.success(), "{}", all_output(&headers));
    assert!(!all_output(&headers).contains("fetching nvidia-cuda-nvcc-cu12"), "{}", all_output(&headers));
    let listed = all_output(&machine.offload(&["toolchain", "list"]));
    assert!(line(&listed, "cuda-headers@12").contains("  yes"), "{listed}");
    assert!(line(&listed, "cuda-headers ").contains("  no"), "{listed}");
    let newest = machine.install(&["--update"]);
    assert!(newest.status.success(), "{}", all_output(&newest));
    assert_eq!(
        all_output(&newest).matches("unpacking nvidia-cuda-nvcc-cu12").count(),
        1,
        "{}",
        all_output(&newest)
    );
}

/// The headers of CUDA are a part of their own, and are in the part with nvcc too.
#[test]
fn parts_that_share_packages_are_fetched_without_them() {
    let machine = Machine::new();
    let site = machine.path("data/toolchain/lib/python3/site-packages/nvidia/cu13");
    let headers = machine.install(&["cuda-headers"]);
    assert!(headers.status.success(), "{}", all_output(&headers));
    for package in ["nvidia-cuda-crt 13.5.37 (162.3 KiB)", "nvidia-cuda-runtime 13.5.37 (2.4 MiB)"] {
        assert!(all_output(&headers).contains(&format!("fetching {package}")), "{}", all_output(&headers));
    }
    assert!(
        !all_output(&headers).contains("nvcc") && !all_output(&headers).contains("lists"),
        "{}",
        all_output(&headers)
    );
    assert_eq!(names(&site), ["cccl", "crt", "runtime"]);
    let listed = all_output(&machine.offload(&["toolchain", "list"]));
    assert!(line(&listed, "cuda-headers").contains("6.5 MiB  yes"), "{listed}");
    assert!(line(&listed, "nvcc").contains("  no "), "{listed}");
    // What nvcc needs more. The wheel with NVVM has another name than the rest.
    let nvcc = machine.install(&["nvcc"]);
    assert!(nvcc.status.success(), "{}", all_output(&nvcc));
    assert!(!all_output(&nvcc).contains("nvidia-cuda-crt"), "{}", all_output(&nvcc));
    assert_eq!(names(&site), ["cccl", "crt", "nvcc", "runtime"]);
    // A new installation: headers do not include nvcc.
    let other = Machine::new();
    assert!(other.install(&["cuda-headers"]).status.success());
    let newest = other.install(&["--update"]);
    assert!(newest.status.success(), "{}", all_output(&newest));
    assert!(
        all_output(&newest).contains("nvidia-cuda-cccl") && !all_output(&newest).contains("nvidia-nvvm"),
        "{}",
        all_output(&newest)
    );
}

#[test]
fn what_is_not_as_locked_is_refused_and_changes_nothing() {
    let machine = Machine::new();
    // The lock file lies beside the configuration, if there is one.
    fs::write(machine.path("offload.toml"), "targets = [\"host\"]\n").unwrap();
    assert!(machine.install(&[]).status.success());
    let lock = read(&machine.path("offload-toolchain.lock"));
    fs::write(machine.path("data/toolchain/mine"), "").unwrap();
    machine.serve("second");
    // The folder was made from another lock file.
    fs::write(machine.path("data/toolchain/offload-toolchain.lock"), "").unwrap();
    let refused = machine.install(&[]);
    assert_eq!(refused.status.code(), Some(1), "{}", all_output(&refused));
    assert!(
        all_output(&refused).contains("has the hash") && all_output(&refused).contains("hint: use --update"),
        "{}",
        all_output(&refused)
    );
    assert!(machine.path("data/toolchain/mine").exists());
    assert_eq!(read(&machine.path("offload-toolchain.lock")), lock);

    fs::write(machine.path("mine"), "mine").unwrap();
    let kept = machine.install(&["--update", "--lock", "mine"]);
    assert!(
        all_output(&kept).contains("error: `mine` exists and is not a lock file\nhint: "),
        "{}",
        all_output(&kept)
    );
    assert_eq!(read(&machine.path("mine")), "mine");

    let updated = machine.install(&["--update"]);
    assert!(updated.status.success(), "{}", all_output(&updated));
    assert_ne!(read(&machine.path("offload-toolchain.lock")), lock);
    assert!(!machine.path("data/toolchain/mine").exists());
}

#[test]
fn without_apt_the_locked_files_are_fetched_by_their_addresses() {
    let machine = Machine::new();
    assert!(machine.install(&["--lock", "lock"]).status.success());
    fs::remove_dir_all(machine.path("data")).unwrap();
    fs::remove_file(machine.path("bin/apt-get")).unwrap();
    let locked = read(&machine.path("lock"));
    // As if it had been written on another distribution, whose programs run with this C library.
    let other =
        locked.replace(line(&locked, "system"), &format!("system = \"other 1 {}\"", std::env::consts::ARCH));
    fs::write(machine.path("lock"), &other).unwrap();
    let installed = machine.install(&["--lock", "lock"]);
    assert!(installed.status.success(), "{}", all_output(&installed));
    assert_eq!(machine.installed(), ["clang-22", "lib", "libllvm22", "offload-toolchain.lock"]);
    assert_eq!(read(&machine.path("data/toolchain/clang-22")), "first");
    // The lock file stays that of the other.
    assert_eq!(read(&machine.path("lock")), other);

    machine.serve("second");
    fs::remove_dir_all(machine.path("data")).unwrap();
    let refused = machine.install(&["--lock", "lock"]);
    assert_eq!(refused.status.code(), Some(1), "{}", all_output(&refused));
    assert!(all_output(&refused).contains("has the hash"), "{}", all_output(&refused));
    fs::write(machine.path("lock"), other.replace(line(&locked, "glibc"), "glibc = \"2.41\"")).unwrap();
    let refused = machine.install(&["--lock", "lock"]);
    assert_eq!(refused.status.code(), Some(2), "{}", all_output(&refused));
    assert!(
        all_output(&refused).contains("need glibc 2.41, but this system has 2.36\nhint: "),
        "{}",
        all_output(&refused)
    );
}

#[test]
fn without_apt_the_parts_of_the_lock_file_are_all() {
    let machine = Machine::new();
    assert!(machine.install(&["ptxas"]).status.success());
    fs::remove_dir_all(machine.path("data/toolchain")).unwrap();
    fs::remove_file(machine.path("bin/apt-get")).unwrap();
    let installed = machine.install(&[]);
    assert!(installed.status.success(), "{}", all_output(&installed));
    assert_eq!(machine.installed(), ["lib", "offload-toolchain.lock"]);
}

#[test]
fn what_is_no_package_is_told() {
    let machine = Machine::new();
    fs::write(machine.path("bin/clang-22_22_amd64.deb"), "no archive").unwrap();
    let refused = machine.install(&[]);
    assert_eq!(refused.status.code(), Some(1), "{}", all_output(&refused));
    assert!(
        all_output(&refused).contains("clang-22_1%3a22_amd64.deb` is not a package: "),
        "{}",
        all_output(&refused)
    );
    assert!(!machine.path("data/toolchain").exists());
}

#[test]
fn a_lock_of_another_system_is_refused() {
    let machine = Machine::new();
    fs::write(machine.path("lock"), "version = 1\nsystem = \"plan9 4 mips\"\npackage = []\n").unwrap();
    let refused = machine.install(&["--lock", "lock"]);
    assert_eq!(refused.status.code(), Some(2), "{}", all_output(&refused));
    assert!(all_output(&refused).contains("is for plan9 4 mips"), "{}", all_output(&refused));
    fs::remove_file(machine.path("bin/apt-get")).unwrap();
    let without_both = all_output(&machine.install(&[]));
    assert!(without_both.contains("no apt-get, and there is no lock file"), "{without_both}");
    assert!(without_both.contains("\nhint: use a lock file written on Debian"), "{without_both}");
}

#[test]
fn a_lock_of_another_distribution_serves_beside_apt() {
    let machine = Machine::new();
    assert!(machine.install(&["--lock", "lock"]).status.success());
    fs::remove_dir_all(machine.path("data")).unwrap();
    let locked = read(&machine.path("lock"));
    let system = locked.lines().find(|line| line.starts_with("system")).unwrap();
    let other = locked.replace(system, &format!("system = \"other 1 {}\"", std::env::consts::ARCH));
    fs::write(machine.path("lock"), other).unwrap();
    // apt does not have the other distribution's packages: it is not asked.
    fs::write(machine.path("bin/apt-get"), "#!/bin/sh\necho asked >&2; exit 100\n").unwrap();
    let installed = machine.install(&["--lock", "lock"]);
    assert!(installed.status.success(), "{}", all_output(&installed));
    assert_eq!(read(&machine.path("data/toolchain/clang-22")), "first");

    // Without one the next step is named.
    let none = all_output(&machine.install(&["--lock", "new"]));
    assert!(none.contains("asked"), "{none}");
    let without_clang = "#!/bin/sh\ncase \"$*\" in *\" update\") ;; *) exit 100 ;; esac\n";
    fs::write(machine.path("bin/apt-get"), without_clang).unwrap();
    let none = all_output(&machine.install(&["--lock", "new"]));
    assert!(none.contains("has no clang 22\nhint: ") && none.contains("--lock FILE"), "{none}");
}

/// From nothing, and in place of what is there.
#[test]
fn an_install_that_is_killed_anywhere_is_made_good_by_the_next() {
    let is_full = std::env::var_os("OFFLOAD_TEST_FULL").is_some();
    let calls: &[&str] = if is_full { &WRITES } else { &["?rename", "?linkat", "?unlink"] };
    let mut kills = 0;
    for update in [false, true] {
        for call in calls {
            for number in 1.. {
                let machine = Machine::new();
                if update {
                    assert!(machine.install(&[]).status.success());
                    machine.serve("second");
                }
                let args = if update { UPDATE } else { INSTALL };
                let what = format!("signal=KILL:when={number}");
                if injected(&machine.command(args), &Fault { call, what, whose: Whose::First }).is_none() {
                    break;
                }
                assert_whole(&machine, args, &format!("{args:?} killed before {call} {number}"));
                kills += 1;
                if !is_full {
                    break;
                }
            }
        }
    }
    assert!(kills > 2, "{kills} kills");
    println!("figure: {kills} kills of toolchain install; 0 torn folders");
}

const INSTALL: &[&str] = &["toolchain", "install"];
const UPDATE: &[&str] = &["toolchain", "install", "--update"];

/// The folder of before is there until the new one is.
#[test]
fn an_install_whose_system_calls_fail_says_so_and_is_made_good_by_the_next() {
    let is_full = std::env::var_os("OFFLOAD_TEST_FULL").is_some();
    let calls: &[&str] = if is_full { &WRITES } else { &["?rename", "?mkdir", "?write"] };
    let mut failures = 0;
    for call in calls {
        let mut number = 1;
        loop {
            let machine = Machine::new();
            assert!(machine.install(&[]).status.success());
            machine.serve("second");
            let what = format!("error=EIO:when={number}");
            let fault = Fault { call, what, whose: Whose::First };
            let Some(output) = injected(&machine.command(UPDATE), &fault) else { break };
            let when = format!("{call} {number} fails");
            let text = all_output(&output);
            assert!(output.status.code().is_some() && !text.contains("panicked"), "{when}: {text}");
            if !output.status.success() {
                failures += 1;
                // An error of printing cannot be reported.
                assert!(text.contains("error: ") || *call == "?write", "{when}: {text}");
            }
            assert_whole(&machine, UPDATE, &when);
            if !is_full {
                break;
            }
            number += 1 + number / 8;
        }
    }
    assert!(failures > 0, "nothing failed");
    println!("figure: {failures} failures of calls of toolchain install; 0 torn folders");
}

/// The folder is whole, if it was there before or is there, and the same command again makes it what it is to be.
fn assert_whole(machine: &Machine, args: &[&str], when: &str) {
    const ALL: [&str; 4] = ["clang-22", "lib", "libllvm22", "offload-toolchain.lock"];
    if args == UPDATE || machine.path("data/toolchain").exists() {
        assert_eq!(machine.installed(), ALL, "{when}");
    }
    let again = machine.offload(args);
    assert!(again.status.success(), "{when}: {}", all_output(&again));
    assert_eq!(machine.installed(), ALL, "{when}");
    let content = if args.contains(&"--update") { "second" } else { "first" };
    assert_eq!(read(&machine.path("data/toolchain/clang-22")), content, "{when}");
    let entries = fs::read_dir(machine.path("data")).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{when}: {names:?}");
}
