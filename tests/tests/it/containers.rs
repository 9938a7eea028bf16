//! LLVM's tools read the OffloadBinary files that are written here, and what they write is read here.
//!
//! `OFFLOAD_INTEROP_SETS` says how many sets of images are made, `OFFLOAD_INTEROP_LLVM` which release of LLVM judges;
//! `cargo xtask interop` makes 300 for each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::random::Random;
use offload_containers::offload_binary::{Binary, NewEntry, OffloadEntry, Version, parse, write};
use offload_format::{ImageKind, Limits, OffloadKind};
use offload_tests::judging_llvm;

const SETS: u64 = 20;
const LARGEST: u64 = 1 << 20;

/// LLVM's names of kinds: on the packager's command line, and in objdump's list. SYCL is known since LLVM 21.
const PRODUCERS: [(OffloadKind, &str); 4] = [
    (OffloadKind::OpenMp, "openmp"),
    (OffloadKind::Cuda, "cuda"),
    (OffloadKind::Hip, "hip"),
    (OffloadKind::Sycl, "sycl"),
];
/// The release of LLVM that gave HIP and SYCL other numbers.
const RENUMBERED: u32 = 21;
/// The packager takes the kind of an image from the ending of its file.
const IMAGES: [(ImageKind, &str, &str); 5] = [
    (ImageKind::Object, "o", "elf"),
    (ImageKind::Bitcode, "bc", "llvm ir"),
    (ImageKind::Cubin, "cubin", "cubin"),
    (ImageKind::Fatbinary, "fatbin", "fatbinary"),
    (ImageKind::Ptx, "s", "ptx"),
];
const TRIPLES: [&str; 4] =
    ["amdgcn-amd-amdhsa", "nvptx64-nvidia-cuda", "spirv64-unknown-unknown", "spir64_gen-unknown-unknown"];
const ARCHES: [&str; 5] = ["gfx90a:xnack+", "sm_90", "generic", "", "pvc"];

/// Mostly small, now and then of any size to 1 MiB; some multiples of 8, which need no padding.
fn any_bytes(random: &mut Random) -> Vec<u8> {
    let limit = random.choose(&[1, 9, 300, 5000, 5000, LARGEST + 1]);
    let size = random.below(limit);
    let size = if random.below(3) == 0 { size & !7 } else { size };
    let words = (0..size.div_ceil(8)).flat_map(|_| random.number().to_le_bytes());
    let mut bytes: Vec<u8> = words.collect();
    bytes.truncate(size as usize);
    bytes
}

