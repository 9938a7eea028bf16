//! `report`, `size`, `asm` and `devices`: what they print, what they write, and their exit codes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{
    self, data, fails, kernel, objects, offload, ok, pack, program, stderr, stdout, with_pack,
};
use offload_format::codec::Codec;
use offload_format::pack::{KernelInfo, NewImage};
use serde_json::Value;

#[test]
fn the_report_puts_the_worst_first() {
    let dir = with_pack(64);
    let printed = ok(dir.path(), &["report", "images.pack", "--json"]);
    let rows = objects(&printed, "kernel");
    let order: Vec<&str> = rows.iter().map(|row| row["kernel"].as_str().unwrap()).collect();
    assert_eq!(order, ["stacked", "radix", "scale", "scale"]);
    assert_eq!(rows[0]["worst"], serde_json::json!(["spilled", "registers", "private", "code"]));
    assert_eq!((&rows[1]["grf"], &rows[0]["grf"]), (&"large".into(), &Value::Null));
    // The machine code is measured in the image, where the record has nothing of it.
    assert!(rows[0]["code_size"].as_u64().unwrap() > 100, "{}", rows[0]);
    let summary = &objects(&printed, "summary")[0];
    assert_eq!([&summary["kernels"], &summary["spilling"]], [4, 1]);
}

fn silent(module: &str) -> NewImage {
    support::image(module, "nvptx:sm_80", vec![KernelInfo::new("silent")])
}

#[test]
fn kernels_of_which_nothing_is_known_are_counted_and_not_shown() {
    let known = NewImage {
        kernels: vec![kernel("scale", [12, 0, 0])],
        ..NewImage::new("blas", "amdgcn:gfx1100".parse().unwrap())
    };
    let texts = [".version 7.0\n", ".version 7.1\n"].map(|text| text.as_bytes().to_vec());
    let [first, second] = texts;
    let dir = tempfile::tempdir().unwrap();
    let images = [(silent("blas"), first), (silent("fft"), second), (known, data("device-gfx1100.co"))];
    fs::write(dir.path().join("images.pack"), pack(images[..].to_vec(), Codec::Zstd)).unwrap();
    let message = ok(dir.path(), &["report", "images.pack"]);
    assert!(!message.contains("silent") && message.contains("scale"), "{message}");
    assert!(message.contains("\n2 kernels omitted"), "{message}");
    assert!(message.contains("\n3 kernels: 0 spill, 2 unknown"), "{message}");
    assert_eq!(objects(&ok(dir.path(), &["report", "images.pack", "--json"]), "kernel").len(), 3);
    // Where there are no others, their names are all that there is to show.
    fs::write(dir.path().join("images.pack"), pack(images[..2].to_vec(), Codec::Zstd)).unwrap();
    let message = ok(dir.path(), &["report", "images.pack"]);
    assert!(message.contains("silent") && !message.contains("omitted"), "{message}");
}

fn coloured(dir: &Path, args: &[&str]) -> String {
    stdout(&offload(dir, &[args, &["--color", "always"]].concat()))
}

#[test]
fn problems_and_hints_are_in_colour() {
    let dir = with_pack(64);
    assert!(coloured(dir.path(), &["report", "images.pack"]).contains("\x1b[31m64\x1b[0m"));
    assert!(
        coloured(dir.path(), &["verify", "images.pack"])
            .contains("\n\x1b[1;31merror\x1b[0m: blas amdgcn:gfx1101")
    );
    let doctor = support::without_tools(dir.path(), &["doctor", "spirv64", "--color", "always"]);
    let doctor = stdout(&{ doctor }.output().unwrap());
    assert!(doctor.contains("\x1b[31mno: lacks clang\x1b[0m"), "{doctor}");
    assert!(doctor.contains("\n\x1b[1;36mhint\x1b[0m: "), "{doctor}");
    let plain = stdout(&offload(dir.path(), &["verify", "images.pack"]));
    assert!(plain.contains("\nerror: blas amdgcn:gfx1101") && !plain.contains('\x1b'), "{plain}");
}

const BASELINE: [&str; 4] = ["report", "images.pack", "--baseline", "kernels.toml"];

/// Replaces the pack in `dir` by one whose kernel spills so much.
fn replace_pack(dir: &Path, spilled: u32) {
    let other = with_pack(spilled);
    fs::copy(other.path().join("images.pack"), dir.join("images.pack")).unwrap();
}

