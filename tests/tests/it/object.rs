//! The object that goes into the link: our own writer and the C compiler make the same of it, for each machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, Project};
use object::read::archive::ArchiveFile;
use object::read::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
use offload_format::pack::{Pack, Pages};
use offload_format::section::{Descriptor, TABLE_SECTION};

/// The build script of `project`, as cargo would start it for a program of this target.
fn build_script(project: &Project, out: &Path, arch: &str, os: &str) -> Command {
    let mut command = Command::new(project.build_script());
    command
        .current_dir(project.path(""))
        .env("CARGO_MANIFEST_DIR", project.path(""))
        .env("OUT_DIR", out)
        .env("OFFLOAD_CACHE_DIR", project.path("cache"))
        .env("OFFLOAD_TARGETS", "opencl-c,spirv64")
        .env("CARGO_ENCODED_RUSTFLAGS", "")
        .env("TARGET", format!("{arch}-unknown-{os}-gnu"))
        .env("HOST", "x86_64-unknown-linux-gnu")
        .env("CARGO_PKG_NAME", "two-files")
        .env("CARGO_PKG_VERSION", "0.1.0")
        .env("CARGO_CFG_TARGET_ARCH", arch)
        .env("CARGO_CFG_TARGET_OS", os)
        .env("PROFILE", "release")
        .env("OPT_LEVEL", "3")
        .env("DEBUG", "false")
        .env_remove("OFFLOAD_CONFIG")
        .env_remove("CLIPPY_ARGS");
    command
}

/// Runs the build script for `arch` and returns the object in its archive, and the archive.
fn build(arch: &str, writer: &str) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let project = Project::new("two-files");
    let out = tempfile::tempdir().unwrap();
    let output = build_script(&project, out.path(), arch, "linux")
        .env("OFFLOAD_OBJECT", writer)
        .env("CC_aarch64_unknown_linux_gnu", "clang-22")
        .env("AR_aarch64_unknown_linux_gnu", "llvm-ar-22")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("cargo::rustc-link-lib=static:-bundle,+whole-archive="));
    let path = out.path().join(format!("lib{}.a", name.unwrap()));
    let bytes = std::fs::read(&path).unwrap();
    let archive = ArchiveFile::parse(bytes.as_slice()).unwrap();
    let member = archive.members().map(Result::unwrap).find(|member| member.name().ends_with(b".o")).unwrap();
    let object = member.data(bytes.as_slice()).unwrap().to_vec();
    (out, path, object)
}

/// A section's bytes, and where its relocations point.
type Section = (Vec<u8>, Vec<(u64, String)>);

/// What matters of an object: its sections by name.
fn meaning(object: &[u8]) -> BTreeMap<String, Section> {
    let file = object::File::parse(object).unwrap();
    file.sections()
        .filter(|section| {
            section.name().unwrap().contains("offload") && !section.name().unwrap().starts_with(".rela")
        })
        .map(|section| {
            let relocations = section.relocations().map(|(at, relocation)| {
                assert_eq!(relocation.addend(), 0);
                (at, format!("{} {:?}", place_of(&file, relocation.target()), relocation.flags()))
            });
            (section.name().unwrap().to_string(), (section.data().unwrap().to_vec(), relocations.collect()))
        })
        .collect()
}

/// The place that a relocation is of.
fn place_of(file: &object::File<'_>, target: RelocationTarget) -> String {
    let RelocationTarget::Symbol(index) = target else { panic!("{target:?}") };
    let symbol = file.symbol_by_index(index).unwrap();
    match symbol.section_index() {
        // Different symbols at the start of one section are the same place.
        Some(section) => {
            format!("{}+{}", file.section_by_index(section).unwrap().name().unwrap(), symbol.address())
        }
        None => symbol.name().unwrap().to_string(),
    }
}

