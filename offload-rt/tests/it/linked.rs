//! Packs that are linked into this program, and into a plugin.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use offload_format::codec::{self, Codec};
use offload_format::pack::{NewImage, PackBuilder};
use offload_rt::{Device, DeviceDescription, Entry, OpenClDescription, Registry};

std::arch::global_asm!(include_str!("../sample-pack.S"), include_str!("../sample.S"), options(att_syntax));

mod sample {
    offload_rt::kernel_module!("sample", __offload_anchor_sample);
}

/// Tests that load a plugin would see each other's.
static PLUGINS: Mutex<()> = Mutex::new(());

fn pack(module: &str, source: &str) -> Vec<u8> {
    // Uncompressed, so that the bytes are the same with every release of zstd.
    let frame = codec::encode(source.as_bytes(), Codec::Raw, 1).unwrap();
    let mut builder = PackBuilder::new(&format!("{module}-package"), "1.0.0");
    builder.image(NewImage::new(module, "opencl-c".parse().unwrap()), frame.info()).unwrap();
    builder.finish().unwrap().with_frames([&frame]).unwrap()
}

/// The section of a pack.
fn assembly(pack: &[u8]) -> String {
    let lines = pack.chunks(16).map(|line| {
        let bytes: Vec<String> = line.iter().map(u8::to_string).collect();
        format!("    .byte {}\n", bytes.join(", "))
    });
    let body: String = lines.collect();
    let head = "    .pushsection .lrodata.offload, \"al\", @progbits\n    .balign 16\n.Loffload_pack:\n";
    format!("{head}{body}.Loffload_pack_end:\n    .popsection\n")
}

fn plugin(directory: &Path, object: &str) -> PathBuf {
    let source = directory.join("plugin.S");
    let library = directory.join("plugin.so");
    let pack = assembly(&pack("plugged", "plugin source"));
    std::fs::write(&source, format!("{pack}{object}")).unwrap();
    let status = Command::new("cc").args(["-shared", "-nostdlib", "-o"]).args([&library, &source]).status();
    assert!(status.unwrap().success());
    library
}

fn modules(registry: &Registry) -> Vec<&str> {
    registry.entries().iter().map(Entry::module).collect()
}

#[test]
fn the_sample_is_what_a_build_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample-pack.S");
    let made = assembly(&pack("sample", "kernel void f() {}"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == made, "run this test with BLESS=1");
}

#[test]
fn own_images_are_found_by_the_bounds_of_the_table() {
    let registry = Registry::own();
    assert_eq!(modules(&registry), ["sample"]);
    assert_eq!(registry.unreadable(), []);
    let entry = &registry.entries()[0];
    assert_eq!((entry.package(), entry.target_text()), ("sample-package", "opencl-c"));
    assert_eq!(entry.load().unwrap().bytes(), b"kernel void f() {}");
}

#[test]
fn the_generated_module_finds_its_own_pack() {
    let module = sample::module();
    assert_eq!((module.name(), sample::NAME), ("sample", "sample"));
    assert_eq!(module.entries().count(), 1);
    assert!(std::ptr::eq(module, sample::module()), "it is made once");
    let device = DeviceDescription::from(OpenClDescription::new("d", "v").opencl_c());
    let image = module.request().select(&device).unwrap().entry().load().unwrap();
    assert_eq!(image.bytes(), b"kernel void f() {}");
    let error = module.load(&Device::host()).unwrap_err().to_string();
    assert!(error.contains("`sample`") && error.contains("not for the host CPU"), "{error}");
}

#[test]
fn images_of_a_plugin_outlive_it() {
    let _alone = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let path = plugin(directory.path(), include_str!("../sample.S"));
    // SAFETY: the plugin holds no code.
    let library = unsafe { Library::new(path) }.unwrap();
    let registry = Registry::process();
    assert_eq!(registry.unreadable(), []);
    assert_eq!(modules(&registry), ["sample", "plugged"]);
    library.close().unwrap();
    assert_eq!(registry.entries()[1].load().unwrap().bytes(), b"plugin source");
    assert_eq!(modules(&Registry::process()), ["sample"]);
}

/// Set in the process that opens and closes plugins: it has nothing else to do, so that its memory tells.
const CYCLES_VAR: &str = "OFFLOAD_TEST_CYCLES";
const CYCLES: usize = 1000;

