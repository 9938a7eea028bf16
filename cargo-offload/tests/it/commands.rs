//! The commands from outside: what they print, what they change, and their exit codes.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::{self, objects, offload, ok, stderr};
use offload_format::Aspects;
use offload_format::codec::{self, Codec};
use offload_format::pack::{KernelInfo, NewImage, PackBuilder};
use serde_json::Value;

/// A SPIR-V module with the kernels `saxpy` and `reduce`.
const SPIRV: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");

fn sample_pack() -> Vec<u8> {
    let spirv = codec::encode(SPIRV, Codec::Zstd, 19).unwrap();
    let source = codec::encode(b"__kernel void saxpy() {}", Codec::Raw, 0).unwrap();
    let mut builder = PackBuilder::new("sample", "1.0.0");
    for (target, frame) in [("spirv64", &spirv), ("opencl-c", &source)] {
        let image = NewImage {
            kernels: vec![KernelInfo::new("saxpy"), KernelInfo::new("reduce")],
            ..NewImage::new("blas", target.parse().unwrap())
        };
        builder.image(image, frame.info()).unwrap();
    }
    builder.finish().unwrap().with_frames([&spirv, &source]).unwrap()
}

fn with_pack() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("images.pack"), sample_pack()).unwrap();
    dir
}

#[test]
fn init_then_targets_and_compression_keep_what_people_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    let failed = offload(path, &["targets", "add", "host"]);
    assert_eq!(failed.status.code(), Some(2));
    assert!(stderr(&failed).contains("hint: run `cargo offload init`"), "{}", stderr(&failed));

    fs::create_dir(path.join(".cargo")).unwrap();
    fs::write(path.join(".cargo/config.toml"), "# mine\n[alias]\nx = \"build\"\n").unwrap();
    ok(path, &["init"]);
    let config = fs::read_to_string(path.join(".cargo/config.toml")).unwrap();
    assert!(config.starts_with("# mine\n[alias]\nx = \"build\"\n"), "{config}");
    assert!(config.contains("OFFLOAD_WORKSPACE = { value = \".\", relative = true }"), "{config}");
    assert!(ok(path, &["init"]).contains("is up to date"));

    let file = path.join("offload.toml");
    fs::write(
        &file,
        "# why\ntargets = [\n    \"host\", # fast\n    { name = \"intel:pvc\", optional = true },\n]\n",
    )
    .unwrap();
    ok(path, &["targets", "add", "spirv64", "host"]);
    assert_eq!(ok(path, &["targets", "-q"]), "host\nintel:pvc\nspirv64\n");
    ok(path, &["targets", "remove", "intel:pvc"]);
    ok(path, &["compression", "7"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("# why") && text.contains("# fast") && text.contains("compression = { level = 7 }"),
        "{text}"
    );
    for mode in ["fast", "balanced", "max", "archive", "none"] {
        assert_eq!(ok(path, &["compression", mode]), format!("\"{mode}\"\n"));
    }
}

fn export(dir: &Path, more: &[&str]) -> Output {
    offload(dir, &[&["export", "--format", "raw", "both.pack"], more].concat())
}

#[test]
fn images_of_several_packages_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let frame = codec::encode(SPIRV, Codec::Raw, 0).unwrap();
    let mut bytes = Vec::new();
    for package in ["one", "two"] {
        let mut builder = PackBuilder::new(package, "1.0.0");
        builder.image(NewImage::new("vecops", "spirv64".parse().unwrap()), frame.info()).unwrap();
        bytes.resize(bytes.len().next_multiple_of(4096), 0);
        bytes.extend(builder.finish().unwrap().with_frames([&frame]).unwrap());
    }
    fs::write(dir.path().join("both.pack"), bytes).unwrap();
    let several = stderr(&export(dir.path(), &[]));
    let hint =
        "hint: choose one with --package, --module and --target: one: vecops spirv64, two: vecops spirv64";
    assert!(several.contains(hint), "{several}");
    let chosen = export(dir.path(), &["--package", "two"]);
    assert!(chosen.status.success(), "{}", stderr(&chosen));
    let unknown = stderr(&export(dir.path(), &["--package", "three"]));
    assert!(
        unknown.contains("no images of a package `three`\nhint: available packages: one, two"),
        "{unknown}"
    );
}

