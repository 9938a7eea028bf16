//! Changes of the packs in programs for macOS, linked by lld: for both processors, with both forms of relocations, with and
//! without a signature. They are read by LLVM's tools, and run nowhere.

use std::fs;
use std::path::Path;
use std::process::Command;

use object::Endianness;
use object::read::macho::MachOFile64;
use object::read::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use offload_format::codec::{self, Codec};
use offload_format::pack::{NewImage, Pack, PackBuilder, Pages};
use offload_format::section::{DESCRIPTOR_ADDRESS, Descriptor};

use crate::support::cargo_offload;
use crate::support::script::succeed;

/// What lld links for.
struct Linked {
    arch: &'static str,
    /// From 13 on pointers are in chains.
    release: &'static str,
    is_signed: bool,
}

const LINKED: [Linked; 4] = [
    Linked { arch: "x86_64", release: "10.12", is_signed: false },
    Linked { arch: "x86_64", release: "13.0", is_signed: false },
    Linked { arch: "arm64", release: "11.0", is_signed: true },
    Linked { arch: "arm64", release: "14.0", is_signed: true },
];

/// A module of about so many bytes, of instructions that do nothing.
fn spirv(size: usize) -> Vec<u8> {
    let mut words = vec![0x0723_0203u32, 0x0001_0000, 0, 1, 0];
    words.resize(size / 4, 0x0001_0000);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn source(seed: u8, size: usize) -> Vec<u8> {
    (0..size).map(|at| (at as u8).wrapping_mul(seed)).collect()
}

/// A pack with an image for each of two targets.
fn pack(seed: u8, size: usize) -> Vec<u8> {
    let mut builder = PackBuilder::new("sample", "1.0.0");
    let mut frames = Vec::new();
    for (target, size) in [("spirv64", size), ("opencl-c", 700)] {
        let content = if target == "spirv64" { spirv(size) } else { source(seed, size) };
        let frame = codec::encode(&content, Codec::Raw, 19).unwrap();
        builder.image(NewImage::new("k", target.parse().unwrap()), frame.info()).unwrap();
        frames.push(frame);
    }
    builder.finish().unwrap().with_frames(&frames).unwrap()
}

fn listed(bytes: &[u8]) -> String {
    let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
    numbers.join(", ")
}

/// What rustc makes of the generated Rust of two crates.
fn assembly(packs: &[Vec<u8>]) -> String {
    let mut text = String::from(".text\n.globl _main\n_main: ret\n.subsections_via_symbols\n");
    for (number, pack) in packs.iter().enumerate() {
        let id = Pack::parse(pack, &Pages::default()).unwrap().id().unwrap().0;
        let descriptor = Descriptor::new(pack.len() as u64, id, DESCRIPTOR_ADDRESS).encode();
        text += &format!(
            ".section __OFFLOAD,__packs\n.p2align 4\n_pack{number}: .incbin \"pack{number}\"\n.p2align 4\n\
             .section __DATA,__offload_tab\n.p2align 3\n_table{number}: .byte {}\n.quad _pack{number}\n.byte {}\n\
             .section __DATA,__offload,regular,no_dead_strip\n.p2align 3\n_slot{number}: .quad _table{number}\n",
            listed(&descriptor[..16]),
            listed(&descriptor[24..])
        );
    }
    text
}

fn link(directory: &Path, linked: &Linked) {
    let packs = [pack(3, 50_000), pack(7, 90_000)];
    for (number, pack) in packs.iter().enumerate() {
        fs::write(directory.join(format!("pack{number}")), pack).unwrap();
    }
    fs::write(directory.join("app.s"), assembly(&packs)).unwrap();
    fs::write(directory.join("system.tbd"), offload_tests::MACOS_LIBRARY).unwrap();
    let target = format!("--target={}-apple-macosx{}", linked.arch, linked.release);
    let mut clang = Command::new("clang-22");
    succeed(clang.current_dir(directory).args([&target, "-c", "app.s", "-o", "app.o"]));
    let mut lld = Command::new("ld64.lld-22");
    lld.current_dir(directory).args(["-arch", linked.arch, "-platform_version", "macos"]);
    lld.args([linked.release, linked.release, "-dead_strip", "-o", "app", "app.o", "system.tbd"]);
    succeed(&mut lld);
}

fn ok(directory: &Path, args: &[&str]) -> String {
    let mut command = Command::new(cargo_offload());
    succeed(command.current_dir(directory).arg("offload").args(args))
}

/// Segments follow each other in the file, the symbol is there, and LLVM reads all.
fn assert_sound(path: &Path, linked: &Linked) {
    let bytes = fs::read(path).unwrap();
    let file = MachOFile64::<Endianness>::parse(bytes.as_slice()).unwrap();
    let mut end = 0;
    for segment in file.segments().filter(|segment| segment.file_range().1 > 0) {
        let (offset, size) = segment.file_range();
        assert_eq!(offset, end, "{:?} of {}", segment.name(), path.display());
        assert!(size <= segment.size());
        end = offset + size;
    }
    assert_eq!(end, bytes.len() as u64);
    assert!(file.symbols().any(|symbol| symbol.name() == Ok("_main")));
    for section in file.sections() {
        let (_, size) = section.file_range().unwrap();
        assert_eq!(size, section.size());
    }
    let mut reader = Command::new("llvm-objdump-22");
    let text = succeed(reader.args(["--macho", "--private-headers"]).arg(path));
    assert_eq!(text.contains("LC_CODE_SIGNATURE"), linked.is_signed);
}

#[test]
fn programs_for_macos_are_pruned_and_repacked() {
    for linked in LINKED {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        link(path, &linked);
        let whole = fs::read(path.join("app")).unwrap();
        assert_sound(&path.join("app"), &linked);
        assert!(ok(path, &["verify", "app"]).contains("4 images verified, 0 problems"));
        ok(path, &["prune", "app", "--keep", "opencl-c", "-o", "small"]);
        assert_sound(&path.join("small"), &linked);
        assert!(ok(path, &["verify", "small"]).contains("2 images verified, 0 problems"));
        let small = fs::metadata(path.join("small")).unwrap().len();
        assert!(small + 100_000 < whole.len() as u64, "{} {}: {small}", linked.arch, linked.release);
        // Back again are the linker's own bytes: of the signature, too.
        ok(path, &["repack", "app", "--sidecar", "--in-place"]);
        assert_sound(&path.join("app"), &linked);
        assert!(ok(path, &["verify", "app"]).contains("4 images verified, 0 problems"));
        ok(path, &["repack", "app", "--embed", "--in-place"]);
        assert!(fs::read(path.join("app")).unwrap() == whole, "{} {}", linked.arch, linked.release);
    }
}

/// A signature with a certificate cannot be made again.
#[test]
fn signed_programs_for_macos_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    link(path, &LINKED[2]);
    let mut signed = fs::read(path.join("app")).unwrap();
    let magic = 0xfade_0c02_u32.to_be_bytes();
    let directory = signed.windows(4).position(|window| window == magic).unwrap();
    // Not ad hoc.
    signed[directory + 15] &= !2;
    fs::write(path.join("app"), signed).unwrap();
    let mut command = Command::new(cargo_offload());
    command.current_dir(path).args(["offload", "prune", "app", "--keep", "opencl-c", "-o", "small"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("codesign --force --sign -"), "{text}");
}
