//! `inspect` and `extract` on packs and on the containers of other tool chains.

use std::fs;
use std::path::Path;

use crate::support::{self, data, fails, objects, ok};
use offload_containers::offload_binary::{self, NewEntry, Version};
use offload_containers::{bundle, ccob};
use offload_format::codec::Codec;
use offload_format::pack::NewImage;
use offload_format::{ImageKind, OffloadKind};

fn dir_with(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), bytes).unwrap();
    dir
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A compressed bundle with two code objects that `gfx` names.
fn compressed(gfx: [&str; 2]) -> Vec<u8> {
    let ids = gfx.map(|gfx| format!("hipv4-amdgcn-amd-amdhsa--{gfx}"));
    let first = data("device-gfx1100.co");
    let second = data("device-gfx906.co");
    let images = [
        bundle::BundleImage { id: "host-x86_64-unknown-linux-gnu-", bytes: b"" },
        bundle::BundleImage { id: &ids[0], bytes: &first },
        bundle::BundleImage { id: &ids[1], bytes: &second },
    ];
    ccob::write(&bundle::write(&images, bundle::HIP_ALIGN).unwrap(), ccob::Version::V2, 19).unwrap()
}

#[test]
fn a_compressed_bundle_is_listed_and_extracted() {
    let dir = dir_with("k.hipfb", &compressed(["gfx1100", "gfx906:sramecc-:xnack-"]));
    let images = objects(&ok(dir.path(), &["inspect", "k.hipfb", "--json"]), "image");
    let targets: Vec<&str> = images.iter().map(|image| image["target"].as_str().unwrap()).collect();
    assert_eq!(targets, ["amdgcn:gfx1100", "amdgcn:gfx906:sramecc-:xnack-"]);
    assert_eq!(images[0]["containers"], serde_json::json!(["compressed clang offload bundle"]));
    assert_eq!(images[0]["raw_size"], data("device-gfx1100.co").len());
    assert!(images[0]["kernels"].is_null() && images[0]["hash"].is_null());

    let images = objects(&ok(dir.path(), &["inspect", "k.hipfb", "--json", "--kernels"]), "image");
    let kernel = &images[1]["kernels"][0];
    assert!(kernel["name"].is_string() && kernel["registers"].as_u64().unwrap() > 0, "{kernel}");

    ok(dir.path(), &["extract", "k.hipfb"]);
    let out = dir.path().join("k.hipfb.images");
    assert_eq!(names(&out), ["k.amdgcn-gfx1100.co", "k.amdgcn-gfx906-sramecc--xnack-.co"]);
    assert_eq!(fs::read(out.join("k.amdgcn-gfx1100.co")).unwrap(), data("device-gfx1100.co"));
    assert_eq!(fs::read(out.join("k.amdgcn-gfx906-sramecc--xnack-.co")).unwrap(), data("device-gfx906.co"));

    ok(dir.path(), &["extract", "k.hipfb", "--stored", "--output", "stored"]);
    assert_eq!(names(&dir.path().join("stored")), ["k.hipfb"]);
    assert_eq!(
        fs::read(dir.path().join("stored/k.hipfb")).unwrap(),
        fs::read(dir.path().join("k.hipfb")).unwrap()
    );
}

/// Images that lie in the file as they are are copied by the kernel where they start at a page, and read elsewhere.
#[test]
fn plain_images_are_copied_wherever_they_start() {
    let images: Vec<(String, Vec<u8>)> = (0..12)
        .map(|number| {
            let id = format!("hipv4-amdgcn-amd-amdhsa--gfx{}", 900 + number);
            (id, vec![number as u8 + 1; 40_000 * number + 70_001])
        })
        .collect();
    let entries: Vec<_> = images.iter().map(|(id, bytes)| bundle::BundleImage { id, bytes }).collect();
    for align in [8, bundle::HIP_ALIGN] {
        let dir = dir_with("k.hipfb", &bundle::write(&entries, align).unwrap());
        let extracted = objects(&ok(dir.path(), &["extract", "k.hipfb", "-o", "out", "--json"]), "extracted");
        assert_eq!(extracted.len(), images.len());
        for (image, (id, bytes)) in extracted.iter().zip(&images) {
            let target = image["target"].as_str().unwrap();
            assert!(id.ends_with(target.trim_start_matches("amdgcn:")), "{image} instead of {id}");
            assert!(fs::read(dir.path().join(image["file"].as_str().unwrap())).unwrap() == *bytes, "{image}");
            assert_eq!(image["size"], bytes.len());
        }
        assert_eq!(names(&dir.path().join("out")).len(), images.len(), "temporary files are left");
    }
}

