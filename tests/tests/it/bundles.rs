//! LLVM's readers and writers of offload bundles, compressed or not, judge ours; so does ocloc for its archives.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, random::Random};
use offload_containers::bundle::{self, BundleId, BundleImage};
use offload_containers::ccob::{self, Container, Version};
use offload_containers::ocloc::OclocImage;
use offload_containers::{carrier, ocloc};
use offload_format::{AmdArch, Limits};
use offload_tests::judging_llvm;

/// How many sets LLVM reads; `cargo xtask interop` raises it.
const SETS: u64 = 20;
const SETS_VAR: &str = "OFFLOAD_INTEROP_SETS";

/// The release of LLVM that writes and reads version 3 of compressed bundles.
const CCOB_V3: u32 = 22;

/// Processors that are unknown to the bundler of LLVM 19, which then takes their names for a part of the triple.
const SINCE_LLVM_20: [&str; 4] = ["gfx950", "gfx1153", "gfx1250", "gfx1251"];

/// Images by id, in the order of the bundle.
type Set = Vec<(String, Vec<u8>)>;

fn any_image(random: &mut Random) -> Vec<u8> {
    let size = random.choose(&[0, 1, 7, 4096, 65_537, 1 << 20]).min(1 + random.below(1 << 20));
    let period = 1 + random.below(5000);
    // Some images compress well, others not at all.
    (0..size).map(|at| if period < 2000 { (at % period) as u8 } else { random.below(256) as u8 }).collect()
}

fn any_set(random: &mut Random) -> Set {
    let count = random.index(21);
    let host = (BundleId::HOST.to_string(), Vec::new());
    let processors = AmdArch::known().filter(is_known).take(count);
    let images = processors.map(|arch| (BundleId::hip(arch.processor()).to_string(), any_image(random)));
    std::iter::once(host).chain(images).collect()
}

fn is_known(arch: &AmdArch) -> bool {
    judging_llvm() >= 20 || !SINCE_LLVM_20.contains(&arch.processor())
}

fn bundle_of(set: &Set, random: &mut Random) -> Vec<u8> {
    let images: Vec<BundleImage<'_>> = set.iter().map(|(id, bytes)| BundleImage { id, bytes }).collect();
    bundle::write(&images, random.choose(&[1, 8, 64, bundle::HIP_ALIGN])).unwrap()
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
    let release = judging_llvm();
    let folder = format!("/usr/lib/llvm-{release}/bin/");
    let found = ["", &folder].into_iter().find_map(|dir| {
        let names = [format!("{tool}-{release}"), tool.to_string()];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs: Vec<PathBuf> =
            if dir.is_empty() { std::env::split_paths(&path).collect() } else { vec![dir.into()] };
        names.iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name))).find(|file| file.is_file())
    });
    found.or_else(|| offload_tests::skip(&format!("{tool} of LLVM {release} is not installed")))
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// What `llvm-objdump --offloading` extracts from `file` in the section of a HIP program.
fn extracted(dir: &Path, file: &[u8]) -> Option<Set> {
    let objcopy = llvm("llvm-objcopy")?;
    let objdump = llvm("llvm-objdump")?;
    let clang = llvm("clang")?;
    fs::write(dir.join("bundle"), file).unwrap();
    fs::write(dir.join("host.c"), "int host;\n").unwrap();
    run(Command::new(clang).args(["-c", "host.c", "-o", "host.o"]).current_dir(dir));
    let section = ["--add-section=.hip_fatbin=bundle", "host.o", "out"];
    run(Command::new(objcopy).args(section).current_dir(dir));
    let text = run(Command::new(objdump).args(["--offloading", "out"]).current_dir(dir));
    let names = text.lines().filter_map(|line| line.strip_prefix("Extracting offload bundle: "));
    let mut set = Set::new();
    for name in names {
        let id = name.splitn(3, '.').nth(2).unwrap().to_string();
        set.push((id, fs::read(dir.join(name)).unwrap()));
    }
    Some(set)
}

