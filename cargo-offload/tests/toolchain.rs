//! `toolchain install` with stand-ins for apt-get, curl and pip: what is fetched, checked and put in place.

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
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use sha2::{Digest, Sha256};
use support::said;

/// Lists clang and a library, with one of the base system that is not fetched.
const APT: &str = r#"#!/bin/sh
for arg do last=$arg; done
case "$*" in
  *" update") exit 0 ;;
  *"install --print-uris"*" libllvm22")
    echo "Reading package lists..."
    echo "'http://x/libc6_2_amd64.deb' libc6_2_amd64.deb 9 "
    echo "'http://x/libllvm22_22_amd64.deb' libllvm22_1%3a22_amd64.deb 9 SHA256:0" ;;
  *"download --print-uris clang-22") echo "'http://x/clang-22_22_amd64.deb' clang-22_1%3a22_amd64.deb 9 " ;;
  *"download clang-22=1:22") /bin/cp "${0%/*}/clang-22_22_amd64.deb" clang-22_1%3a22_amd64.deb ;;
  *"download libllvm22=1:22") /bin/cp "${0%/*}/libllvm22_22_amd64.deb" libllvm22_1%3a22_amd64.deb ;;
  *) echo "E: Unable to locate package $last" >&2; exit 100 ;;
esac
"#;

/// Serves the same files by their address.
const CURL: &str = r#"#!/bin/sh
for arg do case "$before" in --output) file=$arg ;; esac; before=$arg; done
case "$arg" in http://x/*) /bin/cp "${0%/*}/${arg#http://x/}" "$file" ;; *) exit 22 ;; esac
"#;

const GETCONF: &str = "#!/bin/sh\n[ \"$*\" = GNU_LIBC_VERSION ] && echo glibc 2.36\n";

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
        for (name, script) in [("apt-get", APT), ("curl", CURL), ("getconf", GETCONF), ("python3", PYTHON)] {
            let path = machine.path("bin").join(name);
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        machine.serve("first");
        fs::write(machine.path("bin/libllvm22_22_amd64.deb"), deb("libllvm22", "library", Method::Zstd))
            .unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What the distribution has now.
    fn serve(&self, content: &str) {
        fs::write(self.path("bin/clang-22_22_amd64.deb"), deb("clang-22", content, Method::Xz)).unwrap();
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

/// How a package is compressed.
enum Method {
    Xz,
    Zstd,
}

/// A package that holds one file.
fn deb(file: &str, content: &str, method: Method) -> Vec<u8> {
    let mut data = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o755);
    data.append_data(&mut header, format!("./{file}"), content.as_bytes()).unwrap();
    let tar = data.into_inner().unwrap();
    let (name, compressed) = match method {
        Method::Zstd => ("data.tar.zst", zstd::encode_all(&tar[..], 3).unwrap()),
        Method::Xz => {
            let options = lzma_rust2::XzOptions::with_preset(1);
            let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            writer.write_all(&tar).unwrap();
            ("data.tar.xz", writer.finish().unwrap())
        }
    };
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in [("debian-binary", b"2.0\n".to_vec()), (name, compressed)] {
        let (time, owner, group, mode) = (0, 0, 0, 100_644);
        archive.extend(
            format!("{name:<16}{time:<12}{owner:<6}{group:<6}{mode:<8}{:<10}`\n", bytes.len()).into_bytes(),
        );
        archive.extend(&bytes);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    archive
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
fn without_apt_the_locked_files_are_fetched_by_their_addresses() {
    let machine = Machine::new();
    assert!(machine.install(&["--lock", "lock"]).status.success());
    fs::remove_dir_all(machine.path("data")).unwrap();
    fs::remove_file(machine.path("bin/apt-get")).unwrap();
    let locked = read(&machine.path("lock"));
    // As if it had been written on another distribution, whose programs run with this C library.
    let line = |start: &str| locked.lines().find(|line| line.starts_with(start)).unwrap();
    let other = locked.replace(line("system"), &format!("system = \"other 1 {}\"", std::env::consts::ARCH));
    fs::write(machine.path("lock"), &other).unwrap();
    let installed = machine.install(&["--lock", "lock"]);
    assert!(installed.status.success(), "{}", said(&installed));
    assert_eq!(machine.installed(), ["clang-22", "lib", "libllvm22", "offload-toolchain.lock"]);
    assert_eq!(read(&machine.path("data/toolchain/clang-22")), "first");
    // The lock file stays that of the other.
    assert_eq!(read(&machine.path("lock")), other);

    machine.serve("second");
    let refused = machine.install(&["--lock", "lock"]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("has the hash"), "{}", said(&refused));
    fs::write(machine.path("lock"), other.replace(line("glibc"), "glibc = \"2.41\"")).unwrap();
    let refused = machine.install(&["--lock", "lock"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("need glibc 2.41, and here is 2.36\nhint: "), "{}", said(&refused));
}

#[test]
fn what_is_no_package_is_told() {
    let machine = Machine::new();
    fs::write(machine.path("bin/clang-22_22_amd64.deb"), "no archive").unwrap();
    let refused = machine.install(&[]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("clang-22_1%3a22_amd64.deb` is no package: "), "{}", said(&refused));
    assert!(!machine.path("data/toolchain").exists());
}

#[test]
fn a_lock_of_another_system_is_refused() {
    let machine = Machine::new();
    fs::write(machine.path("lock"), "version = 1\nsystem = \"plan9 4 mips\"\npackage = []\n").unwrap();
    let refused = machine.install(&["--lock", "lock"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("is for plan9 4 mips"), "{}", said(&refused));
    fs::remove_file(machine.path("bin/apt-get")).unwrap();
    let without_both = said(&machine.install(&[]));
    assert!(without_both.contains("no apt-get, and there is no lock file"), "{without_both}");
    assert!(without_both.contains("\nhint: a lock file that this command wrote on Debian"), "{without_both}");
}
