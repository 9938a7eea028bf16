//! `verify --require` and `--device`: whether what is released has images for what it has to run on.

use std::fs;
use std::process::Command;

use crate::support::archive::{Member, Method, gzip, tar, zip};
use crate::support::{self, data, dir_with, fails, hip, kernel, objects, ok, pack, stdout};
use offload_containers::fatbin::{self, FatbinImage, Packing};
use offload_format::Target;
use offload_format::codec::{self, Codec};
use offload_format::pack::{Missing, MissingKind, NewImage, PackBuilder};
use serde_json::Value;

/// A fatbin with an image for each of these targets. The bytes are not code for the target.
fn fatbin(targets: &[&str]) -> Vec<u8> {
    let cubin = data("device-12.9-sm_80.cubin");
    let ptx = data("device-clang.ptx");
    let targets: Vec<_> = targets.iter().map(|target| target.parse().unwrap()).collect();
    let images: Vec<FatbinImage<'_>> = targets
        .iter()
        .map(|target| FatbinImage {
            target,
            bytes: if matches!(target, Target::Cubin(_)) { &cubin } else { &ptx },
            name: "",
            options: "",
        })
        .collect();
    fatbin::write(&images, Packing::Stored).unwrap()
}

/// What it says, after it has ended with `code`.
fn judged(dir: &tempfile::TempDir, args: &[&str], code: i32) -> String {
    let output = support::offload(dir.path(), &[&["verify", "--json"], args].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", support::all_output(&output));
    stdout(&output)
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn image(module: &str, target: &str, names: &[&str]) -> (NewImage, Vec<u8>) {
    let kernels = names.iter().map(|name| kernel(name, [1, 0, 0])).collect();
    (NewImage { kernels, ..NewImage::new(module, target.parse().unwrap()) }, b"image".to_vec())
}

/// The lines of JSON with `reason` for `demand`.
fn lines_for(message: &str, reason: &str, demand: &str) -> Vec<Value> {
    objects(message, reason).into_iter().filter(|object| object["demand"] == demand).collect()
}

#[test]
fn what_is_missing_of_a_pack_is_named_by_module_and_kernel() {
    let images = vec![
        image("blas", "cubin:sm_90", &["gemm", "axpy"]),
        image("blas", "cubin:sm_75", &["axpy"]),
        image("blas", "nvptx:sm_75", &["gemm", "axpy"]),
        image("fft", "cubin:sm_90", &["radix"]),
    ];
    let dir = dir_with("app.pack", &pack(images, Codec::Zstd));
    let message = judged(&dir, &["app.pack", "--require", "sm_90,sm_86,sm_75,ptx<=sm_80"], 1);
    assert_eq!(texts(&lines_for(&message, "met", "sm_90")[0]["modules"]), ["blas", "fft"]);
    assert!(lines_for(&message, "unmet", "sm_90").is_empty(), "{message}");
    // No cubin for sm_8x is there.
    assert_eq!(
        texts(&lines_for(&message, "unmet", "sm_86")[0]["there"]),
        ["cubin:sm_75", "cubin:sm_90", "nvptx:sm_75"]
    );
    let [fft, blas] = &lines_for(&message, "unmet", "sm_75")[..] else { panic!("{message}") };
    assert_eq!((texts(&fft["modules"]), texts(&fft["there"])), (vec!["fft"], vec!["cubin:sm_90"]));
    assert_eq!((texts(&blas["modules"]), texts(&blas["kernels"])), (vec!["blas"], vec!["gemm"]));
    assert_eq!(texts(&lines_for(&message, "met", "ptx<=sm_80")[0]["modules"]), ["blas"]);
    assert_eq!(texts(&lines_for(&message, "unmet", "ptx<=sm_80")[0]["modules"]), ["fft"]);
    let summary = &objects(&message, "summary")[0];
    assert_eq!(
        (&summary["files"], &summary["modules"], &summary["problems"]),
        (&1.into(), &2.into(), &5.into())
    );

    let message =
        support::all_output(&support::offload(dir.path(), &["verify", "app.pack", "--require", "sm_75"]));
    assert!(message.contains("error: app.pack: sm_75: module blas lacks gemm\n"), "{message}");
    assert!(
        message.contains("hint: `cargo offload targets add cubin:sm_75`, and build again\n"),
        "{message}"
    );
    assert!(
        ok(dir.path(), &["verify", "app.pack", "--require", "sm_90"])
            .contains("2 modules in 1 file, 0 problems")
    );
}

#[test]
fn a_kernel_that_the_settings_keep_to_other_targets_is_not_missed() {
    for (kind, code) in [(MissingKind::KeptKernel, 0), (MissingKind::Kernel, 1)] {
        let images =
            [image("sort", "cubin:sm_90", &["plain", "ptx"]), image("sort", "amdgcn:gfx90a", &["plain"])];
        let mut builder = PackBuilder::new("sample", "1.0.0");
        let record = Missing::new(kind, "sort").with_target("amdgcn:gfx90a");
        builder.missing(record.with_reason("ptx: why"));
        let frame = codec::encode(b"image", Codec::Raw, 0).unwrap();
        for (image, _) in images {
            builder.image(image, frame.info()).unwrap();
        }
        let bytes = builder.finish().unwrap().with_frames([&frame, &frame]).unwrap();
        let dir = dir_with("app.pack", &bytes);
        judged(&dir, &["app.pack", "--require", "sm_90,gfx90a"], code);
    }
}

#[test]
fn every_file_of_wheels_layers_and_directories_is_judged() {
    let new = fatbin(&["cubin:sm_90", "nvptx:sm_90"]);
    let old = fatbin(&["cubin:sm_52", "nvptx:sm_52"]);
    let wheel = zip(&[
        Member { name: "x/__init__.py", content: b"import x\n", method: Method::Deflated },
        Member { name: "x/new.fatbin", content: &new, method: Method::Deflated },
        Member { name: "x/old.fatbin", content: &old, method: Method::Stored },
    ]);
    let layer =
        gzip(&tar(&[("etc/passwd", b"root:x:0:0"), ("opt/hip.hipfb", &hip()), ("opt/x.whl", &wheel)]));
    let dir = dir_with("x.whl", &wheel);
    fs::create_dir_all(dir.path().join("image/blobs")).unwrap();
    fs::write(dir.path().join("image/blobs/0123"), &layer).unwrap();
    fs::write(
        dir.path().join("image/blobs/4567"),
        zstd::encode_all(&tar(&[("old.fatbin", &old)])[..], 3).unwrap(),
    )
    .unwrap();
    fs::write(dir.path().join("image/index.json"), "{}").unwrap();
    for (path, files) in [
        ("x.whl", &[("x.whl: x/old.fatbin", "error"), ("x.whl: x/new.fatbin", "ok")][..]),
        (
            "image",
            &[
                ("image/blobs/0123: opt/x.whl: x/old.fatbin", "error"),
                ("image/blobs/0123: opt/x.whl: x/new.fatbin", "ok"),
                ("image/blobs/0123: opt/hip.hipfb", "error"),
                ("image/blobs/4567: old.fatbin", "error"),
            ],
        ),
    ] {
        let message =
            support::all_output(&support::offload(dir.path(), &["verify", path, "--require", "sm_90"]));
        for (file, verdict) in files {
            assert!(message.contains(&format!("{verdict}: {file}: sm_90: ")), "{file} {verdict}\n{message}");
        }
        assert_eq!(message.matches(": sm_90: ").count(), files.len(), "{message}");
    }
    let both = judged(&dir, &["image", "x.whl", "--require", "ptx,all-amd"], 1);
    assert_eq!(objects(&both, "met").len(), 6, "{both}");
}

#[test]
fn a_device_takes_what_its_driver_takes() {
    // PTX 8.7, which came with CUDA 12.8.
    let format_version = Some(0x0008_0700);
    let image = NewImage { format_version, ..NewImage::new("m", "nvptx:sm_90".parse().unwrap()) };
    let dir = dir_with("app.pack", &pack(vec![(image, b"ptx".to_vec())], Codec::Zstd));
    let message = judged(&dir, &["app.pack", "--device", "B200", "--driver", "570"], 0);
    assert_eq!(objects(&message, "met")[0]["targets"], "nvptx:sm_90");
    let message = judged(&dir, &["app.pack", "--device", "NVIDIA H100,A100", "--driver", "550.54.14"], 1);
    let unmet = objects(&message, "unmet");
    let targets: Vec<&str> = unmet.iter().map(|unmet| texts(&unmet["there"])[0]).collect();
    assert!(
        targets[0].contains("drivers from 570.26 on take it")
            && targets[1].contains("the device is only sm_80"),
        "{targets:?}"
    );
}

/// The driver reads the bytes of images of other tool chains.
#[test]
fn images_of_other_tool_chains_are_decoded_for_a_device() {
    let dir = dir_with("lz4.fatbin", &data("lz4.fatbin"));
    fs::write(dir.path().join("k.hipfb"), hip()).unwrap();
    let message = judged(&dir, &["k.hipfb", "--device", "Radeon RX 7900 XTX,MI60"], 0);
    let met: Vec<String> = objects(&message, "met").iter().map(|met| met["targets"].to_string()).collect();
    assert_eq!(met, ["\"amdgcn:gfx1100\"", "\"amdgcn:gfx906\""]);
    judged(&dir, &["k.hipfb", "--device", "MI300X"], 1);
    judged(&dir, &["lz4.fatbin", "--device", "MI300X"], 1);
}

/// `-rdc=true` leaves what was linked beside the result, in a section that no driver gets.
#[test]
fn relocatable_fatbins_meet_nothing_beside_linked_ones() {
    let dir = dir_with("linked", &fatbin(&["cubin:sm_90"]));
    fs::write(dir.path().join("relocatable"), fatbin(&["cubin:sm_90", "nvptx:sm_90"])).unwrap();
    let relocatable = ".section __nv_relfatbin,\"a\"\n.incbin \"relocatable\"\n";
    let both = format!("{relocatable}.section .nv_fatbin,\"a\"\n.incbin \"linked\"\n");
    for (sections, code) in [(relocatable, 0), (&both, 1)] {
        fs::write(dir.path().join("a.s"), sections).unwrap();
        let mut assembler = Command::new("cc");
        assembler.args(["-c", "a.s", "-o", "program"]).current_dir(dir.path());
        assert!(assembler.status().unwrap().success());
        let message = judged(&dir, &["program", "--require", "sm_90,ptx"], code);
        assert_eq!(objects(&message, "summary")[0]["modules"], 1, "{message}");
        assert_eq!(objects(&message, "unmet").len() as i32, code, "{message}");
    }
}

#[test]
fn a_gate_that_sees_nothing_is_shut() {
    let wheel = zip(&[Member { name: "x.py", content: b"print()", method: Method::Deflated }]);
    let dir = dir_with("x.whl", &wheel);
    fs::create_dir(dir.path().join("empty")).unwrap();
    for path in ["x.whl", "empty"] {
        let message = fails(dir.path(), &["verify", path, "--require", "sm_90"], 1);
        assert_eq!(message, format!("error: `{path}` has no device images\n"));
    }
    assert!(fails(dir.path(), &["verify", "gone", "--require", "sm_90"], 3).contains("`gone`"));

    // Images for machines that have no name here meet nothing.
    let unknown = offload_containers::bundle::BundleImage { id: "hip-unknown--thing", bytes: b"x" };
    let bundle = offload_containers::bundle::write(&[unknown], 1).unwrap();
    fs::write(dir.path().join("k.bundle"), bundle).unwrap();
    let message = judged(&dir, &["k.bundle", "--require", "gfx90a"], 1);
    assert_eq!(objects(&message, "unmet")[0]["of"], 1, "{message}");
}

#[test]
fn damaged_archives_and_bombs_are_problems() {
    let good = fatbin(&["cubin:sm_90"]);
    let layer = gzip(&tar(&[("good.fatbin", &good), ("other.fatbin", &good)]));
    let dir = dir_with("cut.tar.gz", &layer[..layer.len() - 20]);
    let message = judged(&dir, &["cut.tar.gz", "--require", "sm_90"], 1);
    assert!(
        objects(&message, "unreadable")[0]["problem"].as_str().unwrap().contains("damaged archive"),
        "{message}"
    );
    let met = objects(&message, "met");
    assert_eq!(texts(&met[0]["modules"]), ["good"], "what comes before the damage is judged: {message}");

    // 64 MiB of nulls behind a file, in an archive in an archive.
    let mut large = good.clone();
    large.resize(64 << 20, 0);
    let bomb = gzip(&tar(&[("inner.tar.gz", &gzip(&tar(&[("k.fatbin", &large)])))]));
    fs::write(dir.path().join("bomb.tar.gz"), &bomb).unwrap();
    let message = judged(&dir, &["bomb.tar.gz", "--require", "sm_90"], 1);
    let problem = objects(&message, "unreadable")[0]["problem"].to_string();
    assert!(problem.contains("what the archive inflates to"), "{problem}");
    judged(&dir, &["bomb.tar.gz", "--require", "sm_90", "--limit", "256MiB"], 0);

    // What may have had images is no file without images.
    let wheel = zip(&[
        Member { name: "good.fatbin", content: &good, method: Method::Deflated },
        Member { name: "cut.fatbin", content: &good[..good.len() - 8], method: Method::Deflated },
    ]);
    fs::write(dir.path().join("x.whl"), wheel).unwrap();
    let message = judged(&dir, &["x.whl", "--require", "sm_90"], 1);
    assert_eq!((objects(&message, "met").len(), objects(&message, "unreadable").len()), (1, 1), "{message}");

    // Deeper nesting than any real archive.
    let nested = (0..6).fold(tar(&[("k.fatbin", &good)]), |inner, _| tar(&[("inner.tar", &inner)]));
    fs::write(dir.path().join("deep.tar"), nested).unwrap();
    let message = judged(&dir, &["deep.tar", "--require", "sm_90"], 1);
    assert!(message.contains("is nested in 4 archives"), "{message}");
}

#[test]
fn what_cannot_be_meant_is_told() {
    let dir = dir_with("k.fatbin", &fatbin(&["cubin:sm_90"]));
    for (args, part) in [
        (&["--require", "sm90"][..], "hint: write `sm_90`"),
        (&["--device", "Voodoo"], "unknown device `Voodoo`"),
        (&["--device", "B200", "--driver", "new"], "is not an NVIDIA driver version"),
        (&["--driver", "550"], "--device"),
    ] {
        let message = fails(dir.path(), &[&["verify", "k.fatbin"], args].concat(), 2);
        assert!(message.contains(part), "{message}");
    }
}
