//! `compression --on` files of other tool chains: what their images would take.

use std::fs;
use std::path::Path;

use crate::support::archive::{Member, Method, zip};
use crate::support::{self, data, dir_with, fails, hip, objects, ok};
use serde_json::Value;

const MODES: [&str; 5] = ["none", "fast", "balanced", "max", "archive"];

/// What it says of the file as it is, and the sizes by mode.
fn tried(dir: &Path, file: &str) -> (Value, Vec<u64>) {
    let message = ok(dir, &["compression", "--on", file, "--json"]);
    let rows = objects(&message, "compression-mode");
    let modes: Vec<&str> = rows.iter().map(|row| row["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, MODES, "{file}");
    let sizes = rows.iter().map(|row| row["stored_size"].as_u64().unwrap()).collect();
    (objects(&message, "compression-today").remove(0), sizes)
}

/// Bytes of all files that `extract` writes.
fn extracted(dir: &Path, file: &str) -> u64 {
    let message = ok(dir, &["extract", file, "-o", "out", "--json"]);
    objects(&message, "summary")[0]["size"].as_u64().unwrap()
}

#[test]
fn images_of_every_container_are_tried() {
    for (name, bytes, container) in [
        ("k.hipfb", hip(), "compressed clang offload bundle (zstd)"),
        ("stored.fatbin", data("stored.fatbin"), "CUDA fatbin"),
        ("lz4.fatbin", data("lz4.fatbin"), "CUDA fatbin (lz4)"),
        ("group.fatbin", data("group.fatbin"), "CUDA fatbin (zstd)"),
        ("two.ocloc", data("two.ocloc"), "ocloc archive"),
        ("two.offload", data("two.offload"), "OffloadBinary"),
        ("zstd.kpack", data("zstd.kpack"), "kpack (zstd)"),
        ("saxpy.spv", data("saxpy-reduce.spv"), "files of their own"),
        ("device.co", data("device-gfx1100.co"), "files of their own"),
    ] {
        let dir = dir_with(name, &bytes);
        let (today, sizes) = tried(dir.path(), name);
        let size = &objects(&ok(dir.path(), &["size", name, "--json"]), "summary")[0];
        assert_eq!(today["stored_size"], size["stored_size"], "{name}");
        assert_eq!(today["images"], size["images"], "{name}");
        assert_eq!(today["raw_size"], extracted(dir.path(), name), "{name}");
        let containers = today["containers"].as_array().unwrap();
        assert!(containers.contains(&container.into()), "{name}: {containers:?}");
        assert!(sizes[2] <= sizes[0], "{name}: {sizes:?}");
        // The images of one sample are a few bytes.
        let raw = today["raw_size"].as_u64().unwrap();
        assert!(raw < 1000 || sizes[2] < raw, "{name}: {sizes:?}");
    }
}

#[test]
fn people_see_what_the_file_has_today_beside_each_mode() {
    let dir = dir_with("stored.fatbin", &data("stored.fatbin"));
    let message = ok(dir.path(), &["compression", "--on", "stored.fatbin"]);
    let first: Vec<&str> = message.lines().take(3).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(first, ["mode", "current", "none"], "{message}");
    assert!(message.contains("\nstored in: CUDA fatbin"), "{message}");
}

#[test]
fn images_of_all_members_of_a_wheel_are_tried() {
    let hip = hip();
    let fatbin = data("zstd.fatbin");
    // The start of a program: one that has no images, and one that is cut.
    let program = fs::read(env!("CARGO_BIN_EXE_cargo-offload")).unwrap();
    let program = &program[..64 << 10];
    let wheel = zip(&[
        Member { name: "x/__init__.py", content: b"import x\n", method: Method::Deflated },
        Member { name: "x/empty", content: b"", method: Method::Stored },
        Member { name: "x/lib/k.hipfb", content: &hip, method: Method::Deflated },
        Member { name: "x/no-images.so", content: program, method: Method::Deflated },
        Member { name: "x/k.fatbin", content: &fatbin, method: Method::Stored },
    ]);
    let dir = dir_with("x-1.0-py3-none-any.whl", &wheel);
    let (today, sizes) = tried(dir.path(), "x-1.0-py3-none-any.whl");
    fs::write(dir.path().join("k.hipfb"), &hip).unwrap();
    fs::write(dir.path().join("k.fatbin"), &fatbin).unwrap();
    let alone = ["k.hipfb", "k.fatbin"].map(|file| tried(dir.path(), file).0);
    for field in ["images", "stored_size", "raw_size"] {
        let sum: u64 = alone.iter().map(|today| today[field].as_u64().unwrap()).sum();
        assert_eq!(today[field], sum, "{field}");
    }
    assert!(sizes[3] < sizes[0], "{sizes:?}");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

/// Two members, the second by `method`.
fn members<'t>(hip: &'t [u8], fatbin: &'t [u8], method: Method) -> [Member<'t>; 2] {
    [
        Member { name: "whole.hipfb", content: hip, method: Method::Stored },
        Member { name: "bad\u{1b}.fatbin", content: fatbin, method },
    ]
}

#[test]
fn damaged_members_are_told_and_left_out() {
    let hip = hip();
    let fatbin = data("zstd.fatbin");
    let mut wheel = zip(&members(&hip, &fatbin, Method::Stored));
    // In the second member: it is as large as its record says, and its sum is another.
    let at = wheel.windows(8).rposition(|bytes| *bytes == fatbin[fatbin.len() - 8..]).unwrap();
    wheel[at] ^= 1;
    for (wheel, problem) in
        [(wheel, "checksum"), (zip(&members(&hip, &fatbin, Method::Unknown)), "method 99")]
    {
        let dir = dir_with("x.whl", &wheel);
        let output = support::offload(dir.path(), &["compression", "--on", "x.whl", "--json"]);
        let message = support::stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        let failed = objects(&message, "failed");
        let problem_text = failed[0]["problem"].as_str().unwrap();
        assert!(
            problem_text.contains("`bad\\u{1b}.fatbin` in `x.whl`") && problem_text.contains(problem),
            "{problem_text}"
        );
        assert_eq!(objects(&message, "compression-today")[0]["images"], 2);
        assert_eq!(objects(&message, "compression-mode").len(), 5);
    }
}

#[test]
fn archives_without_images_and_damaged_archives_are_refused() {
    let text = Member { name: "x.py", content: b"print()", method: Method::Deflated };
    let whole = zip(&[text]);
    let cut = &whole[..whole.len() - 30];
    for (bytes, expected) in [(&whole[..], "has no device images\nhint: "), (cut, "damaged zip archive")] {
        let dir = dir_with("x.whl", bytes);
        let message = fails(dir.path(), &["compression", "--on", "x.whl"], 1);
        assert!(message.contains(expected), "{message}");
    }
}

/// Nulls, which start like a program: 16 MiB of them take 16 KiB.
#[test]
fn members_that_inflate_out_of_proportion_are_refused() {
    let mut content = data("device-gfx1100.co");
    content.resize(20 << 20, 0);
    let dir =
        dir_with("x.whl", &zip(&[Member { name: "x.so", content: &content, method: Method::Deflated }]));
    let message = fails(dir.path(), &["compression", "--on", "x.whl"], 1);
    assert!(message.contains("`x.so` in `x.whl`") && message.contains("--limit SIZE"), "{message}");
    ok(dir.path(), &["compression", "--on", "x.whl", "--limit", "32MiB"]);
}
