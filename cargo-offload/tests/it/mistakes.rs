//! Mistakes of users, and the messages for them.

use std::fs;

use crate::support::{self, fails, kernel, ok, pack, stderr, stdout, without_tools};
use offload_format::codec::Codec;

#[test]
fn a_file_that_carries_nothing_is_told_from_one_that_cannot() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::create_dir(dir.join("some directory")).unwrap();
    fs::write(dir.join("empty"), "").unwrap();
    fs::write(dir.join("text"), "nothing of the kind").unwrap();
    fs::copy(env!("CARGO_BIN_EXE_cargo-offload"), dir.join("program")).unwrap();
    for command in ["inspect", "verify", "report", "size", "extract"] {
        let directory = fails(dir, &[command, "some directory"], 3);
        assert_eq!(directory, "error: cannot open `some directory`: it is a directory\n");
        assert_eq!(fails(dir, &[command, "empty"], 1), "error: `empty` is empty\n");
        let text = fails(dir, &[command, "text"], 1);
        assert!(text.contains("`text` has no device images\nhint: it is not a program"), "{text}");
        let program = fails(dir, &[command, "program"], 1);
        assert!(program.contains("`program` has no device images\nhint: a crate's kernels"), "{program}");
    }
    assert!(!dir.join("empty.images").exists());
}

#[test]
fn what_cannot_be_written_is_named_without_what_is_in_between() {
    let dir = support::with_pack(64);
    let message = fails(dir.path(), &["report", "images.pack", "--html", "no/where.html"], 3);
    assert_eq!(
        message,
        "error: cannot write `no/where.html`: there is no directory `no`\nhint: create it first\n"
    );
    let message = fails(dir.path(), &["report", "images.pack", "--html", "."], 3);
    assert_eq!(message, "error: cannot write `.`: it is a directory\n");
}

#[test]
fn what_was_asked_for_and_is_not_there_is_repeated() {
    let dir = support::with_pack(64);
    let message = fails(dir.path(), &["inspect", "images.pack", "--for", "host"], 2);
    assert!(
        message.starts_with("error: no image matches `--for host`\nhint: available images: blas "),
        "{message}"
    );
    let message = fails(dir.path(), &["size", "images.pack", "--module", "gone", "--for", "all-amd"], 2);
    assert!(message.starts_with("error: no image matches `--for all-amd`, `--module gone`\n"), "{message}");
}

#[test]
fn cargo_s_own_words_tell_of_a_missing_project() {
    let dir = tempfile::tempdir().unwrap();
    let message = fails(dir.path(), &["inspect"], 2);
    assert!(message.starts_with("error: could not find `Cargo.toml` in "), "{message}");
    assert!(message.ends_with("\nhint: name a file, or the manifest with --manifest-path\n"), "{message}");
    let message = fails(dir.path(), &["vendor", "--manifest-path", "gone/Cargo.toml"], 2);
    assert_eq!(message, "error: manifest path `gone/Cargo.toml` does not exist\n");
}

#[test]
fn without_a_configuration_the_defaults_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let listed = support::offload(dir.path(), &["targets", "--json"]);
    let targets = support::objects(&stdout(&listed), "target");
    let names: Vec<&str> = targets.iter().map(|target| target["target"].as_str().unwrap()).collect();
    assert_eq!(names, ["host", "spirv64"]);
    assert!(stderr(&listed).starts_with("no offload.toml found, listing the default targets"));
    assert!(ok(dir.path(), &["compression", "--setting"]).contains("\"none\" in others (default)"));
    // An empty list is one.
    fs::write(dir.path().join("offload.toml"), "targets = []\n").unwrap();
    assert!(support::objects(&ok(dir.path(), &["targets", "--json"]), "target").is_empty());
    let message = fails(tempfile::tempdir().unwrap().path(), &["targets", "add", "host"], 2);
    assert!(message.contains("run `cargo offload init` to create one"), "{message}");
}

