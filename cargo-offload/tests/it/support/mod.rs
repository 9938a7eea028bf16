//! Running the subcommand, as its tests do.

pub mod archive;
#[cfg(target_os = "linux")]
pub mod drivers;
#[cfg(target_os = "linux")]
pub mod machine;
#[cfg(unix)]
pub mod program;
#[cfg(target_os = "linux")]
pub mod strace;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use offload_containers::{bundle, ccob};
use offload_format::codec::{self, Codec};
use offload_format::pack::{KernelInfo, NewImage, PackBuilder};

/// A sample in `tests/data`.
pub fn data(name: &str) -> Vec<u8> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    fs::read(data.join(name)).unwrap()
}

/// `cargo offload ARGS` in `dir`, where no setting of the machine's is seen.
pub fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-offload"));
    command.arg("offload").args(args).current_dir(dir);
    for name in ["OFFLOAD_CONFIG", "CARGO_TERM_COLOR", "COLUMNS"] {
        command.env_remove(name);
    }
    command.env("OFFLOAD_CACHE_DIR", dir.join("cache"));
    command
}

/// The same on a machine with none of the tools, as far as variables can make one.
pub fn without_tools(dir: &Path, args: &[&str]) -> Command {
    let mut command = command(dir, args);
    command.env("PATH", "/nonexistent");
    for name in ["CLANG", "OCLOC", "SPIRV_VAL", "PTXAS", "NVCC", "HIPCC", "ICPX", "POCL_DIR", "LIBDEVICE"] {
        command.env(format!("OFFLOAD_{name}"), "/nonexistent");
    }
    command
}

pub fn offload(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Everything that a command has printed.
pub fn all_output(output: &Output) -> String {
    [stdout(output), stderr(output)].concat()
}

/// What a command that must succeed says on a terminal of this kind and so many columns, without colours.
#[cfg(target_os = "linux")]
pub fn on_terminal(dir: &Path, (kind, columns): (&str, u32), args: &str) -> String {
    let program = env!("CARGO_BIN_EXE_cargo-offload");
    let line = format!("stty cols {columns} rows 50; exec '{program}' offload --color never {args}");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(dir);
    for name in ["COLUMNS", "CARGO_TERM_PROGRESS_WHEN", "CARGO_TERM_QUIET", "CI"] {
        command.env_remove(name);
    }
    let output = command.env("TERM", kind).env("NO_COLOR", "1").stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{args}: {}", all_output(&output));
    stdout(&output).replace("\r\n", "\n")
}

/// Runs a command that must succeed, and returns its output.
pub fn ok(dir: &Path, args: &[&str]) -> String {
    let output = offload(dir, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// Runs a command that must end with `code`, and returns what it says of errors.
pub fn fails(dir: &Path, args: &[&str], code: i32) -> String {
    let output = offload(dir, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}{}", stdout(&output), stderr(&output));
    stderr(&output)
}

/// The objects of `--json`, those with this `reason`.
pub fn objects(printed: &str, reason: &str) -> Vec<serde_json::Value> {
    let objects = printed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    objects.filter(|object| object["reason"] == reason).collect()
}

/// A pack of the package `sample`.
pub fn pack(images: Vec<(NewImage, Vec<u8>)>, codec: Codec) -> Vec<u8> {
    finished(PackBuilder::new("sample", "1.0.0"), images, codec)
}

/// The same with an index that is not compressed, for tests that change its texts.
pub fn plain_pack(images: Vec<(NewImage, Vec<u8>)>, codec: Codec) -> Vec<u8> {
    let mut builder = PackBuilder::new("sample", "1.0.0");
    builder.plain_index();
    finished(builder, images, codec)
}

fn finished(mut builder: PackBuilder, images: Vec<(NewImage, Vec<u8>)>, codec: Codec) -> Vec<u8> {
    let mut frames = Vec::new();
    for (image, bytes) in images {
        let frame = codec::encode(&bytes, codec, 19).unwrap();
        builder.image(image, frame.info()).unwrap();
        frames.push(frame);
    }
    builder.finish().unwrap().with_frames(&frames).unwrap()
}

/// A directory with one file.
pub fn dir_with(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), bytes).unwrap();
    dir
}

/// A compressed bundle with two code objects.
pub fn hip() -> Vec<u8> {
    let first = data("device-gfx1100.co");
    let second = data("device-gfx906.co");
    let images = [
        bundle::BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx1100", bytes: &first },
        bundle::BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx906", bytes: &second },
    ];
    ccob::write(&bundle::write(&images, bundle::HIP_ALIGN).unwrap(), ccob::Version::V2, 19).unwrap()
}

/// A kernel with numbers that a compiler might report.
pub fn kernel(name: &str, [registers, spilled, private]: [u32; 3]) -> KernelInfo {
    let mut info = KernelInfo::new(name);
    info.registers = Some(registers);
    info.spilled = Some(spilled.into());
    info.private_memory = Some(private.into());
    info.local_memory = Some(0);
    info.max_work_group = Some(1024);
    info
}

pub fn image(module: &str, target: &str, kernels: Vec<KernelInfo>) -> NewImage {
    NewImage { kernels, ..NewImage::new(module, target.parse().unwrap()) }
}

/// A directory with `images.pack`: two modules for three targets, of which two images are the same bytes.
pub fn with_pack(spilled: u32) -> tempfile::TempDir {
    let images = vec![
        (
            image("blas", "cubin:sm_80", vec![kernel("stacked", [32, spilled, 16])]),
            data("device-12.9-sm_80.cubin"),
        ),
        (image("blas", "amdgcn:gfx1100", vec![kernel("scale", [12, 0, 0])]), data("device-gfx1100.co")),
        (image("blas", "amdgcn:gfx1101", vec![kernel("scale", [12, 0, 0])]), data("device-gfx1100.co")),
        (image("fft", "intel:pvc", vec![kernel("radix", [256, 0, 128])]), data("saxpy-reduce.zebin")),
    ];
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("images.pack"), pack(images, Codec::Zstd)).unwrap();
    dir
}
