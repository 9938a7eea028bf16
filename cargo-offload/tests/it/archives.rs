//! Archives, as input of commands that show and of commands that write.

use std::fs;

use crate::support::archive::{Member, Method, gzip, tar, zip};
use crate::support::{self, all_output, data, dir_with, fails, objects, ok, stdout};
use offload_containers::{bundle, ccob, fatbin};
use offload_format::Limits;

fn cubin() -> Vec<u8> {
    data("device-12.9-sm_80.cubin")
}

/// A compressed bundle with two code objects.
fn hip() -> Vec<u8> {
    let first = data("device-gfx1100.co");
    let second = data("device-gfx906.co");
    let images = [
        bundle::BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx1100", bytes: &first },
        bundle::BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx906:sramecc-:xnack-", bytes: &second },
    ];
    ccob::write(&bundle::write(&images, bundle::HIP_ALIGN).unwrap(), ccob::Version::V2, 3).unwrap()
}

/// A wheel with a cubin and a bundle of two code objects.
fn wheel() -> Vec<u8> {
    zip(&[
        Member { name: "x/__init__.py", content: b"import x\n", method: Method::Deflated },
        Member { name: "x/k.cubin", content: &cubin(), method: Method::Deflated },
        Member { name: "x/k.hipfb", content: &hip(), method: Method::Stored },
    ])
}

#[test]
fn every_command_that_shows_reads_archives() {
    let layer = gzip(&tar(&[("opt/x.whl", &wheel()), ("etc/passwd", b"root")]));
    for (name, content) in [("x.whl", wheel()), ("layer.tar.gz", layer)] {
        let dir = dir_with(name, &content);
        let inspected = ok(dir.path(), &["inspect", "--json", name]);
        let images = objects(&inspected, "image");
        assert_eq!(images.len(), 3, "{inspected}");
        assert!(images.iter().all(|image| image["file"].as_str().unwrap().contains(": x/k.")), "{inspected}");
        assert_eq!(objects(&inspected, "file").len(), 2);
        let one = ok(dir.path(), &["inspect", "--json", name, "--for", "cubin:sm_80"]);
        assert_eq!((objects(&one, "image").len(), objects(&one, "file").len()), (1, 1), "{one}");
        assert!(fails(dir.path(), &["inspect", name, "--for", "host"], 2).contains("hint: "));

        let verified = ok(dir.path(), &["verify", "--json", name]);
        assert_eq!(objects(&verified, "verified").len(), 3, "{verified}");
        let summary = &objects(&verified, "summary")[0];
        assert_eq!((&summary["images"], &summary["problems"]), (&3.into(), &0.into()));

        let sizes = ok(dir.path(), &["size", "--json", name]);
        assert_eq!(objects(&sizes, "summary")[0]["images"], 3, "{sizes}");
        let kernels = objects(&ok(dir.path(), &["report", "--json", name]), "kernel");
        assert!(kernels.iter().any(|kernel| kernel["module"].as_str().unwrap().ends_with("x/k.cubin: k")));

        let extracted = objects(&ok(dir.path(), &["extract", "--json", name, "-o", "out"]), "extracted");
        let files: Vec<&str> = extracted.iter().map(|image| image["file"].as_str().unwrap()).collect();
        assert_eq!(files.len(), 3, "{files:?}");
        let sizes = files.iter().map(|file| fs::metadata(dir.path().join(file)).unwrap().len());
        assert_eq!(
            sizes.max(),
            Some(cubin().len() as u64)
                .max(Some(data("device-gfx906.co").len() as u64))
                .max(Some(data("device-gfx1100.co").len() as u64))
        );
    }
}

#[test]
fn what_one_command_cannot_read_another_one_can() {
    let dir = dir_with("x.whl", &wheel());
    fs::write(dir.path().join("thin.a"), b"!<thin>\n").unwrap();
    fs::write(dir.path().join("k.hipfb"), hip()).unwrap();
    fs::write(
        dir.path().join("x.zip"),
        zip(&[Member { name: "x.py", content: b"1", method: Method::Stored }]),
    )
    .unwrap();
    for command in [
        &["asm", "x.whl"][..],
        &["prune", "x.whl", "--keep", "host", "-o", "y"],
        &["export", "x.whl", "--format", "raw"],
    ] {
        let message = fails(dir.path(), command, 1);
        assert!(
            message.contains("`x.whl` is an archive")
                && message.contains("hint: `cargo offload extract x.whl`"),
            "{message}"
        );
    }
    for command in ["inspect", "verify", "size", "report", "extract"] {
        let message = fails(dir.path(), &[command, "thin.a"], 1);
        assert!(message.contains("a thin archive") && !message.contains("the_crate"), "{message}");
        let message = fails(dir.path(), &[command, "x.zip"], 1);
        assert!(message.contains("has no device images") && !message.contains("use the_crate"), "{message}");
    }
    let message = fails(dir.path(), &["prune", "k.hipfb", "--keep", "host", "-o", "y"], 1);
    assert!(
        message.contains("of other toolchains") && message.contains("hint: `cargo offload extract k.hipfb`"),
        "{message}"
    );
    ok(dir.path(), &["extract", "k.hipfb"]);
    ok(dir.path(), &["extract", "x.whl"]);
}

