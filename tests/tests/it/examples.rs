//! The examples: that the book shows them, and that they are right on every device that needs no GPU.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use offload_format::pack::{Pack, Pages};
use offload_rt::{CudaDescription, DeviceDescription, Registry};

use crate::support::{self, build_of_workspace, program_of_workspace};

/// Held while `bf16-vectors` is built and used: a build for other targets replaces its program.
static BF16_VECTORS: Mutex<()> = Mutex::new(());

fn source(example: &str) -> String {
    fs::read_to_string(support::root().join("examples").join(example).join("src/main.rs")).unwrap()
}

/// Builds the example for the devices that need no GPU.
fn built(example: &str) -> PathBuf {
    let built = build_of_workspace(example).env("OFFLOAD_TARGETS", "host,spirv64,opencl-c").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program_of_workspace(&built.stdout, example)
}

/// What the program prints where the OpenCL loader finds the driver of `driver` alone.
fn run(program: &Path, args: &[&str], driver: &[(&str, PathBuf)]) -> String {
    let mut command = Command::new(program);
    command.args(args).env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    let output = command.envs(driver.iter().map(|(name, value)| (*name, value))).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn pocl() -> Vec<(&'static str, PathBuf)> {
    vec![("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd".into())]
}

fn intel() -> Option<Vec<(&'static str, PathBuf)>> {
    let lib = offload_tests::require_intel_runtime()?.join("lib");
    Some(vec![("OCL_ICD_FILENAMES", lib.join("libintelocl.so")), ("LD_LIBRARY_PATH", lib)])
}

#[test]
fn the_book_shows_the_examples_of_other_crates() {
    let page = fs::read_to_string(support::root().join("docs/drivers.md")).unwrap();
    for example in ["with-cudarc", "with-opencl3"] {
        assert!(page.contains(&source(example)), "docs/drivers.md shows another program than {example}");
    }
}

/// Each line that a patch adds or removes, and the whole build script.
#[test]
fn the_book_shows_the_patches_of_candle() {
    let patches = support::root().join("tests/fixtures/candle-core/patches");
    let page = fs::read_to_string(support::root().join("docs/moving-cuda.md")).unwrap();
    let build = fs::read_to_string(patches.join("build.rs")).unwrap();
    assert!(page.contains(&build), "docs/moving-cuda.md shows another build script");
    assert!(build.lines().count() <= 10);
    let mut lines = HashSet::new();
    for name in ["candle-core", "candle-kernels"] {
        let patch = fs::read_to_string(patches.join(name).with_extension("patch")).unwrap();
        lines.extend(patch.lines().map(str::to_string));
    }
    let mut shown = 0;
    for block in page.split("```diff\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines().filter(|line| line.starts_with(['+', '-'])) {
            assert!(lines.contains(line), "no patch has `{line}`");
            shown += 1;
        }
    }
    assert!(shown > 10, "{shown} lines");
}

#[test]
fn a_program_of_opencl3_launches_our_kernels() {
    let program = built("with-opencl3");
    for driver in [Some(pocl()), intel()].into_iter().flatten() {
        assert_eq!(run(&program, &[], &driver).trim(), "65536 of 65536 values are 15");
    }
}

#[test]
fn programs_that_keep_their_data_on_the_device_are_right_everywhere() {
    if !offload_tests::is_nightly() {
        return;
    }
    for (example, args) in [("conjugate-gradient", &["24"][..]), ("image-filter", &[]), ("decode", &[])] {
        let program = built(example);
        for driver in [Some(pocl()), intel()].into_iter().flatten() {
            let text = run(&program, args, &driver);
            assert!(text.contains("OpenCL device") && text.contains("host CPU"), "{text}");
            assert!(text.ends_with("2 of 2 devices are right\n"), "{text}");
        }
    }
}

/// Two strips on each device, which exchange their borders.
#[test]
fn strips_of_a_plate_are_right_on_all_devices_together() {
    let program = built("stencil");
    for driver in [Some(pocl()), intel()].into_iter().flatten() {
        let text = run(&program, &["256", "20"], &driver);
        assert!(text.contains("2 x OpenCL device") && text.contains("2 x host CPU"), "{text}");
        assert!(text.ends_with("2 of 2 groups of devices are right\n"), "{text}");
    }
}