/// Links the archive into a shared library with nothing else and follows the addresses as a reader would.
fn link_and_read(archive: &Path, emulation: &str) {
    let library = archive.with_extension("so");
    let status = Command::new("ld.lld-22")
        .args(["-m", emulation, "-shared", "--gc-sections", "--whole-archive"])
        .arg(archive)
        .arg("-o")
        .arg(&library)
        .status()
        .unwrap();
    assert!(status.success());
    let bytes = std::fs::read(&library).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    assert_eq!(file.dynamic_relocations().map_or(0, Iterator::count), 0, "the loader has nothing to do");
    let table = file.section_by_name(TABLE_SECTION).unwrap();
    let parsed = Descriptor::parse(table.data().unwrap()).unwrap();
    assert_eq!(parsed.size, table.size());
    let address = table.address().wrapping_add(16).wrapping_add_signed(parsed.descriptor.unwrap().pack);
    let section = file.sections().find(|s| (s.address()..s.address() + s.size()).contains(&address)).unwrap();
    let pack = &section.data().unwrap()[(address - section.address()) as usize..];
    let pages = Pages::default();
    let pack = Pack::parse(pack, &pages).unwrap();
    pack.verify_index().unwrap();
    assert_eq!(pack.images().count(), 2);
    for image in pack.images() {
        offload_format::codec::decode(&pack, &image.unwrap()).unwrap();
    }
}

#[test]
fn both_writers_mean_the_same_for_each_machine() {
    for (arch, emulation) in [("x86_64", "elf_x86_64"), ("aarch64", "aarch64linux")] {
        let (_own_dir, own_archive, own) = build(arch, "");
        let (_cc_dir, cc_archive, cc) = build(arch, "cc");
        assert_ne!(own, cc, "the second must come from the C compiler");
        assert_eq!(meaning(&own), meaning(&cc), "{arch}");
        assert_eq!(meaning(&own).len(), 3, "{arch}");
        link_and_read(&own_archive, emulation);
        link_and_read(&cc_archive, emulation);
    }
}

#[test]
fn programs_for_other_systems_have_no_images_and_the_reason() {
    let project = Project::with_fake_tools("two-files");
    project.program();
    project.calls();
    for os in ["windows", "macos", "freebsd"] {
        let out = tempfile::tempdir().unwrap();
        let output = build_script(&project, out.path(), "x86_64", os).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        let reason = format!("kernels cannot be embedded in programs for x86_64-unknown-{os}-gnu yet");
        assert!(text.contains(&format!("cargo::warning={reason}: no image of `two`\n")), "{text}");
        assert!(!text.contains("rustc-link"), "{text}");
        let bytes = std::fs::read(out.path().join("offload_two.pack")).unwrap();
        let pages = Pages::default();
        let pack = Pack::parse(&bytes, &pages).unwrap();
        let missing: Vec<_> = pack.missing().map(Result::unwrap).collect();
        assert_eq!(
            missing.iter().map(|one| (one.module, one.reason)).collect::<Vec<_>>(),
            [("two", &*reason)]
        );
        let bindings = std::fs::read_to_string(out.path().join("two.kernels.rs")).unwrap();
        assert!(bindings.contains("included_kernel_module!(\"two\", include_bytes!("), "{bindings}");
    }
    assert_eq!(project.calls(), Vec::<String>::new(), "no compiler runs");
}

#[test]
fn the_same_sources_give_the_same_archive_anywhere() {
    let (_a, one_path, _) = build("x86_64", "");
    let (_b, other_path, _) = build("x86_64", "");
    assert_eq!(one_path.file_name(), other_path.file_name());
    let bytes = std::fs::read(one_path).unwrap();
    assert_eq!(bytes, std::fs::read(other_path).unwrap());
    let text = String::from_utf8_lossy(&bytes);
    for path in [std::env::temp_dir().display().to_string(), support::root().display().to_string()] {
        assert!(!text.contains(&path), "{path} is in the archive");
    }
}