/// As a program that loads and closes plugins all day; under valgrind where everything is tried.
#[test]
fn plugins_that_come_and_go_leave_nothing() {
    if std::env::var_os(CYCLES_VAR).is_some() {
        return come_and_go();
    }
    let grown = cycles_under(&[]);
    assert!(grown <= 256 << 10, "{grown} bytes more after {CYCLES} cycles");
    println!("figure: {CYCLES} cycles; {} KiB more", grown >> 10);
    if std::env::var_os("OFFLOAD_TEST_FULL").is_some() {
        cycles_under(&["valgrind", "--quiet", "--error-exitcode=9"]);
        println!("figure: {CYCLES} cycles under valgrind; 0 errors");
    }
}

/// Opens and closes a plugin again and again in a process of its own, under `tool` if there is one; returns how many bytes
/// of memory it has more after the cycles.
fn cycles_under(tool: &[&str]) -> usize {
    let this = std::env::current_exe().unwrap();
    let mut words: Vec<&OsStr> = tool.iter().map(AsRef::as_ref).collect();
    words.push(this.as_os_str());
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args([
        "--exact",
        "linked::plugins_that_come_and_go_leave_nothing",
        "--nocapture",
    ]);
    let output = command.env(CYCLES_VAR, "1").output().unwrap();
    let stdout =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{tool:?}: {stdout}");
    let grown = stdout.lines().find_map(|line| line.split_once("grown: ")).unwrap();
    grown.1.trim().parse().unwrap()
}

fn load_and_close(path: &Path) {
    // SAFETY: the plugin holds no code.
    let library = unsafe { Library::new(path) }.unwrap();
    let registry = Registry::process();
    let image = registry.entries()[1].load().unwrap();
    library.close().unwrap();
    assert_eq!(image.bytes(), b"plugin source");
}

fn come_and_go() {
    let directory = tempfile::tempdir().unwrap();
    let path = plugin(directory.path(), include_str!("../sample.S"));
    for _ in 0..100 {
        load_and_close(&path);
    }
    let before = resident();
    for _ in 0..CYCLES {
        load_and_close(&path);
    }
    println!("\ngrown: {}", resident().saturating_sub(before));
}

/// The memory of this process, in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn descriptors_that_lead_astray_are_skipped() {
    let _alone = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let sample = include_str!("../sample.S");
    let cases = [
        (".quad __offload_anchor_sample - .", ".quad 0x7fffffffffffffff", "leads to no descriptor"),
        (".quad .Loffload_pack - .", ".quad -0x8000000000000000", "outside its module's memory"),
        (".quad .Loffload_pack - .", ".quad 0x100000000", "outside its module's memory"),
        (".quad .Loffload_pack_end - .Loffload_pack", ".quad -1", "outside its module's memory"),
        (".quad .Loffload_pack - .", ".quad .Loffload_pack - . - 8", "not an offload pack"),
        (".short 1, 0", ".short 2, 0", "version of a later release"),
        (".long 64", ".long 0x7ffffff8", "ends outside its module's memory"),
    ];
    for (right, wrong, reason) in cases {
        assert!(sample.contains(right));
        let directory = tempfile::tempdir().unwrap();
        // Without the fallback from the ELF header, which would repair the first case.
        let object = sample.replace(right, wrong).replace(".quad __ehdr_start - .", ".quad 1");
        // SAFETY: the plugin holds no code.
        let library = unsafe { Library::new(plugin(directory.path(), &object)) }.unwrap();
        let registry = Registry::process();
        assert_eq!(modules(&registry), ["sample"], "{wrong}");
        let skipped: Vec<String> = registry.unreadable().iter().map(ToString::to_string).collect();
        assert!(matches!(skipped.as_slice(), [one] if one.contains(reason)), "{wrong}: {skipped:?}");
        library.close().unwrap();
    }
}

#[test]
fn a_note_that_was_moved_is_resolved_from_the_header() {
    let _alone = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    // Both differences are off by the same amount, as when a tool moves the note.
    let moved = include_str!("../sample.S")
        .replace(".quad __offload_anchor_sample - .", ".quad __offload_anchor_sample - . + 0x123450")
        .replace(".quad __ehdr_start - .", ".quad __ehdr_start - . + 0x123450");
    // SAFETY: the plugin holds no code.
    let library = unsafe { Library::new(plugin(directory.path(), &moved)) }.unwrap();
    assert_eq!(modules(&Registry::process()), ["sample", "plugged"]);
    library.close().unwrap();
}