#[test]
fn targets_are_set_in_place_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("offload.toml");
    let text = "# ours\ntargets = [\n    \"host\", # fast\n    { name = \"intel:pvc\", optional = true }, # soon\n]\nembed = \"auto\"\n";
    fs::write(&file, text).unwrap();
    let message = ok(dir.path(), &["targets", "set", "spirv64,host"]);
    let undo = "cargo offload targets set host --optional=intel:pvc";
    assert_eq!(message, format!("the targets are now spirv64 host\nundo: {undo}\n"));
    let changed = "# ours\ntargets = [\n    \"spirv64\",\n    \"host\", # fast\n]\nembed = \"auto\"\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), changed);
    let words: Vec<&str> = undo.split(' ').skip(2).collect();
    ok(dir.path(), &words);
    assert_eq!(fs::read_to_string(&file).unwrap(), text.replace(" # soon", ""));
    let json = ok(dir.path(), &["targets", "set", "host", "--optional", "intel:pvc", "--json"]);
    let set = &objects(&json, "set")[0];
    assert_eq!((&set["targets"], &set["optional"]), (&["host"][..].into(), &["intel:pvc"][..].into()));
}

fn listed(dir: &Path, args: &[&str]) -> String {
    support::stdout(&support::without_tools(dir, args).output().unwrap())
}

#[test]
fn targets_are_listed_with_what_they_need() {
    let dir = tempfile::tempdir().unwrap();
    let list = "targets = [\"spirv64\", { name = \"cubin:sm_90\", optional = true }]\n";
    fs::write(dir.path().join("offload.toml"), list).unwrap();
    let table = listed(dir.path(), &["targets", "list"]);
    assert!(table.contains("cubin:sm_90 (optional)  no: lacks clang, libclc (NVIDIA), ptxas"), "{table}");
    assert!(table.contains("intel:pvc, ") || table.contains(" more  "), "{table}");
    assert!(table.contains("hint: `cargo offload doctor TARGET`"), "{table}");
    let json = listed(dir.path(), &["targets", "list", "--json"]);
    let targets = objects(&json, "target");
    assert_eq!((&targets[1]["target"], &targets[1]["optional"]), (&"cubin:sm_90".into(), &true.into()));
    assert_eq!(targets[1]["needs"], serde_json::json!(["clang", "libclc (NVIDIA)", "ptxas"]));
    let families = objects(&json, "target-family");
    let names: Vec<&str> = families.iter().map(|it| it["family"].as_str().unwrap()).collect();
    assert_eq!(names, ["host", "spirv64", "intel", "cubin", "nvptx", "amdgcn", "opencl-c"]);
    assert!(families[2]["targets"].as_array().unwrap().contains(&"intel:pvc".into()));
    assert!(families.iter().all(|it| it["buildable"] == false));
}