fn shape(set: &Set) -> Vec<(String, usize)> {
    set.iter().map(|(id, bytes)| (id.clone(), bytes.len())).collect()
}

#[test]
fn llvm_extracts_what_we_write() {
    // An older objdump does not look into the section.
    if judging_llvm() < CCOB_V3 {
        return;
    }
    let mut images = 0;
    for seed in 0..sets() {
        let mut random = Random::new(seed);
        let set = any_set(&mut random);
        let file = bundle_of(&set, &mut random);
        assert!(read(&file) == set, "set {seed}");
        for version in [Version::V2, Version::V3] {
            assert!(read(&ccob::write(&file, version, 3).unwrap()) == set, "set {seed}, {version:?}");
        }
        // Of compressed bundles this tool takes the bytes at the right offsets of the compressed file (22.1.8).
        let dir = tempfile::tempdir().unwrap();
        let Some(found) = extracted(dir.path(), &file) else { return };
        images += found.len();
        assert_eq!(shape(&found), shape(&set), "set {seed}");
        assert!(found == set, "set {seed}: other bytes");
    }
    println!("LLVM {}: {} sets, {images} images extracted", judging_llvm(), sets());
}

/// The bundler itself, where it is installed; `cargo xtask interop` installs it.
fn bundler() -> Option<PathBuf> {
    let wanted = std::env::var_os(SETS_VAR).is_some();
    let name = format!("clang-offload-bundler-{}", judging_llvm());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|dir| dir.join(&name).is_file());
    let found =
        (wanted || there).then(|| llvm("clang-offload-bundler").expect("the bundler is installed"))?;
    // It looks for llvm-objcopy beside itself: a link in /usr/bin has none.
    Some(fs::canonicalize(found).unwrap())
}

#[test]
fn the_bundler_reads_and_writes_the_same() {
    let Some(bundler) = bundler() else { return };
    // Uncompressed, version 2 and version 3.
    let known = if judging_llvm() < CCOB_V3 { 2 } else { 3 };
    let mut files = 0;
    let mut images = 0;
    for seed in 0..sets() {
        let mut random = Random::new(seed);
        let mut set = any_set(&mut random);
        // It makes no bundle of the host alone.
        if set.len() == 1 {
            set.push((BundleId::hip("gfx900").to_string(), any_image(&mut random)));
        }
        let dir = tempfile::tempdir().unwrap();
        let plain = bundle_of(&set, &mut random);
        let second = ccob::write(&plain, Version::V2, 3).unwrap();
        let third = ccob::write(&plain, Version::V3, 3).unwrap();
        for file in [&plain, &second, &third].into_iter().take(known) {
            fs::write(dir.path().join("ours"), file).unwrap();
            assert!(unbundled(&bundler, dir.path(), &set) == set, "set {seed}: the bundler reads ours");
        }
        for version in ["", "2", "3"].into_iter().take(known) {
            let theirs = bundled(&bundler, (dir.path(), version), (&set, &mut random));
            assert!(read(&theirs) == set, "set {seed}: we read the bundler's, version {version:?}");
            files += 1;
        }
        images += set.len();
    }
    println!("LLVM {}: {} sets, {images} images bundled, {files} files each way", judging_llvm(), sets());
}

