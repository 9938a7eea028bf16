//! LLVM's readers and writers of offload bundles, compressed or not, judge ours; so does ocloc for its archives.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offload_format::bundle::{self, BundleId, Image};
use offload_format::ccob::{self, Container, Version};
use offload_format::{AmdArch, Limits, ocloc};

/// How many sets LLVM reads; `cargo xtask interop` raises it.
const SETS: u64 = 60;
const SETS_VAR: &str = "OFFLOAD_INTEROP_SETS";

/// Images by id, in the order of the bundle.
type Set = Vec<(String, Vec<u8>)>;

/// A linear congruential generator: the same sets each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn image(&mut self) -> Vec<u8> {
        let size = [0, 1, 7, 4096, 65_537, 1 << 20][self.below(6) as usize].min(1 + self.below(1 << 20));
        let period = 1 + self.below(5000);
        // Some images compress well, others not at all.
        (0..size).map(|at| if period < 2000 { (at % period) as u8 } else { self.below(256) as u8 }).collect()
    }

    fn set(&mut self) -> Set {
        let count = self.below(21) as usize;
        let host = (BundleId::HOST.to_string(), Vec::new());
        let processors = AmdArch::known().take(count);
        let images = processors.map(|arch| (BundleId::hip(arch.processor()).to_string(), self.image()));
        std::iter::once(host).chain(images).collect()
    }
}

fn bundle_of(set: &Set, random: &mut Random) -> Vec<u8> {
    let images: Vec<Image<'_>> = set.iter().map(|(id, bytes)| Image { id, bytes }).collect();
    bundle::write(&images, [1, 8, 64, bundle::HIP_ALIGN][random.below(4) as usize]).unwrap()
}

fn read(file: &[u8]) -> Set {
    let limits = Limits::default();
    let mut set = Set::new();
    for container in ccob::containers(file, &limits) {
        let inflated;
        let bundle = match container.unwrap().1 {
            Container::Bundle(bundle) => bundle,
            Container::Compressed(ccob) => {
                inflated = ccob.inflate(&limits).unwrap();
                bundle::parse(&inflated, &limits).unwrap()
            }
            other => panic!("{other:?}"),
        };
        set.extend(bundle.entries.iter().map(|entry| (entry.id.to_string(), entry.image.to_vec())));
    }
    set
}

fn sets() -> u64 {
    std::env::var(SETS_VAR).map_or(SETS, |text| text.parse().expect("a number of sets"))
}

fn llvm(tool: &str) -> Option<PathBuf> {
    let found = ["", "/usr/lib/llvm-22/bin/"].into_iter().find_map(|dir| {
        let names = [format!("{tool}-22"), tool.to_string()];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs: Vec<PathBuf> =
            if dir.is_empty() { std::env::split_paths(&path).collect() } else { vec![dir.into()] };
        names.iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name))).find(|file| file.is_file())
    });
    found.or_else(|| offload_tests::skip(&format!("{tool} of LLVM 22 is not installed")))
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// What `llvm-objdump --offloading` extracts from `file` in the section of a HIP program.
fn extracted(dir: &Path, file: &[u8]) -> Option<Set> {
    let (objcopy, objdump, clang) = (llvm("llvm-objcopy")?, llvm("llvm-objdump")?, llvm("clang")?);
    fs::write(dir.join("bundle"), file).unwrap();
    fs::write(dir.join("host.c"), "int host;\n").unwrap();
    run(Command::new(clang).args(["-c", "host.c", "-o", "host.o"]).current_dir(dir));
    let section = ["--add-section=.hip_fatbin=bundle", "host.o", "out"];
    run(Command::new(objcopy).args(section).current_dir(dir));
    let text = run(Command::new(objdump).args(["--offloading", "out"]).current_dir(dir));
    let names = text.lines().filter_map(|line| line.strip_prefix("Extracting offload bundle: "));
    let id = |name: &str| name.splitn(3, '.').nth(2).unwrap().to_string();
    Some(names.map(|name| (id(name), fs::read(dir.join(name)).unwrap())).collect())
}

#[test]
fn llvm_extracts_what_we_write() {
    let mut images = 0;
    for seed in 0..sets() {
        let mut random = Random(seed);
        let set = random.set();
        let file = bundle_of(&set, &mut random);
        assert!(read(&file) == set, "set {seed}");
        for version in [Version::V2, Version::V3] {
            assert!(read(&ccob::write(&file, version, 3).unwrap()) == set, "set {seed}, {version:?}");
        }
        // Of compressed bundles this tool takes the bytes at the right offsets of the compressed file (22.1.8).
        let dir = tempfile::tempdir().unwrap();
        let Some(found) = extracted(dir.path(), &file) else { return };
        images += found.len();
        let shape = |set: &Set| set.iter().map(|(id, bytes)| (id.clone(), bytes.len())).collect::<Vec<_>>();
        assert_eq!(shape(&found), shape(&set), "set {seed}");
        assert!(found == set, "set {seed}: other bytes");
    }
    println!("{} sets, {images} images", sets());
}