#[test]
fn the_modes_of_compression_are_tried_on_a_file() {
    let dir = with_pack();
    let rows =
        objects(&ok(dir.path(), &["compression", "--on", "images.pack", "--json"]), "compression-mode");
    let modes: Vec<&str> = rows.iter().map(|row| row["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["none", "fast", "balanced", "max", "archive"]);
    let sizes: Vec<u64> = rows.iter().map(|row| row["stored_size"].as_u64().unwrap()).collect();
    let raw = SPIRV.len() as u64 + 24;
    assert!(sizes[0] > raw && sizes[1..].iter().all(|size| *size < sizes[0]), "{sizes:?}");
    assert!(rows.iter().all(|row| row["raw_size"] == raw && row["pack_seconds"].as_f64().unwrap() > 0.0));
    assert!(rows.iter().all(|row| row["decode_seconds"].as_f64().unwrap() > 0.0));

    // A setting that is no mode's usual one has a row of its own; progress is no part of the table.
    fs::write(dir.path().join("offload.toml"), "compression = { mode = \"max\", level = 7 }\n").unwrap();
    let output = offload(dir.path(), &["compression", "--on", "images.pack"]);
    let table = support::stdout(&output);
    let progress = stderr(&output);
    let last = table.lines().rev().nth(2).unwrap();
    assert!(last.starts_with("max") && last.ends_with("this"), "{table}");
    assert!(progress.contains("compressing 2 images of") && !table.contains("compressing"), "{progress}");
    assert!(!ok(dir.path(), &["compression", "--setting"]).contains("balanced"));
}

/// So large that packing it in every mode would take long, were it not so simple.
#[test]
fn of_many_images_a_sample_is_packed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("large.pack"),
        support::pack(
            (0..5)
                .map(|number| {
                    let target = format!("amdgcn:gfx103{number}").parse().unwrap();
                    let pattern: Vec<u8> = (0..251u8).map(|byte| byte ^ number).collect();
                    let mut bytes = pattern.repeat(8_000);
                    // Not so much from so small a file that it is refused.
                    let mut state = u32::from(number);
                    bytes.extend((0..30_000).map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (state >> 24) as u8
                    }));
                    (NewImage::new("large", target), bytes)
                })
                .collect(),
            Codec::Zstd,
        ),
    )
    .unwrap();
    for (more, expected) in [(&[][..], [false, false, true, true, true]), (&["--exact"], [false; 5])] {
        let message = ok(dir.path(), &[&["compression", "--on", "large.pack", "--json"], more].concat());
        let rows = objects(&message, "compression-mode");
        let estimated: Vec<bool> = rows.iter().map(|row| row["about"].as_bool().unwrap()).collect();
        assert_eq!(estimated, expected);
    }
    let message = ok(dir.path(), &["compression", "--on", "large.pack"]);
    assert!(message.lines().any(|line| line.starts_with("max") && line.contains(" ~")), "{message}");
    assert!(message.ends_with("~: estimated from a sample; `--exact` compresses all images\n"), "{message}");
}

#[test]
fn mistakes_leave_the_file_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let text = "targets = [\"host\"]\n";
    fs::write(dir.path().join("offload.toml"), text).unwrap();
    for (args, part) in [
        (["targets", "add", "intel:pcv"].as_slice(), "the nearest names are intel:pvc"),
        (&["targets", "add", "spirv64", "nonsense"], "unknown target `nonsense`"),
        (&["targets", "remove", "spirv64"], "is not in"),
        (&["targets", "set", "host,intel:pcv"], "the nearest names are intel:pvc"),
        (&["compression", "99"], "from 1 to 22"),
    ] {
        let output = offload(dir.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            stderr(&output).contains(part) && stderr(&output).contains("hint: "),
            "{args:?}: {}",
            stderr(&output)
        );
        assert_eq!(fs::read_to_string(dir.path().join("offload.toml")).unwrap(), text);
    }
}

#[test]
fn inspect_prints_a_table_and_json() {
    let dir = with_pack();
    let table = ok(dir.path(), &["inspect", "images.pack"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..4], ["package", "module", "variant", "target"]);
    assert_eq!(rows[1][..6], ["sample", "blas", "-", "spirv64", "spirv", "zstd"]);
    assert_eq!(rows.len(), 3);

    let json = ok(dir.path(), &["inspect", "images.pack", "--message-format", "json"]);
    let images: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(images.len(), 2);
    assert_eq!(images[0]["reason"], "image");
    assert_eq!(images[0]["raw_size"], SPIRV.len());
    assert_eq!(images[0]["kernels"][1]["name"], "reduce");
    assert_eq!(images[0]["hash"], offload_format::Hash128::digest(SPIRV).to_string());
}

