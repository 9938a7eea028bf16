//! `toolchain install` with stand-ins for apt-get, dpkg-deb and pip: what is fetched, checked and put in place.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use support::said;

/// Lists clang and a library, with one of the base system that is not fetched; what is fetched has the text of `content`.
const APT: &str = r#"#!/bin/sh
for arg do last=$arg; done
case "$*" in
  *" update") exit 0 ;;
  *"install --print-uris"*" libllvm22")
    echo "Reading package lists..."
    echo "'http://x/libc6_2_amd64.deb' libc6_2_amd64.deb 9 "
    echo "'http://x/libllvm22_22_amd64.deb' libllvm22_1%3a22_amd64.deb 9 SHA256:0" ;;
  *"download --print-uris clang-22") echo "'http://x/clang-22_22_amd64.deb' clang-22_1%3a22_amd64.deb 9 " ;;
  *"download clang-22=1:22") read -r text < "$0.content"; echo "$text" > clang-22_1%3a22_amd64.deb ;;
  *"download libllvm22=1:22") echo library > libllvm22_1%3a22_amd64.deb ;;
  *) echo "E: Unable to locate package $last" >&2; exit 100 ;;
esac
"#;

/// Makes an empty file of the package's name.
const DPKG: &str = "#!/bin/sh\nname=${2##*/}\n: > \"$3/${name%%_*}\"\n";

/// A pip that finds a wheel and unpacks it.
const PYTHON: &str = r#"#!/bin/sh
case "$*" in
  *"--version") exit 0 ;;
  *"pip download"*"nvidia-cuda-nvcc-cu12=="*) echo wheel > "nvidia_cuda_nvcc_cu12-${*##*==}-py3-none-any.whl" ;;
  *"pip install"*) for arg do case "$before" in --target) site=$arg ;; esac; before=$arg; done
    /bin/mkdir -p "$site/nvidia" && : > "$site/nvidia/ptxas" ;;
  *) exit 1 ;;
esac
"#;

struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        fs::create_dir(machine.path("bin")).unwrap();
        for (name, script) in [("apt-get", APT), ("dpkg-deb", DPKG), ("python3", PYTHON)] {
            let path = machine.path("bin").join(name);
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        machine.serve("first");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What the distribution has now.
    fn serve(&self, content: &str) {
        fs::write(self.path("bin/apt-get.content"), format!("{content}\n")).unwrap();
    }

    fn install(&self, args: &[&str]) -> Output {
        support::command(self.0.path(), &[&["toolchain", "install"], args].concat())
            .env("PATH", self.path("bin"))
            .env("OFFLOAD_TOOLCHAIN", self.path("data/toolchain"))
            .output()
            .unwrap()
    }

    fn installed(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("data/toolchain")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn packages_are_fetched_locked_and_unpacked() {
    let machine = Machine::new();
    let first = machine.install(&[]);
    assert!(first.status.success(), "{}", said(&first));
    assert!(said(&first).contains("this distribution has no lld-22: it is left out"), "{}", said(&first));
    assert_eq!(machine.installed(), ["clang-22", "lib", "libllvm22", "offload-toolchain.lock"]);
    assert!(machine.path("data/toolchain/lib/python3/site-packages/nvidia/ptxas").is_file());
    let lock = read(&machine.path("data/offload-toolchain.lock"));
    // sha256sum of "first\n".
    let sum = "b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41";
    for part in ["name = \"clang-22\"\nversion = \"1:22\"", sum, "name = \"nvidia-cuda-nvcc-cu12\""] {
        assert!(lock.contains(part), "{lock}");
    }
    assert!(!lock.contains("libc6"), "{lock}");
    // The same again is the same.
    assert!(machine.install(&["--quiet"]).status.success());
    assert_eq!(read(&machine.path("data/offload-toolchain.lock")), lock);
    assert_eq!(fs::read_dir(machine.path("data")).unwrap().count(), 2, "something was left behind");
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
    let refused = machine.install(&[]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(
        said(&refused).contains("has the hash") && said(&refused).contains("hint: --update"),
        "{}",
        said(&refused)
    );
    assert!(machine.path("data/toolchain/mine").exists());
    assert_eq!(read(&machine.path("offload-toolchain.lock")), lock);

    let updated = machine.install(&["--update"]);
    assert!(updated.status.success(), "{}", said(&updated));
    assert_ne!(read(&machine.path("offload-toolchain.lock")), lock);
    assert!(!machine.path("data/toolchain/mine").exists());
}

#[test]
fn a_lock_of_another_system_is_refused() {
    let machine = Machine::new();
    fs::write(machine.path("lock"), "version = 1\nsystem = \"plan9 4 mips\"\npackage = []\n").unwrap();
    let refused = machine.install(&["--lock", "lock"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("is for plan9 4 mips"), "{}", said(&refused));
    fs::remove_file(machine.path("bin/apt-get")).unwrap();
    assert!(said(&machine.install(&[])).contains("this system has no apt-get\nhint: "), "no apt");
}