#[derive(Clone, Debug)]
struct Image {
    kind: (ImageKind, &'static str, &'static str),
    producer: (OffloadKind, &'static str),
    strings: Vec<(&'static str, String)>,
    bytes: Vec<u8>,
}

impl Image {
    fn random(random: &mut Random, index: usize) -> Image {
        let mut strings = vec![
            ("triple", random.choose(&TRIPLES).to_string()),
            ("arch", random.choose(&ARCHES).to_string()),
            ("id", index.to_string()),
        ];
        if random.below(2) == 0 {
            strings.push(("note", "x".repeat(random.below(300) as usize)));
        }
        let known = if judging_llvm() < RENUMBERED { 3 } else { 4 };
        let producer = random.choose(&PRODUCERS[..known]);
        Image { kind: random.choose(&IMAGES), producer, strings, bytes: any_bytes(random) }
    }

    fn entry(&self) -> NewEntry<'_> {
        let entry = NewEntry::new(self.kind.0, self.producer.0, &self.bytes);
        self.strings.iter().fold(entry, |entry, (key, value)| entry.with_string(key, value))
    }

    fn string(&self, key: &str) -> &str {
        self.strings.iter().find(|(other, _)| *other == key).map_or("", |(_, value)| value)
    }

    /// As objdump shows it.
    fn listed(&self) -> [String; 4] {
        // An older release does not know the number that is written since.
        let unknown = self.producer.0 == OffloadKind::Hip && judging_llvm() < RENUMBERED;
        let producer = if unknown { "none" } else { self.producer.1 };
        [self.kind.2, self.string("arch"), self.string("triple"), producer].map(str::to_string)
    }
}

struct Llvm {
    packager: PathBuf,
    objdump: PathBuf,
    dir: tempfile::TempDir,
}

impl Llvm {
    fn find() -> Option<Llvm> {
        let release = judging_llvm();
        // It got another name.
        let packager = if release < 22 { "clang-offload-packager" } else { "llvm-offload-binary" };
        let packager = offload_tests::require(&format!("{packager}-{release}"))?;
        let objdump = offload_tests::require(&format!("llvm-objdump-{release}"))?;
        // objdump writes what it finds into the current directory: never the checkout.
        Some(Llvm { packager, objdump, dir: tempfile::tempdir().unwrap() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, program: &Path, args: &[String]) -> Output {
        let output = Command::new(program).args(args).current_dir(self.dir.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn pack(&self, images: &[Image]) -> Vec<u8> {
        let mut args = vec!["-o".to_string(), "theirs".to_string()];
        for (index, image) in images.iter().enumerate() {
            let file = format!("in{index}.{}", image.kind.1);
            fs::write(self.path(&file), &image.bytes).unwrap();
            let strings: String =
                image.strings.iter().map(|(key, value)| format!(",{key}={value}")).collect();
            args.push(format!("--image=file={file},kind={}{strings}", image.producer.1));
        }
        self.run(&self.packager, &args);
        fs::read(self.path("theirs")).unwrap()
    }

    fn extract(&self, file: &str, count: usize) -> Vec<Vec<u8>> {
        let mut args = vec![file.to_string()];
        args.extend((0..count).map(|index| format!("--image=file=out{index},id={index}")));
        self.run(&self.packager, &args);
        (0..count)
            .map(|index| {
                let path = self.path(&format!("out{index}"));
                let bytes = fs::read(&path).unwrap();
                fs::remove_file(path).unwrap();
                bytes
            })
            .collect()
    }

    /// Kind, arch, triple and producer of each image.
    fn list(&self, file: &str) -> Vec<[String; 4]> {
        let output = self.run(&self.objdump, &["--offloading".to_string(), file.to_string()]);
        let text = String::from_utf8(output.stdout).unwrap();
        let parts = text.split("OFFLOADING IMAGE").skip(1);
        parts.map(|part| ["kind", "arch", "triple", "producer"].map(|name| field(part, name))).collect()
    }
}

fn field(part: &str, name: &str) -> String {
    let line = part.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
    line.strip_prefix(name).unwrap().trim().to_string()
}

fn sets() -> u64 {
    std::env::var("OFFLOAD_INTEROP_SETS").map_or(SETS, |sets| sets.parse().unwrap())
}

fn same(read: &OffloadEntry<'_>, image: &Image) {
    assert_eq!(ImageKind::from_u16(read.image_kind), image.kind.0);
    assert!(read.image == image.bytes, "the bytes differ");
    for (key, value) in &image.strings {
        assert_eq!(read.text(key), Some(value.as_str()), "{key}");
    }
    assert_eq!(read.strings().count(), image.strings.len());
}

#[test]
fn llvm_reads_ours_and_we_read_llvm_s() {
    let Some(llvm) = Llvm::find() else { return };
    let mut images_read = 0u64;
    let mut bytes_read = 0u64;
    for seed in 0..sets() {
        let mut random = Random::new(seed);
        let count = random.index(21);
        let images: Vec<Image> = (0..count).map(|index| Image::random(&mut random, index)).collect();
        let entries: Vec<NewEntry<'_>> = images.iter().map(Image::entry).collect();

        let ours = write(&entries, Version::V1).unwrap();
        if count == 0 {
            // LLVM's tools take an empty file for no file of any kind.
            assert!(ours.is_empty() && parse(&ours, &Limits::default()).unwrap().is_empty());
            continue;
        }
        fs::write(llvm.path("ours"), &ours).unwrap();
        let extracted = llvm.extract("ours", count);
        assert!(extracted.iter().eq(images.iter().map(|image| &image.bytes)), "set {seed}");
        let listed: Vec<_> = images.iter().map(Image::listed).collect();
        assert_eq!(llvm.list("ours"), listed, "set {seed}");

        let theirs = llvm.pack(&images);
        let binaries = parse(&theirs, &Limits::default()).unwrap();
        let read: Vec<OffloadEntry<'_>> = binaries.iter().flat_map(Binary::entries).collect();
        assert_eq!(read.len(), count, "set {seed}");
        for (read, image) in read.iter().zip(&images) {
            same(read, image);
            let old = read.offload_kind.before_llvm_21();
            let new = read.offload_kind.since_llvm_21();
            assert_eq!(if judging_llvm() < RENUMBERED { old } else { new }, image.producer.0);
            if image.producer.0 == OffloadKind::Hip && image.string("triple").starts_with("amdgcn") {
                assert_eq!(read.offload_kind.for_triple(read.text("triple")), OffloadKind::Hip);
            }
        }

        // Version 2, which LLVM 22 does not read, is read as version 1 is.
        let second = write(&entries, Version::V2).unwrap();
        let binaries = parse(&second, &Limits::default()).unwrap();
        assert_eq!(binaries[0].entries().count(), count);
        for (read, image) in binaries[0].entries().zip(&images) {
            same(&read, image);
            assert_eq!(read.offload_kind.since_llvm_21(), image.producer.0);
        }
        images_read += count as u64;
        bytes_read += images.iter().map(|image| image.bytes.len() as u64).sum::<u64>();
    }
    println!("LLVM {}: {} sets, {images_read} images, {bytes_read} bytes", judging_llvm(), sets());
    assert!(images_read >= sets() * 5, "{images_read} images are too few");
}

/// The judge can tell right from wrong.
#[test]
fn llvm_refuses_a_damaged_file() {
    let Some(llvm) = Llvm::find() else { return };
    let image = Image::random(&mut Random::new(1), 0);
    let mut file = write(&[image.entry()], Version::V1).unwrap();
    file[4] = 9;
    fs::write(llvm.path("bad"), &file).unwrap();
    let output = Command::new(&llvm.objdump)
        .args(["--offloading", "bad"])
        .current_dir(llvm.dir.path())
        .output()
        .unwrap();
    assert!(
        !output.status.success() || !String::from_utf8_lossy(&output.stdout).contains("OFFLOADING IMAGE")
    );
}