#[test]
fn inspect_shows_parts_aspects_and_what_kernels_use() {
    let dir = tempfile::tempdir().unwrap();
    let frame = codec::encode(b"code", Codec::Raw, 0).unwrap();
    let kernel = {
        let mut info = KernelInfo::new("precise");
        info.registers = Some(256);
        info.spilled = Some(64);
        info.max_work_group = Some(512);
        info.remark = "256 registers: spills 64 bytes, with 128 registers 640".into();
        info
    };
    let part = NewImage {
        variant: "N=2,T=double".into(),
        part: "large-grf".into(),
        aspects: Aspects::FP16 | Aspects::FP64,
        kernels: vec![kernel],
        ..NewImage::new("blas", "intel:pvc".parse().unwrap())
    };
    let mut builder = PackBuilder::new("sample", "1.0.0");
    builder.image(part, frame.info()).unwrap();
    builder.image(NewImage::new("fft", "host".parse().unwrap()), frame.info()).unwrap();
    let pack = builder.finish().unwrap().with_frames([&frame]).unwrap();
    fs::write(dir.path().join("images.pack"), pack).unwrap();

    let table = ok(dir.path(), &["inspect", "images.pack"]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][2..6], ["variant", "target", "part", "needs"]);
    assert_eq!(rows[1][2..6], ["N=2,T=double", "intel:pvc", "large-grf", "fp16,fp64"]);
    assert_eq!(rows[2][2..6], ["-", "host", "-", "-"]);

    let json = ok(dir.path(), &["inspect", "images.pack", "--message-format", "json"]);
    let images: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&images[0]["part"], &images[0]["variant"]), (&"large-grf".into(), &"N=2,T=double".into()));
    assert_eq!(images[0]["aspects"], serde_json::json!(["fp16", "fp64"]));
    assert_eq!((&images[1]["part"], &images[1]["aspects"]), (&"".into(), &serde_json::json!([])));
    let kernel = &images[0]["kernels"][0];
    let numbers = ["registers", "spilled", "max_work_group"].map(|field| kernel[field].as_u64());
    assert_eq!(numbers, [Some(256), Some(64), Some(512)]);
    assert_eq!(kernel["remark"], "256 registers: spills 64 bytes, with 128 registers 640");
    assert_eq!(kernel["scalar_registers"], Value::Null);
}

#[test]
fn packs_are_found_inside_files_of_any_format() {
    let dir = tempfile::tempdir().unwrap();
    // The magic alone, at a place where it could be a program's constant; then a pack across the border of a chunk.
    for start in [4096, (1 << 20) - 24, (1 << 20) - 64, 3 << 20] {
        let mut bytes = vec![0x55; start];
        bytes[64..72].copy_from_slice(b"OFLDPACK");
        bytes.extend(sample_pack());
        bytes.extend([0x55; 100]);
        fs::write(dir.path().join("file"), bytes).unwrap();
        assert_eq!(ok(dir.path(), &["inspect", "file"]).lines().count(), 3, "{start}");
    }
}

#[test]
fn files_without_images_say_so() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("empty"), "").unwrap();
    fs::write(dir.path().join("text"), "some text\n").unwrap();
    for (name, what) in [("empty", "is empty"), ("text", "has no device images")] {
        let output = offload(dir.path(), &["inspect", name]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(what), "{}", stderr(&output));
    }
    let output = offload(dir.path(), &["inspect", "nowhere"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("`nowhere`"), "{}", stderr(&output));
}

#[test]
fn verify_finds_every_damaged_byte() {
    let dir = with_pack();
    assert!(ok(dir.path(), &["verify", "images.pack"]).contains("2 images verified, 0 problems"));
    let good = sample_pack();
    let mut unseen = Vec::new();
    for at in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        fs::write(dir.path().join("bad.pack"), &bad).unwrap();
        let output = offload(dir.path(), &["verify", "bad.pack"]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "byte {at}: {}", stderr(&output));
        if output.status.code() == Some(0) && good[at] != 0 {
            unseen.push(at);
        }
    }
    // Padding may change without harm, and in zstd's header of a frame one bit has no meaning.
    assert!(unseen.len() <= 1, "{unseen:?}");
}

/// Verifies a pack with `image` for `target`.
fn verify(image: &str, target: &str) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let new =
        NewImage { kernels: vec![KernelInfo::new("k")], ..NewImage::new("blas", target.parse().unwrap()) };
    let pack = support::pack(vec![(new, support::data(image))], Codec::Zstd);
    fs::write(dir.path().join("k.pack"), pack).unwrap();
    offload(dir.path(), &["verify", "k.pack"])
}