/// A kernel in an image that no tool is there for, in PTX, and in source that brings other kernels.
#[test]
fn an_image_that_cannot_be_shown_does_not_hide_the_others() {
    let ptx = ".version 7.0\n.target sm_80\n.visible .entry scale()\n{\n\tret;\n}\n.entry other()\n{\n}\n";
    let source = "__kernel void other(int n) {\n}\n__kernel void scale(int n) {\n  if (n) {\n  }\n}\n";
    let kernels = vec![kernel("scale", [8, 0, 0])];
    let images = vec![
        (support::image("blas", "host", kernels.clone()), b"not decoded".to_vec()),
        (support::image("blas", "cubin:sm_80", kernels.clone()), support::data("device-12.9-sm_80.cubin")),
        (support::image("blas", "nvptx:sm_80", kernels.clone()), ptx.as_bytes().to_vec()),
        (support::image("blas", "opencl-c", kernels.clone()), source.as_bytes().to_vec()),
    ];
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("images.pack"), pack(images, Codec::Zstd)).unwrap();
    let output = without_tools(dir.path(), &["asm", "images.pack", "scale"]).output().unwrap();
    let message = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("// blas nvptx:sm_80\n.visible .entry scale()\n{\n        ret;\n}\n"),
        "{message}"
    );
    assert!(
        message.contains("// blas opencl-c\n__kernel void scale(int n) {\n  if (n) {\n  }\n}\n"),
        "{message}"
    );
    assert!(!message.contains("other"), "{message}");
    // Devices come first, and the CPU's code only where it is asked for.
    assert!(
        message.find("blas nvptx") < message.find("blas opencl-c") && !message.contains("`host`"),
        "{message}"
    );
    assert!(message.contains("\n// CPU code is omitted; use --for host to show it\n"), "{message}");
    let cpu = without_tools(dir.path(), &["asm", "images.pack", "scale", "--for", "host"]).output().unwrap();
    assert!(!stdout(&cpu).contains("is omitted"), "{}", stdout(&cpu));
    assert!(message.contains("unreadable: target `cubin:sm_80` of module `blas`: "), "{message}");
    let only = without_tools(dir.path(), &["asm", "images.pack", "scale", "--for", "cubin:sm_80"]);
    let only = { only }.output().unwrap();
    assert!(stderr(&only).starts_with("error: target `cubin:sm_80`") && only.status.code() == Some(1));
}

#[test]
fn files_that_exist_are_kept_unless_forced() {
    let dir = support::with_pack(64);
    let mine = dir.path().join("mine");
    fs::write(&mine, "mine").unwrap();
    let export = ["export", "images.pack", "--format", "raw", "--target", "intel:pvc", "-o", "mine"];
    let message = fails(dir.path(), &export, 2);
    assert!(message.starts_with("error: `mine` exists\nhint: ") && message.contains("--force"), "{message}");
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    // What is the same is nothing to lose.
    for more in [&["--force"][..], &[]] {
        ok(dir.path(), &[&export[..], more].concat());
        assert_eq!(fs::read(&mine).unwrap(), support::data("saxpy-reduce.zebin"));
    }

    // A page is written again and again, over a page.
    fs::write(&mine, "mine").unwrap();
    let message = fails(dir.path(), &["report", "images.pack", "--html", "mine"], 2);
    assert!(message.starts_with("error: `mine` exists and is not a page\nhint: "), "{message}");
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    for _ in 0..2 {
        ok(dir.path(), &["report", "images.pack", "--html", "page.html"]);
    }
    // So is a baseline, damaged or not.
    let update = ["report", "images.pack", "--update-baseline", "--baseline"];
    let message = fails(dir.path(), &[&update[..], &["mine"]].concat(), 2);
    assert!(message.starts_with("error: `mine` exists and is not a baseline\nhint: "), "{message}");
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    let baseline = dir.path().join("baseline");
    ok(dir.path(), &[&update[..], &["baseline"]].concat());
    let written = fs::read_to_string(&baseline).unwrap();
    fs::write(&baseline, format!("{written}<<<<<<<")).unwrap();
    ok(dir.path(), &[&update[..], &["baseline"]].concat());
    assert_eq!(fs::read_to_string(&baseline).unwrap(), written);
}

#[test]
fn a_manual_is_written_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let man = ["man", "--directory", "man"];
    ok(dir.path(), &man);
    ok(dir.path(), &man);
    let pages = dir.path().join("man");
    fs::write(pages.join("cargo-offload-verify.1"), "mine").unwrap();
    fs::remove_file(pages.join("cargo-offload.1")).unwrap();
    let message = fails(dir.path(), &man, 2);
    assert!(message.starts_with("error: `man/cargo-offload-verify.1` exists\nhint: "), "{message}");
    assert!(!pages.join("cargo-offload.1").exists());
    ok(dir.path(), &[&man[..], &["--force"]].concat());
    assert!(pages.join("cargo-offload.1").exists());
    assert_ne!(fs::read(pages.join("cargo-offload-verify.1")).unwrap(), b"mine");
}

/// As root a device would become a file.
#[cfg(unix)]
#[test]
fn a_name_that_is_not_that_of_a_file_is_kept() {
    let dir = support::with_pack(64);
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
    let export = ["export", "images.pack", "--format", "raw", "--target", "intel:pvc", "--force", "-o"];
    let message = fails(dir.path(), &[&export[..], &["socket"]].concat(), 3);
    assert_eq!(message, "error: cannot write `socket`: it is not a file\n");
}