#[test]
fn archives_with_parts_that_are_not_read_are_shown_and_fail() {
    let archive = tar(&[("k.cubin", &cubin()), ("x.7z", b"7z\xbc\xaf\x27\x1c\0\x04")]);
    let dir = dir_with("x.tar", &archive);
    for (command, shown) in [("inspect", "image"), ("verify", "verified"), ("extract", "extracted")] {
        let output = support::offload(dir.path(), &[command, "--json", "x.tar"]);
        assert_eq!(output.status.code(), Some(1), "{}", all_output(&output));
        let printed = stdout(&output);
        assert_eq!(
            (objects(&printed, shown).len(), objects(&printed, "unreadable").len()),
            (1, 1),
            "{printed}"
        );
    }
}

#[test]
fn several_files_are_decoded() {
    let dir = dir_with("good.cubin", &cubin());
    fs::write(dir.path().join("k.hipfb"), hip()).unwrap();
    let mut damaged = hip();
    let last = damaged.len() - 20;
    damaged[last] ^= 0x55;
    fs::write(dir.path().join("damaged.hipfb"), damaged).unwrap();
    let both = ok(dir.path(), &["verify", "--json", "good.cubin", "k.hipfb"]);
    assert_eq!(objects(&both, "summary")[0]["images"], 3, "{both}");
    assert_eq!(objects(&both, "file").len(), 2);
    for args in [["damaged.hipfb", "good.cubin"], ["good.cubin", "damaged.hipfb"]] {
        fails(dir.path(), &["verify", args[0], args[1]], 1);
    }
    fails(dir.path(), &["verify", "good.cubin", "gone"], 3);
}

#[test]
fn images_of_other_tool_chains_are_exported() {
    let first = data("device-gfx1100.co");
    let second = data("device-gfx906.co");
    let dir = dir_with("k.hipfb", &hip());
    fs::write(dir.path().join("a.co"), &first).unwrap();
    fs::write(dir.path().join("b.co"), &second).unwrap();
    fs::write(dir.path().join("k.cubin"), cubin()).unwrap();
    ok(dir.path(), &["export", "k.hipfb", "--format", "bundle", "-o", "one.hipfb"]);
    ok(dir.path(), &["export", "a.co", "b.co", "--format", "bundle", "-o", "two.hipfb"]);
    for file in ["one.hipfb", "two.hipfb"] {
        let bytes = fs::read(dir.path().join(file)).unwrap();
        let there: Vec<(String, usize)> = bundle::parse(&bytes, &Limits::default())
            .unwrap()
            .entries
            .iter()
            .map(|entry| (entry.id.to_string(), entry.image.len()))
            .collect();
        for (id, size) in [("gfx1100", first.len()), ("gfx906", second.len())] {
            assert!(there.iter().any(|(name, bytes)| name.contains(id) && *bytes == size), "{there:?}");
        }
    }
    ok(
        dir.path(),
        &[
            "export",
            "k.hipfb",
            "--format",
            "raw",
            "--target",
            "amdgcn:gfx906:sramecc-:xnack-",
            "-o",
            "raw.co",
        ],
    );
    assert!(fs::read(dir.path().join("raw.co")).unwrap() == second);
    ok(dir.path(), &["export", "k.cubin", "--format", "fatbin", "-o", "k.fatbin"]);
    let bytes = fs::read(dir.path().join("k.fatbin")).unwrap();
    assert_eq!(fatbin::parse(&bytes, &Limits::default()).unwrap().entries.len(), 1);
    assert!(
        fails(dir.path(), &["export", "a.co", "a.co", "--format", "bundle"], 2).contains("several images")
    );
    assert!(fails(dir.path(), &["export", "k.cubin", "--format", "bundle"], 2).contains("takes none"));
}