#[test]
fn verify_compares_every_image_with_its_target() {
    for (file, right, wrong, message) in [
        ("two.ocloc", "intel:pvc", "intel:acm-g10", "the archive is for intel:12.60.7, intel:12.10.0"),
        ("saxpy-reduce.zebin", "intel:pvc", "intel:acm-g10", "the image is for Intel's product family 1271"),
        ("saxpy-reduce-dg1.clelf", "intel:dg1", "intel:pvc", "the image is for Intel's graphics core 0x12"),
        ("device-12.9-sm_80.cubin", "cubin:sm_80", "cubin:sm_90", "the image is for cubin:sm_80"),
        ("device-clang.ptx", "nvptx:sm_80", "nvptx:sm_90", "the image is for nvptx:sm_80"),
        ("device-gfx1100.co", "amdgcn:gfx1100", "amdgcn:gfx906", "the image is for amdgcn:gfx1100"),
    ] {
        let output = verify(file, right);
        assert!(output.status.success(), "{file} for {right}: {}", support::all_output(&output));
        let output = verify(file, wrong);
        let text = support::stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{file} for {wrong}: {text}");
        assert!(text.contains(&format!("error: blas {wrong}: {message}")), "{text}");
    }
}

#[test]
fn export_writes_a_syclbin_and_raw_images() {
    let dir = with_pack();
    ok(dir.path(), &["export", "--format", "syclbin", "images.pack", "-o", "out.syclbin"]);
    let file = fs::read(dir.path().join("out.syclbin")).unwrap();
    let modules = syclbin(&file).modules;
    assert_eq!(modules[0].kernels().collect::<Vec<_>>(), ["__sycl_kernel_saxpy", "__sycl_kernel_reduce"]);
    let spirv =
        offload_images::spirv::Module::parse(modules[0].ir[0].bytes, &offload_format::Limits::default())
            .unwrap();
    assert_eq!(spirv.kernels()[0].name, "__sycl_kernel_saxpy");

    ok(dir.path(), &["export", "--format", "raw", "--target", "spirv64", "images.pack"]);
    assert_eq!(fs::read(dir.path().join("blas.spv")).unwrap(), SPIRV);

    let several = offload(dir.path(), &["export", "--format", "raw", "images.pack"]);
    assert_eq!(several.status.code(), Some(2));
    assert!(stderr(&several).contains("blas spirv64, blas opencl-c"), "{}", stderr(&several));
    let none = offload(dir.path(), &["export", "--format", "raw", "--module", "x", "images.pack"]);
    assert!(stderr(&none).contains("it has blas spirv64"), "{}", stderr(&none));
}

fn syclbin(file: &[u8]) -> offload_containers::syclbin::File<'_> {
    offload_containers::syclbin::parse(file, &offload_format::Limits::default()).unwrap()
}

/// A pack with SPIR-V and native images of one module, whose kernel is called `name`.
fn natives(name: &str) -> tempfile::TempDir {
    let targets = ["intel:pvc", "intel:bmg-g21", "cubin:sm_90", "amdgcn:gfx90a", "nvptx:sm_90"];
    let bytes = targets.map(|target| (target, target.as_bytes())).into_iter().chain([("spirv64", SPIRV)]);
    let dir = tempfile::tempdir().unwrap();
    let pack = support::pack(
        bytes
            .map(|(target, bytes)| {
                let kernels = vec![KernelInfo::new(name)];
                (NewImage { kernels, ..NewImage::new("blas", target.parse().unwrap()) }, bytes.to_vec())
            })
            .collect(),
        Codec::Raw,
    );
    fs::write(dir.path().join("images.pack"), pack).unwrap();
    dir
}

const EXPORT: [&str; 7] = ["export", "--force", "--format", "syclbin", "images.pack", "-o", "out.syclbin"];

