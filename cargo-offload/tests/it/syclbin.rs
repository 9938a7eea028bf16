//! `inspect` and `verify` of SYCLBIN files, alone and inside of programs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use offload_containers::syclbin::{
    BundleState, ImageKindNumber, KERNEL_PREFIX, NativeImage, NewModule, write,
};
use offload_images::spirv::with_prefixed_kernels;
use serde_json::Value;

const SPIRV: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");
const IMPORT: &[u8] = include_bytes!("../../../tests/data/import.spv");
const EXPORT: &[u8] = include_bytes!("../../../tests/data/export.spv");

fn offload(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-offload"));
    command.arg("offload").args(args).current_dir(dir).output().unwrap()
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

/// A file that every runtime takes, or one with `kernel` among its kernels, which the SPIR-V does not have.
fn syclbin(kernel: Option<&str>, kind: ImageKindNumber) -> Vec<u8> {
    let spirv = with_prefixed_kernels(SPIRV, KERNEL_PREFIX).unwrap();
    let kernels = ["__sycl_kernel_saxpy", "__sycl_kernel_reduce"].into_iter().chain(kernel);
    let module = NewModule::default().with_kernels(kernels).unwrap().with_spirv(&spirv);
    write(BundleState::Executable, &[module], kind).unwrap()
}

fn directory(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), bytes).unwrap();
    dir
}

#[test]
fn a_good_file_passes_and_a_restricted_one_warns() {
    let dir = directory("a.syclbin", &syclbin(None, ImageKindNumber::default()));
    let output = offload(dir.path(), &["verify", "a.syclbin"]);
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(0), "1 image verified, 0 problems\n"));

    let dir = directory("a.syclbin", &syclbin(None, ImageKindNumber::ONEAPI_2025_3));
    let output = offload(dir.path(), &["verify", "a.syclbin"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).starts_with("warning: `a.syclbin`: only oneAPI 2025.3"), "{}", text(&output));
}

#[test]
fn hazards_are_told_with_the_module_and_fail() {
    let dir = directory("a.syclbin", &syclbin(Some("\u{1b}plain"), ImageKindNumber::default()));
    let output = offload(dir.path(), &["verify", "a.syclbin"]);
    assert_eq!(output.status.code(), Some(1));
    let text = text(&output);
    assert!(text.contains("error: `a.syclbin`: module 0: no program can ask for kernel"), "{text}");
    assert!(text.contains("(ignores)") && text.contains("(fails)") && !text.contains('\u{1b}'), "{text}");

    let output = offload(dir.path(), &["--message-format", "json", "verify", "a.syclbin"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["reason"], &lines[0]["module"]), (&"hazard".into(), &0.into()));
    assert_eq!(lines[0]["consequence"], "ignores");
    assert_eq!(lines.last().unwrap()["problems"], lines.len() as u64 - 1);
}

/// Exit codes of `verify`, by what the user says of the file's use.
#[test]
fn a_file_is_judged_for_its_use() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("new"), syclbin(None, ImageKindNumber::default())).unwrap();
    fs::write(dir.path().join("old"), syclbin(None, ImageKindNumber::ONEAPI_2025_3)).unwrap();
    let user = NewModule::default().with_kernels(["__sycl_kernel_calls"]).unwrap();
    let spirv = with_prefixed_kernels(IMPORT, KERNEL_PREFIX).unwrap();
    let user = user.with_imported(["elsewhere"]).unwrap().with_spirv(&spirv);
    let library = NewModule::default().with_exported(["elsewhere"]).unwrap().with_spirv(EXPORT);
    for (name, module) in [("user", user), ("library", library)] {
        let bytes = write(BundleState::Object, &[module], ImageKindNumber::default()).unwrap();
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    fs::copy(dir.path().join("library"), dir.path().join("again")).unwrap();
    let mut renamed = fs::read(dir.path().join("new")).unwrap();
    renamed[0x50..0x54].copy_from_slice(b"SYBI");
    fs::write(dir.path().join("magic"), renamed).unwrap();
    for (args, code, message) in [
        (&["new"][..], 0, "0 problems"),
        (&["new", "--for", "sycl-2026.2"], 0, "0 problems"),
        (&["new", "--for", "sycl-2025.3"], 1, "oneAPI 2025.3 does not read image kind 7"),
        (&["old", "--for", "sycl-2025.3"], 0, "0 problems"),
        (&["old", "--for", "sycl-2026.2"], 1, "oneAPI 2026.2 does not read image kind 6"),
        (&["user"], 0, "it works only when linked with a file that exports `elsewhere` (restricts)"),
        (&["user", "--linked-with", "library"], 0, "1 image verified, 0 problems"),
        (&["user", "--linked-with", "new"], 1, "no module exports the imported symbol `elsewhere`"),
        (&["user", "--linked-with", "gone"], 3, "gone"),
        (
            &["user", "--linked-with", "library", "--linked-with", "again"],
            1,
            "`library` and `again` both export",
        ),
        (&["library"], 0, "0 problems"),
        (&["magic"], 1, "the SYCLBIN in `magic`: "),
    ] {
        let output = offload(dir.path(), &[&["verify"], args].concat());
        let shown = text(&output);
        assert!(shown.contains(message), "{args:?}: {shown}");
        assert_eq!(output.status.code(), Some(code), "{args:?}: {shown}");
    }
}

