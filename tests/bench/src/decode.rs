//! `bench decode`: reading images with zstd's own library, and with decoders in Rust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;
use offload_tests::{fixture, setup};

/// Where PoCL's packages have its library of functions, as LLVM bitcode for each level of x86-64.
const LIBRARY: &str = "/usr/share/pocl/kernel-x86_64-pc-linux-gnu-avx2.bc";
const OTHER: &str = "/usr/share/pocl/kernel-x86_64-pc-linux-gnu-avx512.bc";

/// The features, of which the first writes the pack.
const DECODERS: [&str; 2] = ["libzstd", "pure"];

/// What an image takes.
#[derive(Clone, Copy, Debug)]
struct Took {
    nanoseconds: f64,
    bytes: f64,
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let files = match args {
        [] => [LIBRARY, OTHER].map(PathBuf::from),
        [file, other] => [file, other].map(PathBuf::from),
        _ => {
            return Err(
                Error::new("`bench decode` takes two files, or none").hint("cargo xtask bench decode")
            );
        }
    };
    setup::ensure(workspace, &[setup::BUILD])?;
    let dir = workspace.shell.create_dir(workspace.target_dir.join("bench/decode"))?;
    fixture::copy(workspace, "decoders", &dir.join("src"))?;
    let pack = dir.join("decoders.pack");
    let mut times = Vec::new();
    for (number, feature) in DECODERS.into_iter().enumerate() {
        let program = build(workspace, &dir, feature)?;
        if number == 0 {
            workspace.shell.cmd(&program).arg("pack").arg(&pack).args(&files).quiet().run()?;
        }
        times.push(measure(workspace, &program, &pack)?);
    }
    println!("{:<14} {:>10} {:>14} {:>14} {:>8}", "image", "MiB", "libzstd", "pure", "times");
    let [libzstd, pure] = times.as_slice() else { return Err(Error::new("there are two decoders")) };
    for (name, took) in libzstd {
        let other = pure.get(name).ok_or_else(|| Error::new(format!("`pure` did not read `{name}`")))?;
        println!(
            "{name:<14} {:>10.1} {:>9.0} MB/s {:>9.0} MB/s {:>8.2}",
            took.bytes / f64::from(1 << 20),
            took.rate(),
            other.rate(),
            other.nanoseconds / took.nanoseconds
        );
    }
    println!("with the hash of each image, and of the related one with its parent; the least of 7");
    Ok(ExitCode::SUCCESS)
}

impl Took {
    /// Megabytes in a second.
    fn rate(self) -> f64 {
        self.bytes / self.nanoseconds * 1e3
    }
}

fn build(workspace: &Workspace, dir: &Path, feature: &str) -> Result<PathBuf> {
    let _in = workspace.shell.push_dir(dir.join("src"));
    let target = dir.join(feature);
    let cargo = workspace.cargo().args(["build", "--release", "--quiet", "--features", feature]);
    cargo.env("CARGO_TARGET_DIR", &target).env_remove("RUSTFLAGS").run()?;
    Ok(target.join("release/decoders"))
}

/// The time for each image.
fn measure(workspace: &Workspace, program: &Path, pack: &Path) -> Result<BTreeMap<String, Took>> {
    let printed = workspace.shell.cmd(program).arg("time").arg(pack).quiet().read()?;
    let mut times = BTreeMap::new();
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, nanoseconds, bytes] = words.as_slice() else { continue };
        if let (Ok(nanoseconds), Ok(bytes)) = (nanoseconds.parse(), bytes.parse()) {
            times.insert(name.to_string(), Took { nanoseconds, bytes });
        }
    }
    if times.is_empty() { Err(Error::new("the program read no image")) } else { Ok(times) }
}