#[test]
fn the_baseline_is_a_ratchet() {
    let dir = with_pack(64);
    let missing = fails(dir.path(), &BASELINE, 2);
    assert!(
        missing.contains("does not exist") && missing.contains("hint: create it with --update-baseline"),
        "{missing}"
    );
    let update = [&BASELINE[..], &["--update-baseline"]].concat();
    ok(dir.path(), &update);
    let text = fs::read_to_string(dir.path().join("kernels.toml")).unwrap();
    assert!(text.lines().any(|line| line.starts_with("\"blas stacked cubin:sm_80\" = { code = ")), "{text}");
    ok(dir.path(), &BASELINE);
    ok(dir.path(), &[&BASELINE[..], &["--exact"]].concat());

    // A pack whose kernel spills more fails, one whose kernel spills less only where that is asked for.
    replace_pack(dir.path(), 65);
    let output = offload(dir.path(), &BASELINE);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("worse: blas stacked cubin:sm_80: spilled 64 -> 65"),
        "{}",
        stdout(&output)
    );
    replace_pack(dir.path(), 8);
    assert!(ok(dir.path(), &BASELINE).contains("better: blas stacked cubin:sm_80: spilled 64 -> 8"));
    fails(dir.path(), &[&BASELINE[..], &["--exact"]].concat(), 1);
    ok(dir.path(), &update);
    replace_pack(dir.path(), 9);
    fails(dir.path(), &BASELINE, 1);
    // Nothing that did not change is written in another way.
    let changed = fs::read_to_string(dir.path().join("kernels.toml")).unwrap();
    let differing = text.lines().zip(changed.lines()).filter(|(a, b)| a != b).count();
    assert_eq!((differing, text.lines().count()), (1, changed.lines().count()));
}

#[test]
fn a_broken_baseline_is_refused() {
    let dir = with_pack(0);
    for text in ["version = 2\n", "version = 1\n", "[", "version = 1\n[kernels]\n\"a\" = { code = -1 }\n"] {
        fs::write(dir.path().join("kernels.toml"), text).unwrap();
        let message = fails(dir.path(), &BASELINE, 2);
        assert!(message.contains("is not a baseline") && message.contains("hint: "), "{message}");
    }
}

#[test]
fn the_page_has_the_data_and_nothing_else() {
    let dir = with_pack(64);
    let message = ok(dir.path(), &["report", "images.pack", "--html", "report.html"]);
    assert_eq!(message, "wrote report.html\n");
    let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
    let (_, data) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["file"], "images.pack");
    assert_eq!(data["kernels"].as_array().unwrap().len(), 4);
    // The two images that are one in the file share its bytes: the map shows what the file has.
    let stored: u64 =
        data["images"].as_array().unwrap().iter().map(|image| image["stored"].as_u64().unwrap()).sum();
    let sizes = objects(&ok(dir.path(), &["size", "images.pack", "--json"]), "summary");
    assert_eq!(sizes[0]["stored_size"], stored);
    assert_eq!([&sizes[0]["images"], &sizes[0]["equal_images"]], [4, 1]);
}

#[test]
fn names_that_are_markup_stay_text() {
    let evil = "</script><img src=x onerror=alert(1)>";
    let image =
        NewImage { kernels: vec![kernel(evil, [1, 0, 0])], ..NewImage::new("m", "spirv64".parse().unwrap()) };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("images.pack"), support::pack(vec![(image, data("import.spv"))], Codec::Raw))
        .unwrap();
    ok(dir.path(), &["report", "images.pack", "--html", "report.html"]);
    let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(!page.contains("<img") && page.matches("</script>").count() == 2);
    let comment = ok(dir.path(), &["report", "images.pack", "--format", "markdown"]);
    assert!(!comment.contains("<img") && !comment.contains("</script>"), "{comment}");
}

fn total(groups: &[Value], by: &str, field: &str) -> u64 {
    groups.iter().filter(|group| group["by"] == by).map(|group| group[field].as_u64().unwrap()).sum()
}

fn stored_change(changes: &[Value], name: &str) -> i64 {
    changes.iter().find(|change| change["name"] == name).unwrap()["stored_change"].as_i64().unwrap()
}