#[test]
fn every_container_of_the_samples_is_extracted() {
    for (file, expected) in [
        ("stored.fatbin", 4),
        ("zstd.fatbin", 4),
        ("lz4.fatbin", 4),
        ("group.fatbin", 4),
        ("two.ocloc", 3),
        ("stored.kpack", 3),
        ("zstd.kpack", 3),
        ("saxpy-reduce.zebin", 1),
        ("saxpy-reduce.spv", 1),
        ("device-gfx1100.co", 1),
    ] {
        let dir = dir_with(file, &data(file));
        ok(dir.path(), &["extract", file, "--output", "out"]);
        let images = names(&dir.path().join("out"));
        assert_eq!(images.len(), expected, "{file}: {images:?}");
        // Whatever method compressed them, the images are the same.
        if file.ends_with(".fatbin") {
            let cubin = fs::read(dir.path().join("out").join(&images[0])).unwrap();
            assert_eq!(cubin, first_stored(), "{file}");
        }
    }
}

/// The cubin for `sm_100f` of `stored.fatbin`.
fn first_stored() -> Vec<u8> {
    let file = data("stored.fatbin");
    let limits = offload_format::Limits::default();
    let read = offload_containers::fatbin::parse(&file, &limits).unwrap();
    let entry = read.entries.iter().find(|entry| entry.record.arch() == "sm_100f").unwrap();
    entry.image(&limits).unwrap().into_owned()
}

#[test]
fn names_in_a_file_do_not_lead_out_of_the_directory() {
    let dir = dir_with("k.hipfb", &compressed(["../../../evil", "/tmp/evil"]));
    ok(dir.path(), &["extract", "k.hipfb", "--output", "inner/out"]);
    assert_eq!(names(&dir.path().join("inner")), ["out"]);
    assert_eq!(names(dir.path()), ["inner", "k.hipfb"]);
    assert_eq!(names(&dir.path().join("inner/out")).len(), 2);
}

/// Paths, names of devices, control characters, and what else does harm in a path, on a terminal or in JSON.
fn hostile_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "..",
        ".",
        "../x",
        "../../../../tmp/x",
        "/etc/passwd",
        "//host/share",
        "\\\\host\\share",
        "C:\\x",
        "C:x",
        "~/x",
        "-rf",
        "--output=/tmp",
        "$HOME",
        "$(id)",
        "`id`",
        "a;b",
        "a|b",
        "a&b",
        "*",
        "?",
        "<x>",
        "\"",
        "'",
        "\\",
        "%s%n",
        "{}",
        "name ",
        "name.",
        "name..",
        " ",
        "a/b/../../c",
        "a\\..\\b",
        "./x",
        "..\\x",
        "x/",
        "con",
        "CON",
        "nul.txt",
        "aux",
        "lpt1",
        "COM9",
        "\u{1b}[31mred",
        "\u{1b}]0;title\u{7}",
        "\u{1b}[2J",
        "\r\nwarning: x",
        "a\nb",
        "a\tb",
        "\u{7f}",
        "\u{9b}31m",
        "\u{85}",
        "\u{2028}",
        "\u{202e}gnp",
        "\u{2066}x",
        "\u{2069}",
        "\u{feff}",
        "\u{200b}",
        "\u{e000}",
        "\u{fffd}",
        "\u{10ffff}",
        "e\u{301}",
        "\u{e9}",
        "case",
        "CASE",
        "Case",
        "cargo::rustc-link-arg=x",
        "\ncargo::warning=x",
    ]
    .map(str::to_string)
    .into();
    names.extend((1u8..20).map(|byte| format!("c{}c", char::from(byte))));
    names.push("x".repeat(5000));
    names
}

