//! `verify --require` and `--device`: which images count for which demand, and which are none.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::archive::{Member, Method, zip};
use crate::support::{self, data, dir_with, objects, ok, stdout};
use offload_containers::bundle::{self, BundleImage};
use offload_containers::fatbin::{self, FatbinImage, Packing};
use offload_containers::offload_binary::{self, NewEntry, Version};
use offload_format::{ImageKind, OffloadKind};
use serde_json::Value;

const BITCODE: &[u8] = b"BC\xc0\xde\x35\x14\0\0\x05\0\0\0";

fn judged(dir: &Path, args: &[&str], code: i32) -> String {
    let output = support::offload(dir, &[&["verify", "--json"], args].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", support::all_output(&output));
    stdout(&output)
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// A bundle of HIP with a code object for each of these target IDs.
fn hip(ids: &[&str]) -> Vec<u8> {
    let code = data("device-gfx1100.co");
    let ids: Vec<String> = ids.iter().map(|id| format!("hipv4-amdgcn-amd-amdhsa--{id}")).collect();
    let images: Vec<BundleImage<'_>> = ids.iter().map(|id| BundleImage { id, bytes: &code }).collect();
    bundle::write(&images, bundle::HIP_ALIGN).unwrap()
}

/// An object, or a library, of this assembly.
fn assembled(dir: &Path, name: &str, sections: &str) {
    fs::write(dir.join("a.s"), sections).unwrap();
    let mode = if name.ends_with(".so") { "-shared" } else { "-c" };
    let mut assembler = Command::new("cc");
    assembler.args([mode, "-nostdlib", "a.s", "-o", name]).current_dir(dir);
    assert!(assembler.status().unwrap().success());
}

#[test]
fn code_for_both_settings_of_a_mode_is_code_for_any() {
    let dir = dir_with("both.hipfb", &hip(&["gfx90a:xnack+", "gfx90a:xnack-"]));
    let dir = dir.path();
    fs::write(dir.join("one.hipfb"), hip(&["gfx90a:xnack+"])).unwrap();
    let four = ["+:xnack+", "+:xnack-", "-:xnack+", "-:xnack-"].map(|modes| format!("gfx908:sramecc{modes}"));
    fs::write(dir.join("four.hipfb"), hip(&four.each_ref().map(String::as_str))).unwrap();
    let message = judged(dir, &["both.hipfb", "--require", "gfx90a,amdgcn:gfx90a,gfx90a:xnack-"], 0);
    assert_eq!(objects(&message, "met")[0]["targets"], "amdgcn:gfx90a:xnack+, amdgcn:gfx90a:xnack-");
    judged(dir, &["both.hipfb", "--device", "gfx90a,MI250X"], 0);
    judged(dir, &["four.hipfb", "--require", "gfx908", "--device", "gfx908"], 0);
    let message = judged(dir, &["one.hipfb", "--require", "gfx90a"], 1);
    assert_eq!(objects(&message, "unmet")[0]["setting"], "gfx90a:xnack-");
    assert_eq!(texts(&objects(&message, "unmet")[0]["there"]), ["amdgcn:gfx90a:xnack+"]);
    judged(dir, &["one.hipfb", "--device", "MI250X"], 1);
}

#[test]
fn amd_s_spirv_is_for_hip_alone() {
    let spirv = data("saxpy-reduce.spv");
    let code = data("device-gfx906.co");
    let images = [
        BundleImage { id: "hip-amdgcn-amd-amdhsa--gfx906", bytes: &code },
        BundleImage { id: "hip-spirv64-amd-amdhsa--amdgcnspirv", bytes: &spirv },
    ];
    let dir = dir_with("k.hipfb", &bundle::write(&images, bundle::HIP_ALIGN).unwrap());
    let dir = dir.path();
    let entry = NewEntry::new(ImageKind::SpirV, OffloadKind::Hip, &spirv)
        .with_string("triple", "spirv64-amd-amdhsa")
        .with_string("arch", "amdgcnspirv");
    fs::write(dir.join("k.offload"), offload_binary::write(&[entry], Version::V1).unwrap()).unwrap();
    for file in ["k.hipfb", "k.offload"] {
        let message = judged(dir, &[file, "--require", "amdgcnspirv", "--device", "gfx1201,MI300X"], 0);
        assert!(objects(&message, "met").iter().all(|met| met["targets"] == "amdgcnspirv"), "{message}");
        judged(dir, &[file, "--device", "gfx90a", "--driver", "6.4"], 0);
        judged(dir, &[file, "--device", "gfx90a", "--driver", "6.3"], 1);
        let message = judged(dir, &[file, "--require", "gfx1201,spirv64"], 1);
        assert_eq!(objects(&message, "unmet").len(), 2, "{message}");
    }
    let listed = objects(&ok(dir, &["inspect", "k.hipfb", "--json"]), "image");
    assert!(listed.iter().any(|image| image["target"] == "amdgcnspirv"), "{listed:?}");
}

#[test]
fn what_a_link_compiles_is_named_and_meets_nothing() {
    let entry = NewEntry::new(ImageKind::Bitcode, OffloadKind::Hip, BITCODE)
        .with_string("triple", "amdgcn-amd-amdhsa")
        .with_string("arch", "gfx90a");
    let binary = offload_binary::write(&[entry], Version::V1).unwrap();
    let ids = ["hip-amdgcn-amd-amdhsa--gfx90a", "host-x86_64-unknown-linux-gnu-"];
    let bundled = bundle::write(&ids.map(|id| BundleImage { id, bytes: BITCODE }), 1).unwrap();
    let compressed =
        offload_containers::ccob::write(&bundled, offload_containers::ccob::Version::V2, 3).unwrap();
    let target = "cubin:sm_90".parse().unwrap();
    let cubin = data("device-12.9-sm_80.cubin");
    let image = FatbinImage { target: &target, bytes: &cubin, name: "", options: "" };
    let mut lto = fatbin::write(&[image], Packing::Stored).unwrap();
    lto[16] = 8;
    let dir = dir_with("k.offload", &binary);
    let dir = dir.path();
    for (name, bytes, format, word) in [
        ("k.offload", &binary, "LLVM bitcode", "gfx90a"),
        ("k.bc", &bundled, "LLVM bitcode", "gfx90a"),
        ("k.ccob", &compressed, "LLVM bitcode", "gfx90a"),
        ("k.fatbin", &lto, "LTO-IR", "sm_90"),
    ] {
        fs::write(dir.join(name), bytes).unwrap();
        let message = judged(dir, &[name, "--require", word], 1);
        let [for_link] = &objects(&message, "for-link")[..] else { panic!("{message}") };
        assert_eq!(for_link["format"], format, "{name}");
        assert!(texts(&for_link["targets"])[0].contains(word), "{message}");
        assert!(objects(&message, "met").is_empty() && objects(&message, "unmet").is_empty(), "{message}");

        // Beside what runs, it fails nothing.
        let wheel = zip(&[
            Member { name: "lib/k.hipfb", content: &hip(&["gfx90a"]), method: Method::Stored },
            Member { name, content: bytes, method: Method::Stored },
        ]);
        fs::write(dir.join("x.whl"), wheel).unwrap();
        judged(dir, &["x.whl", "--require", "gfx90a"], 0);
    }
}

/// The old driver's objects with `-fgpu-rdc` have a section for each target.
#[test]
fn sections_of_clang_s_bundler_tell_the_target() {
    let dir = dir_with("k.bc", BITCODE);
    let dir = dir.path();
    fs::write(dir.join("k.co"), data("device-gfx906.co")).unwrap();
    let section =
        |id: &str, file: &str| format!(".section __CLANG_OFFLOAD_BUNDLE__{id},\"e\"\n.incbin \"{file}\"\n");
    let bitcode = [
        section("hip-amdgcn-amd-amdhsa--gfx90a", "k.bc"),
        section("hip-amdgcn-amd-amdhsa--gfx1100", "k.bc"),
        ".section __CLANG_OFFLOAD_BUNDLE__host-x86_64-unknown-linux-gnu-,\"e\"\n.byte 0\n".to_string(),
    ];
    assembled(dir, "rdc.o", &bitcode.concat());
    let message = judged(dir, &["rdc.o", "--require", "gfx90a"], 1);
    assert_eq!(texts(&objects(&message, "for-link")[0]["targets"]), ["amdgcn:gfx1100", "amdgcn:gfx90a"]);
    let message = support::all_output(&support::offload(dir, &["verify", "rdc.o", "--require", "gfx90a"]));
    assert!(!message.contains("there is"), "{message}");
    let listed = objects(&ok(dir, &["inspect", "rdc.o", "--json"]), "image");
    assert!(
        listed.iter().all(|image| image["target"].as_str().unwrap().starts_with("amdgcn:gfx")),
        "{listed:?}"
    );

    assembled(dir, "code.o", &section("hip-amdgcn-amd-amdhsa--gfx906:xnack-", "k.co"));
    let message = judged(dir, &["code.o", "--require", "gfx906:xnack-"], 0);
    assert_eq!(objects(&message, "met")[0]["targets"], "amdgcn:gfx906:xnack-");
}

/// A member of an archive of `ar`.
fn ar_member(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut member = format!("{name:<16}0           0     0     100644  {:<10}`\n", bytes.len()).into_bytes();
    member.extend_from_slice(bytes);
    member.resize(member.len().next_multiple_of(2), b'\n');
    member
}

#[test]
fn streams_around_other_files_are_no_images() {
    let frame = zstd::bulk::compress(&[b'x'; 4000], 3).unwrap();
    let archive =
        [b"!<arch>\n".to_vec(), ar_member("control.tar.zst", &frame), ar_member("data.tar.zst", &frame)];
    let dir = dir_with("x.a", &archive.concat());
    fs::write(dir.path().join("k.spv.zst"), zstd::bulk::compress(&data("saxpy-reduce.spv"), 3).unwrap())
        .unwrap();
    let message = support::fails(dir.path(), &["verify", "x.a", "--require", "gfx90a"], 1);
    assert_eq!(message, "error: `x.a` has no device images\n");
    // Images of SYCL are in such frames.
    assert_eq!(objects(&ok(dir.path(), &["inspect", "k.spv.zst", "--json"]), "image").len(), 1);
}

#[test]
fn code_for_a_family_is_so_wherever_it_lies() {
    let cubin = data("family-12.9-sm_100f.cubin");
    let dir = dir_with("k.cubin", &cubin);
    let dir = dir.path();
    let entry = NewEntry::new(ImageKind::Cubin, OffloadKind::Cuda, &cubin)
        .with_string("triple", "nvptx64-nvidia-cuda")
        .with_string("arch", "sm_100f");
    fs::write(dir.join("k.offload"), offload_binary::write(&[entry], Version::V1).unwrap()).unwrap();
    fs::write(
        dir.join("k.ptx"),
        ".version 8.8\n.target sm_100f\n.address_size 64\n.visible .entry k() { ret; }\n",
    )
    .unwrap();
    for (file, target) in
        [("k.cubin", "cubin:sm_100f"), ("k.offload", "cubin:sm_100f"), ("k.ptx", "nvptx:sm_100f")]
    {
        assert_eq!(objects(&ok(dir, &["inspect", file, "--json"]), "image")[0]["target"], target, "{file}");
        judged(dir, &[file, "--require", target], 0);
        judged(dir, &[file, "--device", "B300"], 0);
        judged(dir, &[file, "--device", "RTX 5090"], 1);
    }
}

/// A library whose wrapper leads to the reference, as AMD's tools leave it.
const LIBRARY: &str = ".section .hipFatBinSegment,\"aw\"\n.balign 8\n.long 0x4b504948, 1\n.quad reference\n.quad 0\n\
    .section .rocm_kpack_ref,\"aw\"\nreference: .incbin \"reference\"\n";

fn stored<'t>(name: &'t str, content: &'t [u8]) -> Member<'t> {
    Member { name, content, method: Method::Stored }
}

#[test]
fn kernels_in_a_kpack_are_those_of_its_library() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let path = "../.kpack/test_@GFXARCH@.kpack";
    let mut reference = b"\x82\xabkernel_name\xaelib/libtest.so\xb2kpack_search_paths\x91".to_vec();
    reference.push(0xa0 | path.len() as u8);
    reference.extend_from_slice(path.as_bytes());
    fs::create_dir(root.join("lib")).unwrap();
    fs::write(root.join("lib/reference"), &reference).unwrap();
    assembled(&root.join("lib"), "libtest.so", LIBRARY);
    let missing = judged(root, &["lib/libtest.so", "--require", "gfx90a:xnack+"], 1);
    let problem = objects(&missing, "unreadable")[0]["problem"].to_string();
    assert!(problem.contains("kernels are in `../.kpack/test_@GFXARCH@.kpack`, missing"), "{problem}");

    fs::create_dir(root.join(".kpack")).unwrap();
    fs::write(root.join(".kpack/test_gfx90a.kpack"), data("stored.kpack")).unwrap();
    for path in ["lib/libtest.so", "."] {
        let message = judged(root, &[path, "--require", "gfx90a:xnack+"], 0);
        assert_eq!(objects(&message, "met")[0]["modules"][0], "lib/libtest.so#0", "{message}");
        // It is another library's.
        judged(root, &[path, "--require", "gfx1100"], 1);
    }
    let library = fs::read(root.join("lib/libtest.so")).unwrap();
    let kpack = data("stored.kpack");
    let wheel = zip(&[stored("r/lib/libtest.so", &library), stored("r/.kpack/test_gfx90a.kpack", &kpack)]);
    fs::write(root.join("x.whl"), wheel).unwrap();
    fs::write(root.join("y.whl"), zip(&[stored("r/lib/libtest.so", &library)])).unwrap();
    judged(root, &["x.whl", "--require", "gfx90a:xnack+"], 0);
    judged(root, &["y.whl", "--require", "gfx90a:xnack+"], 1);
}

#[test]
fn drivers_support_the_gpus_of_their_time() {
    let dir = dir_with(
        "old.ptx",
        b".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n",
    );
    let dir = dir.path();
    fs::write(
        dir.join("new.ptx"),
        ".version 9.2\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n",
    )
    .unwrap();
    for (file, device, driver, code) in [
        ("old.ptx", "GTX 1080", "580", 0),
        ("old.ptx", "GTX 1080", "590", 1),
        ("old.ptx", "V100", "595", 1),
        ("old.ptx", "RTX 2080", "999", 0),
        ("old.ptx", "RTX 5090", "570", 0),
        ("old.ptx", "RTX 5090", "565", 1),
        ("old.ptx", "B300", "570", 1),
        ("new.ptx", "H100", "590", 1),
        ("new.ptx", "H100", "595", 0),
        ("new.ptx", "H100", "620", 0),
    ] {
        judged(dir, &[file, "--device", device, "--driver", driver], code);
    }
    let notes =
        |driver| objects(&judged(dir, &["new.ptx", "--device", "H100", "--driver", driver], 0), "note").len();
    assert_eq!((notes("610"), notes("700")), (0, 1));
}
