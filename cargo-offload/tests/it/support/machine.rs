//! A machine to install compilers on: stand-ins for apt-get, curl, getconf and pip.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::program;

/// A machine with these programs and nothing else in `PATH`.
pub struct Machine(tempfile::TempDir);

impl Machine {
    pub fn new() -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        fs::create_dir(machine.path("bin")).unwrap();
        for (name, script) in [("apt-get", APT), ("curl", CURL), ("getconf", GETCONF), ("python3", PYTHON)] {
            program::write(&machine.path("bin").join(name), script);
        }
        machine.serve("first");
        fs::write(machine.path("bin/libllvm22_22_amd64.deb"), deb("libllvm22", "library", Method::Zstd))
            .unwrap();
        machine
    }

    pub fn directory(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What the distribution has now.
    pub fn serve(&self, content: &str) {
        fs::write(self.path("bin/clang-22_22_amd64.deb"), deb("clang-22", content, Method::Xz)).unwrap();
    }

    /// `cargo offload toolchain install ARGS`.
    pub fn install(&self, args: &[&str]) -> Output {
        self.offload(&[&["toolchain", "install"], args].concat())
    }

    /// `cargo offload ARGS`.
    pub fn offload(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The same before it runs.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = super::command(self.0.path(), args);
        command.env("PATH", self.path("bin")).env("OFFLOAD_TOOLCHAIN", self.path("data/toolchain"));
        command
    }

    /// The names in the folder, sorted.
    pub fn installed(&self) -> Vec<String> {
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
        let time = 0;
        let owner = 0;
        let group = 0;
        let mode = 100_644;
        archive.extend(
            format!("{name:<16}{time:<12}{owner:<6}{group:<6}{mode:<8}{:<10}`\n", bytes.len()).into_bytes(),
        );
        archive.extend(&bytes);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    archive
}

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
  *"pip download"*"nvidia-cuda-"*"-cu12=="*) name=${*##*nvidia-cuda-}
    echo wheel > "nvidia_cuda_${name%%-cu12==*}_cu12-${*##*==}-py3-none-any.whl" ;;
  *"pip download"*"nvidia-cuda-nvdisasm=="*) echo wheel > "nvidia_cuda_nvdisasm-${*##*==}-py3-none-any.whl" ;;
  *"pip download"*"nvidia-nvvm=="*) echo wheel > "nvidia_nvvm-${*##*==}-py3-none-any.whl" ;;
  *"pip download"*"nvidia-cuda-"*"=="*) name=${*##*nvidia-cuda-}
    echo wheel > "nvidia_cuda_${name%%==*}-${*##*==}-py3-none-any.whl" ;;
  *"pip install"*nvdisasm*) for arg do case "$before" in --target) site=$arg ;; esac; before=$arg; done
    /bin/mkdir -p "$site/nvidia" && : > "$site/nvidia/nvdisasm" ;;
  *"pip install"*nvidia_cuda_nvcc-*|*"pip install"*nvidia_cuda_c*|*"pip install"*nvidia_cuda_runtime*)
    for arg do case "$before" in --target) site=$arg ;; esac; before=$arg; done
    arg=${arg##*/nvidia_cuda_} && /bin/mkdir -p "$site/nvidia/cu13" && : > "$site/nvidia/cu13/${arg%%-*}" ;;
  *"pip install"*) for arg do case "$before" in --target) site=$arg ;; esac; before=$arg; done
    /bin/mkdir -p "$site/nvidia" && : > "$site/nvidia/ptxas" ;;
  *) exit 1 ;;
esac
"#;