#[test]
fn a_syclbin_has_native_images_beside_the_spirv() {
    let dir = natives("__sycl_kernel_saxpy");
    let targets = ["--target", "intel:pvc", "--target", "cubin:sm_90", "--target", "amdgcn:gfx90a"];
    let message = ok(dir.path(), &[&EXPORT[..], &targets].concat());
    assert!(
        message.contains("warning: module 0: it has no compile_target: runtimes try the native image for `spir64_gen` on every device"),
        "{message}"
    );
    let file = fs::read(dir.path().join("out.syclbin")).unwrap();
    let file = syclbin(&file);
    let module = &file.modules[0];
    let natives: Vec<_> =
        module.native.iter().map(|it| (it.target().unwrap(), it.arch().unwrap(), it.bytes)).collect();
    let expected = [
        ("spir64_gen-unknown-unknown", "intel_gpu_pvc", &b"intel:pvc"[..]),
        ("nvptx64-nvidia-cuda", "sm_90", b"cubin:sm_90"),
        ("amdgcn-amd-amdhsa", "gfx90a", b"amdgcn:gfx90a"),
    ];
    assert_eq!(natives, expected.map(|(target, arch, bytes)| (target.into(), arch.into(), bytes)));
    assert_eq!((module.ir.len(), module.compile_target()), (1, None));
}

#[test]
fn a_syclbin_is_written_in_every_state() {
    let dir = with_pack();
    for state in ["input", "object", "executable"] {
        let message = ok(dir.path(), &[&EXPORT[..], &["--state", state]].concat());
        assert!(!message.contains("warning"), "{message}");
        let file = fs::read(dir.path().join("out.syclbin")).unwrap();
        let file = syclbin(&file);
        assert_eq!(file.state().unwrap().to_string(), state);
        let size = file.modules[0].metadata.get("SYCL/device requirements", "reqd_work_group_size_uint64_t");
        let expected: Vec<u8> = [64u64, 1, 1].iter().flat_map(|size| size.to_le_bytes()).collect();
        assert_eq!(size.unwrap().bytes().unwrap(), expected);
    }
}

#[test]
fn native_images_that_a_runtime_would_get_wrong_are_refused() {
    let prefixed = "__sycl_kernel_saxpy";
    for (name, targets, reason) in [
        (
            prefixed,
            &["--target", "intel:pvc", "--target", "intel:bmg-g21"][..],
            "a second image for spir64_gen",
        ),
        (prefixed, &["--target", "nvptx:sm_90"], "is not a native image of a SYCLBIN"),
        ("saxpy", &["--target", "intel:pvc"], "call it `__sycl_kernel_saxpy` in the source"),
        (prefixed, &["--target", "intel:dg1"], "no such image for `intel:dg1`"),
        (prefixed, &["--module", "other"], "it has blas"),
    ] {
        let dir = natives(name);
        let output = offload(dir.path(), &[&EXPORT[..], targets].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
        assert!(!dir.path().join("out.syclbin").exists());
    }
}

#[test]
fn usage_errors_have_their_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(offload(dir.path(), &["no-such-command"]).status.code(), Some(2));
    assert_eq!(offload(dir.path(), &["--help"]).status.code(), Some(0));
}

/// Quiet commands print no success, but every failure.
#[test]
fn quiet_commands_say_only_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("images.pack");
    let mut bytes = sample_pack();
    fs::write(&file, &bytes).unwrap();
    let extract = ["extract", "images.pack", "-o", "images"];
    for args in [&["verify", "images.pack"][..], &extract, &["man", "--directory", "man"]] {
        for (verbosity, silent) in [("--verbose", false), ("--quiet", true)] {
            assert_eq!(
                ok(dir.path(), &[args, &[verbosity]].concat()).is_empty(),
                silent,
                "{args:?} {verbosity}"
            );
            for made in ["images", "man"] {
                fs::remove_dir_all(dir.path().join(made)).unwrap_or_default();
            }
        }
    }
    assert_eq!(
        objects(&ok(dir.path(), &["verify", "images.pack", "--quiet", "--json"]), "verified").len(),
        2
    );
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, bytes).unwrap();
    let output = offload(dir.path(), &["verify", "images.pack", "--quiet"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(support::all_output(&output).contains("error: "), "{}", support::all_output(&output));
}
