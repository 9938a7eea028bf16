//! `export`: the containers of HIP, CUDA, Intel and LLVM, read again.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::{self, data};
use offload_containers::{bundle, ccob, fatbin, ocloc, offload_binary};
use offload_format::Limits;
use offload_format::codec::Codec;
use offload_format::pack::{KernelInfo, NewImage};

/// Images of one module by target, in the order in which a pack sorts them.
fn images() -> Vec<(&'static str, Vec<u8>)> {
    let archive = data("two.ocloc");
    let pvc = ocloc::parse(&archive, &Limits::default()).unwrap().members[0].data.to_vec();
    vec![
        ("spirv64", data("saxpy-reduce.spv")),
        ("intel:pvc", pvc),
        ("nvptx:sm_90a", data("device-nvcc.ptx")),
        ("cubin:sm_80", data("device-12.9-sm_80.cubin")),
        ("cubin:sm_90a", data("device-13.5-sm_90a.cubin")),
        ("amdgcn:gfx1100", data("device-gfx1100.co")),
        ("amdgcn:gfx90a", data("saxpy-reduce-gfx90a.co")),
        ("opencl-c", b"kernel void k() {}".to_vec()),
    ]
}

/// A directory with a pack of `images`.
fn packed(images: &[(&'static str, Vec<u8>)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let pack = support::pack(
        images
            .iter()
            .map(|(target, bytes)| {
                let kernels = vec![KernelInfo::new("k")];
                (NewImage { kernels, ..NewImage::new("blas", target.parse().unwrap()) }, bytes.clone())
            })
            .collect(),
        Codec::Raw,
    );
    fs::write(dir.path().join("images.pack"), pack).unwrap();
    dir
}

fn export(dir: &Path, args: &[&str]) -> Output {
    support::offload(dir, &[&["export", "images.pack", "--force", "-o", "out", "--format"], args].concat())
}

fn exported(dir: &Path, args: &[&str]) -> Vec<u8> {
    let output = export(dir, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read(dir.join("out")).unwrap()
}

fn refused(dir: &Path, args: &[&str]) -> String {
    let output = export(dir, args);
    assert_eq!(output.status.code(), Some(2));
    assert!(!dir.join("out").exists());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn bundles_hold_the_amd_images() {
    let images = images();
    let dir = packed(&images);
    let limits = Limits::default();
    let plain = exported(dir.path(), &["bundle"]);
    let entries = bundle::parse(&plain, &limits).unwrap().entries;
    let found: Vec<_> = entries.iter().map(|entry| (entry.id, entry.image)).collect();
    let expected = [
        ("host-x86_64-unknown-linux-gnu-", &b""[..]),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", &images[5].1),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a", &images[6].1),
    ];
    assert!(found == expected, "{:?}", entries.iter().map(|entry| entry.id).collect::<Vec<_>>());
    for (args, version) in
        [(&["ccob"][..], ccob::Version::V2), (&["ccob", "--bundle-version", "3"], ccob::Version::V3)]
    {
        let compressed = exported(dir.path(), args);
        let read = ccob::parse(&compressed, &limits).unwrap();
        assert!(read.version == version && read.inflate(&limits).unwrap() == plain);
        assert_eq!(exported(dir.path(), args), compressed);
    }
}

#[test]
fn a_fatbin_holds_cubins_and_ptx() {
    let images = images();
    let dir = packed(&images);
    let file = exported(dir.path(), &["fatbin"]);
    let read = fatbin::parse(&file, &Limits::default()).unwrap();
    let found: Vec<(String, Vec<u8>)> = (read.entries.iter())
        .map(|entry| {
            let image = entry.image(&Limits::default()).unwrap().into_owned();
            (entry.record.target().unwrap().to_string(), image)
        })
        .collect();
    let expected: Vec<(String, Vec<u8>)> = images
        .iter()
        .filter(|(target, _)| target.starts_with("cubin") || target.starts_with("nvptx"))
        .map(|(target, image)| (target.to_string(), image.clone()))
        .collect();
    assert!(found == expected);
    let one = exported(dir.path(), &["fatbin", "--target", "cubin:sm_80"]);
    assert_eq!(fatbin::parse(&one, &Limits::default()).unwrap().entries.len(), 1);
}

#[test]
fn an_archive_of_ocloc_holds_intel_s_images_and_spirv() {
    let dir = packed(&images());
    let file = exported(dir.path(), &["ocloc-ar"]);
    let archive = ocloc::parse(&file, &Limits::default()).unwrap();
    let names: Vec<&str> = archive.members.iter().map(|member| member.name).collect();
    assert_eq!(names, ["64.12.60.7", "generic_ir"]);
    assert_eq!(archive.spirv().unwrap(), Some(&data("saxpy-reduce.spv")[..]));
    // A group of devices is an archive already: its members are taken over, each device once.
    let dir = packed(&[("intel:*", data("two.ocloc")), images().remove(1), images().remove(0)]);
    let file = exported(dir.path(), &["ocloc-ar"]);
    let archive = ocloc::parse(&file, &Limits::default()).unwrap();
    let names: Vec<&str> = archive.members.iter().map(|member| member.name).collect();
    assert_eq!(names, ["64.12.60.7", "64.12.10.0", "generic_ir"]);
}

#[test]
fn an_offload_binary_holds_all_but_source() {
    let images = images();
    let dir = packed(&images);
    let file = exported(dir.path(), &["offload-binary"]);
    let binaries = offload_binary::parse(&file, &Limits::default()).unwrap();
    let entries = binaries.iter().flat_map(|binary| binary.entries().collect::<Vec<_>>());
    let found: Vec<_> =
        entries.map(|entry| (entry.text("arch").unwrap().to_string(), entry.image.to_vec())).collect();
    let archs = ["generic", "pvc", "sm_90a", "sm_80", "sm_90a", "gfx1100", "gfx90a"];
    assert_eq!(found.iter().map(|(arch, _)| arch.as_str()).collect::<Vec<_>>(), archs);
    assert!(found.iter().zip(&images).all(|((_, found), (_, image))| found == image));
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let dir = packed(&[images().remove(0), images().remove(7)]);
    let text = refused(dir.path(), &["bundle"]);
    assert!(
        text.contains("takes none of the images of module `blas`")
            && text.contains("hint: it has spirv64, opencl-c"),
        "{text}"
    );
    let text = refused(dir.path(), &["fatbin", "--target", "spirv64"]);
    assert!(text.contains("a fatbin takes no image for `spirv64`"), "{text}");
    let text = refused(dir.path(), &["ocloc-ar", "--module", "other"]);
    assert!(text.contains("no such module") && text.contains("hint: it has blas"), "{text}");
}