#[test]
fn hostile_names_do_no_harm_in_paths_terminals_and_json() {
    let names_in_file = hostile_names();
    assert!(names_in_file.len() >= 80, "{}", names_in_file.len());
    let spirv = data("import.spv");
    let entries: Vec<_> = names_in_file
        .iter()
        .map(|name| NewEntry::new(ImageKind::SpirV, OffloadKind::OpenMp, &spirv).with_string("triple", name))
        .collect();
    let dir = dir_with("k.offload", &offload_binary::write(&entries, Version::V2).unwrap());
    for args in
        [&["inspect", "k.offload"][..], &["verify", "k.offload"], &["extract", "k.offload", "-o", "a/b"]]
    {
        let message = ok(dir.path(), args);
        let harmful =
            |c: &char| c.is_control() && *c != '\n' || "\u{202e}\u{2066}\u{2069}\u{2028}".contains(*c);
        assert_eq!(message.chars().find(harmful), None, "{args:?}");
        assert!(
            !message.lines().any(|line| line.starts_with("warning") || line.starts_with("cargo:")),
            "{args:?}"
        );
    }
    assert_eq!(
        (names(dir.path()), names(&dir.path().join("a"))),
        (vec!["a".into(), "k.offload".into()], vec!["b".into()])
    );
    let written = names(&dir.path().join("a/b"));
    assert_eq!(written.len(), names_in_file.len());
    assert!(
        written.iter().all(|name| name.len() <= 255
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-+=.".contains(c))),
        "{written:?}"
    );
    let labels: Vec<String> = objects(&ok(dir.path(), &["inspect", "k.offload", "--json"]), "image")
        .iter()
        .map(|image| image["label"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(labels, names_in_file);
}

#[cfg(unix)]
#[test]
fn a_link_is_replaced_and_not_followed() {
    let dir = dir_with("k.spv", &data("saxpy-reduce.spv"));
    fs::write(dir.path().join("kept"), "mine").unwrap();
    std::os::unix::fs::symlink("kept", dir.path().join("k.spirv64.spv")).unwrap();
    let args = ["extract", "k.spv", "--output", "."];
    fails(dir.path(), &args, 2);
    ok(dir.path(), &[&args[..], &["--force"]].concat());
    assert_eq!(fs::read(dir.path().join("kept")).unwrap(), b"mine");
    assert_eq!(fs::read(dir.path().join("k.spirv64.spv")).unwrap(), data("saxpy-reduce.spv"));
}

#[test]
fn existing_files_are_kept_unless_forced() {
    let dir = dir_with("k.spv", &data("saxpy-reduce.spv"));
    let args = ["extract", "k.spv", "--output", "."];
    fs::write(dir.path().join("k.spirv64.spv"), "mine").unwrap();
    let message = fails(dir.path(), &args, 2);
    assert!(
        message.contains("exists") && message.contains("hint: ") && message.contains("--force"),
        "{message}"
    );
    assert_eq!(fs::read(dir.path().join("k.spirv64.spv")).unwrap(), b"mine");
    ok(dir.path(), &[&args[..], &["--force"]].concat());
    assert_eq!(fs::read(dir.path().join("k.spirv64.spv")).unwrap(), data("saxpy-reduce.spv"));
}

fn image(module: &str, target: &str) -> NewImage {
    NewImage::new(module, target.parse().unwrap())
}

#[test]
fn images_of_a_pack_are_chosen_by_target_and_module() {
    let images = vec![
        (image("blas", "spirv64"), data("saxpy-reduce.spv")),
        (image("blas", "cubin:sm_80"), data("device-12.9-sm_80.cubin")),
        (image("fft", "spirv64"), data("import.spv")),
    ];
    let dir = dir_with("images.pack", &support::pack(images, Codec::Zstd));
    ok(dir.path(), &["extract", "images.pack", "--for", "all-nvidia", "-o", "one"]);
    assert_eq!(names(&dir.path().join("one")), ["blas.cubin-sm_80.cubin"]);
    ok(dir.path(), &["extract", "images.pack", "--module", "f*", "-o", "two"]);
    assert_eq!(fs::read(dir.path().join("two/fft.spirv64.spv")).unwrap(), data("import.spv"));
    let message = fails(dir.path(), &["extract", "images.pack", "--for", "intel:*", "-o", "none"], 2);
    assert!(
        message.contains("hint: available images: blas cubin:sm_80, blas spirv64, fft spirv64"),
        "{message}"
    );
    assert!(!dir.path().join("none").exists());

    ok(dir.path(), &["extract", "images.pack", "--stored", "--module", "fft", "-o", "stored"]);
    let frame = fs::read(dir.path().join("stored/fft.spirv64.zst")).unwrap();
    assert_eq!(zstd_content(&frame), data("import.spv"));
}

/// What the frame of one image holds, by way of a container that is nothing but a frame.
fn zstd_content(frame: &[u8]) -> Vec<u8> {
    let limits = offload_format::Limits::default();
    let images = offload_containers::contents::images(frame, &limits).unwrap();
    images[0].decode(&limits).unwrap().into_owned()
}

#[test]
fn a_damaged_image_is_told_and_the_others_are_written() {
    let mut file = data("zstd.fatbin");
    let limits = offload_format::Limits::default();
    let at = {
        let read = offload_containers::fatbin::parse(&file, &limits).unwrap();
        let stored = read.entries[0].stored;
        stored.as_ptr() as usize - file.as_ptr() as usize + stored.len() / 2
    };
    // The frame has no checksum: only enough damage is found.
    file[at..at + 400].fill(0xff);
    let dir = dir_with("k.fatbin", &file);
    let output = support::offload(dir.path(), &["extract", "k.fatbin", "--output", "out"]);
    let message = support::stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("error: image cubin:sm_80 of k: ") && message.contains("\n3 files, "),
        "{message}"
    );
    assert_eq!(names(&dir.path().join("out")).len(), 3);
}

#[test]
fn verify_decodes_every_image_of_other_tool_chains() {
    for (file, images, kinds) in [
        ("stored.fatbin", 4, "CUDA fatbin"),
        ("zstd.fatbin", 4, "CUDA fatbin"),
        ("lz4.fatbin", 4, "CUDA fatbin"),
        ("group.fatbin", 4, "CUDA fatbin"),
        ("two.ocloc", 3, "ocloc archive"),
        ("device-gfx1100.co", 1, "AMD code object"),
    ] {
        let dir = dir_with(file, &data(file));
        let printed = ok(dir.path(), &["verify", file, "--json"]);
        let container = &objects(&printed, "container")[0];
        assert_eq!(
            (&container["images"], &container["kind"]),
            (&images.into(), &kinds.into()),
            "{container}"
        );
        assert!(container["kernels"].as_u64().unwrap() > 0, "{file}: {container}");
        assert_eq!(objects(&printed, "verified").len(), images, "{file}");
        assert_eq!(objects(&printed, "summary")[0]["images"], images, "{file}");
    }
}

#[test]
fn verify_tells_an_image_of_another_machine() {
    let dir = dir_with("k.hipfb", &compressed(["gfx1101", "gfx906:sramecc-:xnack-"]));
    let output = support::offload(dir.path(), &["verify", "k.hipfb"]);
    let message = support::stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("error: k amdgcn:gfx1101: the image is for amdgcn:gfx1100\n"), "{message}");
    assert!(message.ends_with("2 images verified, 1 problem\n"), "{message}");
}

#[test]
fn verify_decodes_containers_and_says_what_it_compared() {
    let mut file = compressed(["gfx1100", "gfx906:sramecc-:xnack-"]);
    let dir = dir_with("k.hipfb", &file);
    let message = ok(dir.path(), &["verify", "k.hipfb"]);
    assert!(message.contains("ok: k amdgcn:gfx1100 3 kernels, MD5 compared\n"), "{message}");
    assert!(message.ends_with("2 images verified, 0 problems\n"), "{message}");

    fs::write(dir.path().join("a.fatbin"), data("zstd.fatbin")).unwrap();
    let verified = objects(&ok(dir.path(), &["verify", "a.fatbin", "--json"]), "verified");
    assert!(
        verified.len() == 4 && verified.iter().all(|it| it["checksum"].is_null() && it["problem"].is_null())
    );

    // The recorded MD5: the frame itself is as it was.
    file[16] ^= 1;
    fs::write(dir.path().join("k.hipfb"), &file).unwrap();
    let output = support::offload(dir.path(), &["verify", "k.hipfb"]);
    assert_eq!(output.status.code(), Some(1));
    let message = support::all_output(&output);
    assert!(
        message.contains("error: k amdgcn:gfx906:sramecc-:xnack-: ") && message.contains("2 problems"),
        "{message}"
    );
}

fn targets(images: &[serde_json::Value]) -> Vec<String> {
    images.iter().map(|image| image["target"].to_string()).collect()
}

/// A library with images among its constants; the sections have names that no tool chain gives to images.
#[test]
fn images_outside_of_the_known_sections_are_found_on_demand() {
    let constants = b"constants, and then images: 32 b";
    let images = [&constants[..], &data("zstd.fatbin")].concat();
    let mut library = fs::read(env!("CARGO_BIN_EXE_cargo-offload")).unwrap();
    library.resize(library.len().next_multiple_of(64), 0);
    library.extend_from_slice(&images);
    let dir = dir_with("library", &library);
    let message = fails(dir.path(), &["inspect", "library"], 1);
    assert!(
        message.contains("none in the known sections") && message.contains("inspect --deep"),
        "{message}"
    );
    let listed = objects(&ok(dir.path(), &["inspect", "library", "--deep", "--json"]), "image");
    let whole = dir_with("k.fatbin", &data("zstd.fatbin"));
    let expected = objects(&ok(whole.path(), &["inspect", "k.fatbin", "--json"]), "image");
    assert_eq!(targets(&listed), targets(&expected));
    let verified = ok(dir.path(), &["verify", "library", "--deep"]);
    assert!(
        verified.contains(&format!("{} images verified, 0 problems", expected.len()))
            || verified.contains("1 image verified, 0 problems"),
        "{verified}"
    );
    let sizes = objects(&ok(dir.path(), &["size", "library", "--deep", "--json"]), "summary");
    assert_eq!(sizes[0]["images"], expected.len());
    ok(dir.path(), &["extract", "library", "--deep", "-o", "out"]);
    assert_eq!(names(&dir.path().join("out")).len(), expected.len());

    let nothing = dir_with("library", &fs::read(env!("CARGO_BIN_EXE_cargo-offload")).unwrap());
    let message = fails(nothing.path(), &["inspect", "library", "--deep"], 1);
    assert!(message.contains("no known image or container in `library`"), "{message}");
}