#[test]
fn a_damaged_file_is_an_error_that_names_it() {
    let mut bytes = syclbin(None, ImageKindNumber::default());
    // The inner version.
    bytes[0x54] = 9;
    let dir = directory("a.syclbin", &bytes);
    for command in ["verify", "inspect"] {
        let output = offload(dir.path(), &[command, "a.syclbin"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("the SYCLBIN in `a.syclbin`: "), "{}", text(&output));
    }
}

fn line<'t>(shown: &'t str, word: &str) -> &'t str {
    shown.lines().find(|line| line.contains(word)).unwrap()
}

#[test]
fn inspect_shows_state_and_forms() {
    let native = NativeImage { target: "spir64_gen-unknown-unknown", arch: "intel_gpu_pvc", image: b"zebin" };
    let module = NewModule::default().with_kernels(["__sycl_kernel_k"]).unwrap();
    let module = module.with_exported(["f"]).unwrap().with_spirv(SPIRV).with_native(native);
    let bytes = write(BundleState::Object, &[module], ImageKindNumber::default()).unwrap();
    let dir = directory("a.syclbin", &bytes);
    let output = offload(dir.path(), &["inspect", "a.syclbin"]);
    let shown = text(&output);
    assert!(shown.starts_with("`a.syclbin`: SYCLBIN version 1, state object, image kind 7\n"), "{shown}");
    assert!(line(&shown, " ir ").contains(&SPIRV.len().to_string()), "{shown}");
    assert!(
        line(&shown, "intel_gpu_pvc").contains("__sycl_kernel_k")
            && line(&shown, "intel_gpu_pvc").ends_with(" f"),
        "{shown}"
    );
}

#[test]
fn sections_of_a_program_are_searched() {
    // Several in a row, as `.llvm.offloading` may have them.
    let good = syclbin(None, ImageKindNumber::default());
    let bad = syclbin(Some("plain"), ImageKindNumber::default());
    let dir = directory("both", &[good, bad].concat());
    fs::write(dir.path().join("a.s"), ".section kernels,\"a\"\n.incbin \"both\"\n").unwrap();
    let mut assembler = Command::new("cc");
    assembler.args(["-c", "a.s", "-o", "program"]).current_dir(dir.path());
    assert!(assembler.status().unwrap().success());
    let output = offload(dir.path(), &["verify", "program"]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("section `kernels` of `program`: module 0: ") && text.contains("`plain`"),
        "{text}"
    );
    assert!(text.ends_with("2 images verified, 2 problems\n"), "{text}");
}

/// An object with a SYCLBIN in a section of its own and a fatbin.
fn program_of_both() -> tempfile::TempDir {
    let dir = directory("sycl", &syclbin(None, ImageKindNumber::default()));
    fs::write(dir.path().join("cuda"), include_bytes!("../../../tests/data/stored.fatbin")).unwrap();
    let sections = ".section kernels,\"a\"\n.incbin \"sycl\"\n.section .nv_fatbin,\"a\"\n.incbin \"cuda\"\n";
    fs::write(dir.path().join("a.s"), sections).unwrap();
    let mut assembler = Command::new("cc");
    assembler.args(["-c", "a.s", "-o", "program"]).current_dir(dir.path());
    assert!(assembler.status().unwrap().success());
    dir
}

fn count_rows(shown: &str, word: &str) -> usize {
    shown.lines().filter(|line| line.starts_with(word)).count()
}

#[test]
fn inspect_shows_a_syclbin_beside_other_containers() {
    let dir = program_of_both();
    let shown = text(&offload(dir.path(), &["inspect", "program"]));
    assert!(shown.contains("section `kernels` of `program`: SYCLBIN version 1"), "{shown}");
    assert!(count_rows(&shown, "sycl-") == 1 && count_rows(&shown, "cuda-") >= 1, "{shown}");

    let json = ["--message-format", "json", "inspect", "program", "--kernels", "--for", "spirv64"];
    let output = offload(dir.path(), &json);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let images: Vec<&Value> = lines.iter().filter(|line| line["reason"] == "image").collect();
    assert_eq!(images.len(), 1, "{lines:?}");
    assert_eq!((&images[0]["target"], &images[0]["containers"][0]), (&"spirv64".into(), &"SYCLBIN".into()));
    assert_eq!(images[0]["kernels"][0]["name"], "__sycl_kernel_saxpy");
}
