//! The object that goes into the link: our own writer and the C compiler make the same of it, for each machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, Project};
use object::Endianness;
use object::read::archive::ArchiveFile;
use object::read::macho::MachOFile64;
use object::read::pe::PeFile64;
use object::read::{NameOrOrdinal, Object, ObjectSection, ObjectSymbol, RelocationTarget};
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

/// Systems, architectures, address widths and byte orders of programs for which no object is written.
const WITHOUT_OBJECTS: [[&str; 4]; 6] = [
    ["windows", "x86_64", "64", "little"],
    ["macos", "aarch64", "64", "little"],
    ["freebsd", "x86_64", "64", "little"],
    ["unknown", "wasm32", "32", "little"],
    ["linux", "x86", "32", "little"],
    ["linux", "s390x", "64", "big"],
];

/// The build script of `project` for one of these.
fn without_objects(project: &Project, out: &Path, [os, arch, width, endian]: [&str; 4]) -> Command {
    let mut command = build_script(project, out, arch, os);
    command.env("CARGO_CFG_TARGET_POINTER_WIDTH", width).env("CARGO_CFG_TARGET_ENDIAN", endian);
    command
}

/// The pack that the build script has written for the generated Rust.
fn included_pack(out: &Path) -> Vec<u8> {
    let bindings = std::fs::read_to_string(out.join("two.kernels.rs")).unwrap();
    assert!(bindings.contains("included_kernel_module!(\"two\", include_bytes!("), "{bindings}");
    assert!(bindings.contains("offload_two.pack"), "{bindings}");
    std::fs::read(out.join("offload_two.pack")).unwrap()
}

#[test]
fn where_no_object_is_written_the_rust_includes_the_pack() {
    let project = Project::new("two-files");
    for system in WITHOUT_OBJECTS {
        let out = tempfile::tempdir().unwrap();
        let output = without_objects(&project, out.path(), system).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains("rustc-link"), "{text}");
        let bytes = included_pack(out.path());
        let pages = Pages::default();
        let pack = Pack::parse(&bytes, &pages).unwrap();
        assert_eq!(pack.images().count(), 2, "{system:?}");
        for image in pack.images() {
            offload_format::codec::decode(&pack, &image.unwrap()).unwrap();
        }
    }
}

#[test]
fn an_image_for_windows_is_a_library_that_exports_its_kernels() {
    let project = Project::new("two-files");
    let out = tempfile::tempdir().unwrap();
    let mut command = without_objects(&project, out.path(), WITHOUT_OBJECTS[0]);
    let output = command.env("OFFLOAD_TARGETS", "host").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = included_pack(out.path());
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    let image = pack.images().next().unwrap().unwrap();
    let library = offload_format::codec::decode(&pack, &image).unwrap();
    let library = PeFile64::parse(&*library).unwrap();
    assert_eq!(library.nt_headers().file_header.time_date_stamp.get(object::LittleEndian), 0);
    let mut exports = Vec::new();
    for export in library.exports().unwrap() {
        let export = export.unwrap();
        let NameOrOrdinal::Name(name) = export.name() else { panic!("{export:?}") };
        exports.push(String::from_utf8(name.to_vec()).unwrap());
    }
    for kernel in pack.kernels(&image) {
        let run = format!("__offload_run_{}", kernel.unwrap().name);
        assert!(exports.contains(&run), "{exports:?}");
    }
    assert!(exports.iter().all(|name| name.starts_with("__offload_")), "{exports:?}");
    for import in library.imports().unwrap() {
        assert_eq!(import.unwrap().library(), b"ucrtbase.dll");
    }
    assert!(library.section_by_name(".pdata").is_some(), "functions can be unwound");
}

#[test]
fn an_image_for_macos_is_a_dynamic_library_that_exports_its_kernels() {
    let project = Project::new("two-files");
    let mut libraries = Vec::new();
    for _ in 0..2 {
        let out = tempfile::tempdir().unwrap();
        let mut command = without_objects(&project, out.path(), ["macos", "x86_64", "64", "little"]);
        let cache = tempfile::tempdir().unwrap();
        command.env("OFFLOAD_TARGETS", "host").env("OFFLOAD_CACHE_DIR", cache.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = included_pack(out.path());
        let pages = Pages::default();
        let pack = Pack::parse(&bytes, &pages).unwrap();
        let image = pack.images().next().unwrap().unwrap();
        let library = offload_format::codec::decode(&pack, &image).unwrap();
        let file = MachOFile64::<Endianness>::parse(library.as_slice()).unwrap();
        let mut exports = Vec::new();
        for export in file.exports().unwrap() {
            let export = export.unwrap();
            let NameOrOrdinal::Name(name) = export.name() else { panic!("{export:?}") };
            exports.push(String::from_utf8(name.to_vec()).unwrap());
        }
        for kernel in pack.kernels(&image) {
            let run = format!("___offload_run_{}", kernel.unwrap().name);
            assert!(exports.contains(&run), "{exports:?}");
        }
        assert!(exports.iter().all(|name| name.starts_with("___offload_")), "{exports:?}");
        for import in file.imports().unwrap() {
            assert_eq!(import.unwrap().library(), b"/usr/lib/libSystem.B.dylib");
        }
        libraries.push(library);
    }
    assert!(libraries[0] == libraries[1], "same input, same bytes");
}

#[test]
fn images_for_the_cpu_are_left_out_where_there_are_none() {
    let project = Project::new("two-files");
    for (system, levels) in [
        (WITHOUT_OBJECTS[2], "host"),
        (WITHOUT_OBJECTS[4], "host"),
        (["linux", "aarch64", "64", "little"], "host:x86-64-v3"),
    ] {
        let out = tempfile::tempdir().unwrap();
        let output = without_objects(&project, out.path(), system)
            .env("OFFLOAD_TARGETS", format!("opencl-c,{levels}"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains(&format!("cargo::warning=no images for `{levels}`: ")), "{text}");
        if system[0] == "linux" && system[2] == "64" {
            continue;
        }
        let bytes = included_pack(out.path());
        let pages = Pages::default();
        let pack = Pack::parse(&bytes, &pages).unwrap();
        let missing: Vec<_> = pack.missing().map(Result::unwrap).collect();
        assert_eq!(missing.iter().map(|one| (one.module, one.target)).collect::<Vec<_>>(), [("two", levels)]);
    }
}

#[test]
fn what_only_objects_can_bring_is_refused_before_a_compiler_runs() {
    let project = Project::with_fake_tools("two-files");
    project.program();
    for (targets, launchers, hint) in [
        ("host", "false", "`cargo offload targets add spirv64`"),
        ("spirv64", "true", "leave `launchers` out"),
    ] {
        let out = tempfile::tempdir().unwrap();
        let mut command = without_objects(&project, out.path(), WITHOUT_OBJECTS[2]);
        project.calls();
        let settings = format!("[modules.two]\nlaunchers = {launchers}\n");
        let file = project.path("offload.toml");
        let earlier = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, settings).unwrap();
        let output = command.env("OFFLOAD_TARGETS", targets).output().unwrap();
        std::fs::write(&file, earlier).unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{text}");
        assert!(text.contains("x86_64-unknown-freebsd-gnu") && text.contains(hint), "{text}");
        assert_eq!(project.calls(), Vec::<String>::new(), "no compiler runs");
    }
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