#[test]
fn sizes_add_up_and_compare() {
    let dir = with_pack(0);
    let printed = ok(dir.path(), &["size", "images.pack", "--json", "--alone"]);
    let groups = objects(&printed, "size");
    let summary = &objects(&printed, "summary")[0];
    for by in ["module", "target", "kernel"] {
        assert_eq!(total(&groups, by, "raw_size"), summary["raw_size"].as_u64().unwrap(), "{by}");
        // Each kernel's part is rounded down.
        let stored = summary["stored_size"].as_u64().unwrap();
        assert!(
            total(&groups, by, "stored_size") <= stored && total(&groups, by, "stored_size") + 16 > stored,
            "{by}"
        );
    }
    assert!(summary["alone_size"].as_u64().unwrap() > summary["stored_size"].as_u64().unwrap());

    let image = NewImage::new("blas", "cubin:sm_80".parse().unwrap());
    let pack = support::pack(vec![(image, data("device-12.9-sm_80.cubin"))], Codec::Raw);
    fs::write(dir.path().join("old.pack"), pack).unwrap();
    let changes =
        objects(&ok(dir.path(), &["size", "images.pack", "--compare", "old.pack", "--json"]), "size-change");
    assert!(stored_change(&changes, "cubin:sm_80") < 0 && stored_change(&changes, "intel:pvc") > 0);
}

/// Runs `asm` with a tool that a variable names.
fn asm(dir: &Path, args: &[&str], variable: (&str, &str)) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-offload"))
        .args(["offload", "asm"])
        .args(args)
        .current_dir(dir)
        .env(variable.0, variable.1)
        .output()
        .unwrap()
}

#[test]
#[cfg(unix)]
fn machine_code_is_shown_by_the_tool_of_its_maker() {
    let dir = with_pack(0);
    let tool = dir.path().join("nvdisasm");
    let rule = "//--------------------- ";
    let script =
        format!("#!/bin/sh\nprintf '{rule}.text.other --\\nMOV\\n{rule}.text.stacked --\\n\\tEXIT\\n'\n");
    program::write(&tool, script);
    let output = asm(dir.path(), &["images.pack", "stacked"], ("OFFLOAD_NVDISASM", tool.to_str().unwrap()));
    assert_eq!(stdout(&output), format!("// blas cubin:sm_80\n{rule}.text.stacked --\n        EXIT\n"));

    let output = asm(dir.path(), &["images.pack", "stacked"], ("OFFLOAD_NVDISASM", "/nonexistent/nvdisasm"));
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.contains("target `cubin:sm_80` of module `blas`: nvdisasm was not found"), "{message}");
    assert!(message.contains("hint: `cargo offload toolchain install nvdisasm`"), "{message}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_kernel_for_the_cpu_is_shown_by_its_entry() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("k.c");
    let library = dir.path().join("k.so");
    fs::write(&source, "void __offload_run_scale(void) {}\n").unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(compiled.unwrap().success());
    let kernels = vec![kernel("scale", [8, 0, 0]), kernel("gone", [8, 0, 0])];
    let image = NewImage { kernels, ..NewImage::new("blas", "host".parse().unwrap()) };
    let images = vec![(image, fs::read(&library).unwrap())];
    fs::write(dir.path().join("host.pack"), pack(images, Codec::Zstd)).unwrap();
    let tool = dir.path().join("objdump");
    program::write(&tool, "#!/bin/sh\necho; echo Disassembly of section \"$1\"\n");
    let tool = ("OFFLOAD_OBJDUMP", tool.to_str().unwrap());
    let message = stdout(&asm(dir.path(), &["host.pack", "scale"], tool));
    assert!(message.contains("section --disassemble-symbols=__offload_run_scale\n"), "{message}");
    let refused = stderr(&asm(dir.path(), &["host.pack", "gone"], tool));
    assert!(refused.contains("has no code of a kernel `gone`"));
}

#[test]
fn ptx_needs_no_tool() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("k.ptx"), data("calls.ptx")).unwrap();
    let kernels = objects(&ok(dir.path(), &["inspect", "k.ptx", "--kernels", "--json"]), "image");
    let name = kernels[0]["kernels"][0]["name"].as_str().unwrap().to_string();
    let text = ok(dir.path(), &["asm", "k.ptx", &name]);
    assert!(text.contains(&format!(".entry {name}")) && text.trim_end().ends_with('}'), "{text}");
    let message = fails(dir.path(), &["asm", "k.ptx", "nowhere"], 2);
    assert!(message.contains(&format!("hint: available kernels: {name}")), "{message}");
}