/// The bundler itself, where it is installed; `cargo xtask interop` installs it.
#[test]
fn the_bundler_reads_and_writes_the_same() {
    let wanted = std::env::var_os(SETS_VAR).is_some();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|dir| dir.join("clang-offload-bundler-22").is_file());
    if !wanted && !there {
        return;
    }
    let bundler = llvm("clang-offload-bundler").expect("the bundler is installed");
    for seed in 0..sets() {
        let mut random = Random(seed);
        let mut set = random.set();
        // It makes no bundle of the host alone.
        if set.len() == 1 {
            set.push((BundleId::hip("gfx900").to_string(), random.image()));
        }
        let dir = tempfile::tempdir().unwrap();
        let plain = bundle_of(&set, &mut random);
        let compressed = |version| ccob::write(&plain, version, 3).unwrap();
        for file in [compressed(Version::V2), compressed(Version::V3), plain.clone()] {
            fs::write(dir.path().join("ours"), &file).unwrap();
            assert!(unbundled(&bundler, dir.path(), &set) == set, "set {seed}: the bundler reads ours");
        }
        for version in ["", "2", "3"] {
            let theirs = bundled(&bundler, (dir.path(), version), (&set, &mut random));
            assert!(read(&theirs) == set, "set {seed}: we read the bundler's, version {version:?}");
        }
    }
}

fn unbundled(bundler: &Path, dir: &Path, set: &Set) -> Set {
    let listed = run(Command::new(bundler).args(["-type=bc", "-input=ours", "-list"]).current_dir(dir));
    let ids: Vec<&str> = set.iter().map(|(id, _)| id.as_str()).collect();
    // The list is in the order of a hash map.
    assert_eq!(listed.lines().collect::<BTreeSet<_>>(), ids.iter().copied().collect());
    assert_eq!(listed.lines().count(), ids.len());
    let mut command = Command::new(bundler);
    command.args(["-type=bc", "-input=ours", "-unbundle"]).arg(format!("-targets={}", ids.join(",")));
    for number in 0..set.len() {
        command.arg(format!("-output=out{number}"));
    }
    run(command.current_dir(dir));
    (0..)
        .zip(set)
        .map(|(number, (id, _))| (id.clone(), fs::read(dir.join(format!("out{number}"))).unwrap()))
        .collect()
}

fn bundled(bundler: &Path, (dir, version): (&Path, &str), (set, random): (&Set, &mut Random)) -> Vec<u8> {
    let ids: Vec<&str> = set.iter().map(|(id, _)| id.as_str()).collect();
    let mut command = Command::new(bundler);
    command.args(["-type=bc", "-output=theirs"]).arg(format!("-targets={}", ids.join(",")));
    command.arg(format!("-bundle-align={}", [1, 64, 4096][random.below(3) as usize]));
    if !version.is_empty() {
        command.arg("-compress").env("COMPRESSED_BUNDLE_FORMAT_VERSION", version);
    }
    for (number, (_, image)) in set.iter().enumerate() {
        fs::write(dir.join(format!("in{number}")), image).unwrap();
        command.arg(format!("-input=in{number}"));
    }
    run(command.current_dir(dir));
    fs::read(dir.join("theirs")).unwrap()
}

#[test]
fn ocloc_joins_what_we_write_with_its_own() {
    let Some(ocloc_program) = offload_tests::require("ocloc") else { return };
    let dir = tempfile::tempdir().unwrap();
    let ocloc = |args: &[&str]| run(Command::new(&ocloc_program).args(args).current_dir(dir.path()));
    let spirv = fs::read(support::root().join("offload-format/tests/data/saxpy-reduce.spv")).unwrap();
    fs::write(dir.path().join("k.spv"), &spirv).unwrap();
    ocloc(&["compile", "-spirv_input", "-file", "k.spv", "-device", "pvc,dg1,acm-g10", "-output", "theirs"]);
    let theirs = fs::read(dir.path().join("theirs")).unwrap();
    let archive = ocloc::parse(&theirs, &Limits::default()).unwrap();
    assert_eq!(archive.spirv().unwrap(), Some(&spirv[..]));
    let images: Vec<_> = (archive.members.iter())
        .filter_map(|member| match member.kind() {
            ocloc::MemberKind::Device(device) => Some((device, member.data)),
            _ => None,
        })
        .collect();
    assert_eq!(images.len(), 3);
    assert!(ocloc::write(&images, Some(&spirv)).unwrap() == theirs, "the archive differs from ocloc's");
    // ocloc reads ours: it joins archives member by member.
    fs::write(dir.path().join("one"), ocloc::write(&images[..1], None).unwrap()).unwrap();
    fs::write(dir.path().join("two"), ocloc::write(&images[1..], Some(&spirv)).unwrap()).unwrap();
    ocloc(&["concat", "one", "two", "-out", "joined"]);
    let joined = fs::read(dir.path().join("joined")).unwrap();
    let members = |file| -> BTreeMap<String, Vec<u8>> {
        let archive = ocloc::parse(file, &Limits::default()).unwrap();
        archive.members.iter().map(|member| (member.name.to_string(), member.data.to_vec())).collect()
    };
    assert!(members(&joined) == members(&theirs));
}