#[test]
fn a_device_library_gives_the_same_bits_everywhere() {
    let _alone = BF16_VECTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let program = built("bf16-vectors");
    for driver in [Some(pocl()), intel()].into_iter().flatten() {
        let text = run(&program, &[], &driver);
        assert!(text.contains("OpenCL device") && text.contains("host CPU"), "{text}");
        // All numbers, six lower halves for each, and three operations with twelve others.
        assert_eq!(text.matches(": 2818048 results, 0 wrong\n").count(), 2, "{text}");
        assert!(text.ends_with("2 of 2 devices are right\n"), "{text}");
    }
}

/// The packs in `program`.
fn packs(program: &Path) -> Vec<Registry> {
    let bytes = fs::read(program).unwrap();
    let magic = offload_format::pack::layout::MAGIC;
    let starts = (0..bytes.len() - 8).filter(|at| bytes[*at..].starts_with(&magic));
    // The magic is also a constant of the code that reads packs.
    let pages = Pages::default();
    starts
        .filter(|at| Pack::parse(&bytes[*at..], &pages).is_ok())
        .map(|at| Registry::from_pack(bytes[at..].to_vec()))
        .collect()
}

/// The target of the image that a GPU takes, and whether it converts by an instruction.
fn taken(packs: &[Registry], module: &str, capability: [u32; 2]) -> (String, bool) {
    let device = DeviceDescription::from(CudaDescription::new("gpu", capability).driver_version(13000));
    let selected = packs.iter().find_map(|pack| pack.request(module).select(&device).ok()).unwrap();
    let image = selected.entry().load().unwrap();
    let text = String::from_utf8_lossy(image.bytes()).into_owned();
    (selected.entry().target_text().to_string(), text.contains("cvt.rn.bf16.f32"))
}

/// Both variants of the library are in one program, with kernels that have it from the build; each device takes its own.
#[test]
fn a_program_has_a_device_library_for_devices_with_the_instructions_and_for_others() {
    let _alone = BF16_VECTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("offload.toml");
    fs::write(&config, "targets = [\"nvptx:sm_75\", \"nvptx:sm_90\"]\nembed = \"always\"\n").unwrap();
    let mut build = build_of_workspace("bf16-vectors");
    let built = build.env_remove("OFFLOAD_TARGETS").env("OFFLOAD_CONFIG", &config).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let packs = packs(&program_of_workspace(&built.stdout, "bf16-vectors"));
    for module in ["vectors", "bf16"] {
        assert_eq!(taken(&packs, module, [8, 9]), ("nvptx:sm_75".to_string(), false), "{module}");
        assert_eq!(taken(&packs, module, [9, 0]), ("nvptx:sm_90".to_string(), true), "{module}");
        assert_eq!(taken(&packs, module, [10, 0]), ("nvptx:sm_90".to_string(), true), "{module}");
    }
}

const INSTRUCTIONS: [&str; 4] = ["cvt.rn.bf16.f32", "add.rn.bf16", "sub.rn.bf16", "mul.rn.bf16"];

/// Of each image: whether it is for sm_90, and how many of the instructions it has.
fn count_instructions(folder: &Path, settings: &str) -> Vec<(bool, usize)> {
    let config = folder.join("offload.toml");
    fs::write(&config, format!("targets = [\"nvptx:sm_75\", \"nvptx:sm_90\"]\n{settings}")).unwrap();
    let mut build = build_of_workspace("bf16-vectors");
    let built = build.env_remove("OFFLOAD_TARGETS").env("OFFLOAD_CONFIG", &config).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let program = program_of_workspace(&built.stdout, "bf16-vectors");
    let images = folder.join("images");
    let _ = fs::remove_dir_all(&images);
    let mut extract = Command::new(support::cargo_offload());
    let done = extract.args(["extract", "--output"]).arg(&images).arg(program).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut found = Vec::new();
    for entry in fs::read_dir(&images).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let used = INSTRUCTIONS.iter().filter(|name| text.contains(**name)).count();
        found.push((text.contains(".target sm_90"), used));
    }
    found.sort();
    found
}

#[test]
fn a_device_library_uses_the_instructions_that_a_device_has() {
    let _alone = BF16_VECTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    // Of the kernels, and of the library for those that are linked at load.
    let all = INSTRUCTIONS.len();
    assert_eq!(count_instructions(folder.path(), ""), [(false, 0), (false, 0), (true, all), (true, all)]);
    let fallback = "[modules.bf16]\ndefines = { BF16_FALLBACK = 1 }\n";
    assert_eq!(count_instructions(folder.path(), fallback), [(false, 0), (false, 0), (true, 0), (true, 0)]);
}