/// An object of the bundler has a section for each target.
#[test]
fn images_in_objects_of_the_bundler_are_found() {
    // An older bundler needs llvm-objcopy beside it, and writes the same.
    let Some(bundler) = bundler().filter(|_| judging_llvm() >= CCOB_V3) else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = support::root().join("tests/data");
    let code = ["saxpy-reduce-gfx90a.co", "device-gfx1100.co"].map(|name| data.join(name));
    let host = data.join("carrier/elf.o");
    let ids = ["hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx1100"];
    let mut command = Command::new(bundler);
    command.args(["-type=o", "-output=fat.o"]).arg(format!("-targets={},{}", BundleId::HOST, ids.join(",")));
    for file in std::iter::once(&host).chain(&code) {
        command.arg(format!("-input={}", file.display()));
    }
    run(command.current_dir(dir.path()));
    let file = fs::read(dir.path().join("fat.o")).unwrap();
    let found = carrier::find(&file, &Limits::default()).unwrap();
    for (id, code) in ids.iter().zip(&code) {
        let section = format!("__CLANG_OFFLOAD_BUNDLE__{id}");
        let image = found.iter().find(|it| it.origin == carrier::RangeOrigin::Section(section.as_bytes()));
        let image = image.unwrap_or_else(|| panic!("{section} is not among {found:?}"));
        assert_eq!(image.kind, Some(carrier::FileKind::AmdCodeObject));
        assert!(image.bytes == fs::read(code).unwrap());
    }
}

/// The bundler of LLVM 19 takes the environment twice if a `-` follows it.
fn targets(ids: &[&str]) -> String {
    let ids: Vec<&str> = ids.iter().map(|id| id.trim_end_matches('-')).collect();
    format!("-targets={}", ids.join(","))
}

fn unbundled(bundler: &Path, dir: &Path, set: &Set) -> Set {
    let listed = run(Command::new(bundler).args(["-type=bc", "-input=ours", "-list"]).current_dir(dir));
    let ids: Vec<&str> = set.iter().map(|(id, _)| id.as_str()).collect();
    // The list is in the order of a hash map.
    assert_eq!(listed.lines().collect::<BTreeSet<_>>(), ids.iter().copied().collect());
    assert_eq!(listed.lines().count(), ids.len());
    let mut command = Command::new(bundler);
    command.args(["-type=bc", "-input=ours", "-unbundle"]).arg(targets(&ids));
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
    command.args(["-type=bc", "-output=theirs"]).arg(targets(&ids));
    command.arg(format!("-bundle-align={}", random.choose(&[1, 64, 4096])));
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

fn members(file: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let archive = ocloc::parse(file, &Limits::default()).unwrap();
    archive.members.iter().map(|member| (member.name.to_string(), member.data.to_vec())).collect()
}

#[test]
fn ocloc_joins_what_we_write_with_its_own() {
    let Some(ocloc_program) = offload_tests::require("ocloc") else { return };
    let dir = tempfile::tempdir().unwrap();
    let spirv = fs::read(support::root().join("tests/data/saxpy-reduce.spv")).unwrap();
    fs::write(dir.path().join("k.spv"), &spirv).unwrap();
    let args =
        ["compile", "-spirv_input", "-file", "k.spv", "-device", "pvc,dg1,acm-g10", "-output", "theirs"];
    run(Command::new(&ocloc_program).args(args).current_dir(dir.path()));
    let theirs = fs::read(dir.path().join("theirs")).unwrap();
    let archive = ocloc::parse(&theirs, &Limits::default()).unwrap();
    assert_eq!(archive.spirv().unwrap(), Some(&spirv[..]));
    let images: Vec<_> = (archive.members.iter())
        .filter_map(|member| match member.kind() {
            ocloc::MemberKind::Device(device) => Some(OclocImage { device, bytes: member.data }),
            _ => None,
        })
        .collect();
    assert_eq!(images.len(), 3);
    assert!(ocloc::write(&images, Some(&spirv)).unwrap() == theirs, "the archive differs from ocloc's");
    // ocloc reads ours: it joins archives member by member.
    fs::write(dir.path().join("one"), ocloc::write(&images[..1], None).unwrap()).unwrap();
    fs::write(dir.path().join("two"), ocloc::write(&images[1..], Some(&spirv)).unwrap()).unwrap();
    let args = ["concat", "one", "two", "-out", "joined"];
    run(Command::new(&ocloc_program).args(args).current_dir(dir.path()));
    let joined = fs::read(dir.path().join("joined")).unwrap();
    assert!(members(&joined) == members(&theirs));
}