#[test]
fn devices_tell_what_each_image_is_to_them() {
    let dir = tempfile::tempdir().unwrap();
    let images = ["host", "cubin:sm_90"]
        .map(|target| (NewImage::new("blas", target.parse().unwrap()), b"code".to_vec()));
    fs::write(dir.path().join("images.pack"), support::pack(images.into(), Codec::Raw)).unwrap();
    let printed = ok(dir.path(), &["devices", "images.pack", "--json"]);
    let devices = objects(&printed, "device");
    assert_eq!((&devices[0]["driver"], &devices[0]["device"]), (&"host".into(), &0.into()));
    assert!(devices[0]["targets"].as_array().unwrap().contains(&"host".into()), "{}", devices[0]);
    let verdicts = objects(&printed, "verdict");
    let host: Vec<(&str, &str)> = verdicts
        .iter()
        .filter(|verdict| verdict["device"] == 0)
        .map(|verdict| (verdict["target"].as_str().unwrap(), verdict["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(host, [("host", "picked"), ("cubin:sm_90", "refused")]);
}

#[test]
fn builds_stand_side_by_side() {
    let dir = with_pack(64);
    let other = with_pack(8);
    let word = format!("other={}", other.path().join("images.pack").display());
    let args = ["report", "images.pack", "--for", "cubin:*", "--beside", &word];
    let text = ok(dir.path(), &args);
    let last: Vec<&str> =
        text.lines().last().unwrap().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(last[..5], ["stacked", "blas", "cubin:sm_80", "32 / 32", "64 / 8"]);
    let lines = objects(&ok(dir.path(), &[&args[..], &["--json"]].concat()), "comparison");
    assert_eq!(
        (&lines[0]["builds"][1]["label"], &lines[0]["builds"][1]["spilled"]),
        (&"other".into(), &8.into())
    );
    let comment = ok(dir.path(), &[&args[..], &["--format", "markdown"]].concat());
    assert!(comment.starts_with("### Kernels side by side\n\n| kernel | module | target |"), "{comment}");
    let row = r"| stacked | blas | cubin:sm\_80 | 32 &#47; 32 | 64 &#47; 8 | 1024 &#47; 1024 |";
    assert!(comment.contains(row), "{comment}");
    let message = fails(dir.path(), &["report", "images.pack", "--beside", &word, "--beside", &word], 2);
    assert!(message.contains("two builds have the label `other`\nhint: "), "{message}");
    let message = fails(dir.path(), &["report", "images.pack", "--beside", "no-label"], 2);
    assert!(message.contains("is not LABEL=FILE") && message.contains("hint: "), "{message}");
}

#[test]
fn a_baseline_and_a_page_go_with_builds_side_by_side() {
    let dir = with_pack(64);
    let other = with_pack(8);
    let word = format!("other={}", other.path().join("images.pack").display());
    ok(other.path(), &["report", "images.pack", "--baseline", "kernels.toml", "--update-baseline"]);
    let baseline = other.path().join("kernels.toml").display().to_string();
    let args = ["report", "images.pack", "--beside", &word, "--baseline", &baseline, "--html", "page.html"];
    let output = offload(dir.path(), &args);
    let message = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("64 / 8") && message.contains("worse: blas stacked cubin:sm_80: spilled 8 -> 64"),
        "{message}"
    );
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!((&data["build"], data["images"].as_array().unwrap().len()), (&"this".into(), 4));
    assert_eq!(data["beside"][0]["builds"][1]["label"], "other");
}

#[test]
fn what_a_matrix_cannot_mean_is_refused_with_the_reason() {
    let dir = with_pack(64);
    let matrix = ["report", "--matrix", "clang=./a,./b"];
    let message = fails(dir.path(), &[&matrix[..], &["images.pack"]].concat(), 2);
    assert!(message.contains("does not read `images.pack`\nhint: use `--beside LABEL=FILE`"), "{message}");
    let message = fails(dir.path(), &[&matrix[..], &["--baseline", "kernels.toml"]].concat(), 2);
    assert!(message.contains("applies to one build, but --matrix makes several\nhint: "), "{message}");
    let message = fails(dir.path(), &[&matrix[..], &["--beside", "a=images.pack"]].concat(), 2);
    assert!(message.contains("two builds have the label `a`"), "{message}");
}
