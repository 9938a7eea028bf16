//! clang's offload bundles: binary, text, and compressed.

use offload_containers::bundle::{self, BundleImage, Comment};
use offload_containers::ccob::{self, Version};

use crate::clang::as_clang;
use crate::decode::{self, RAW_BYTES};
use crate::harness::{Field, Reader, Sample, fields, torture};

const IDS: [&str; 2] = ["hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "hipv4-amdgcn-amd-amdhsa--gfx1100"];

/// A host entry and two code objects.
fn bundle() -> Vec<u8> {
    let code = [&include_bytes!("../../../tests/data/saxpy-reduce-gfx90a.co")[..900], &[7; 3000][..]];
    let host = BundleImage { id: "host-x86_64-unknown-linux-gnu-", bytes: b"" };
    let images = IDS.iter().zip(code).map(|(id, bytes)| BundleImage { id, bytes });
    bundle::write(&std::iter::once(host).chain(images).collect::<Vec<_>>(), 64).unwrap()
}

/// The fields of a bundle that starts at `base`.
fn bundle_fields(bytes: &[u8], base: usize) -> Vec<Field> {
    let mut all = fields(base, &[("magic", 0, 8), ("entries", 24, 8)]);
    let mut at = 32;
    for _ in 0..u64::from_le_bytes(bytes[24..32].try_into().unwrap()) {
        all.extend(fields(base + at, &[("offset", 0, 8), ("size", 8, 8), ("id length", 16, 8)]));
        at += 24 + u64::from_le_bytes(bytes[at + 16..at + 24].try_into().unwrap()) as usize;
    }
    all
}

fn ccob_sample(bytes: Vec<u8>) -> Sample {
    let (header, wide) = match bytes[4] {
        1 => (20, false),
        2 => (24, false),
        _ => (32, true),
    };
    let start = fields(0, &[("magic", 0, 4), ("version", 4, 2), ("method", 6, 2)]);
    let hash = fields(header - 8, &[("hash", 0, 8)]);
    let width = if wide { 8 } else { 4 };
    let sizes = (8..header - 8).step_by(width).map(|at| Field { name: "size", offset: at, size: width });
    // The frame's header is behind the container's.
    let frame = fields(header, &[("frame", 0, 4), ("frame", 4, 1), ("frame", 5, 8)]);
    let fields = start.into_iter().chain(sizes).chain(hash).chain(frame).collect();
    Sample { fields, header: header + 16, bytes }
}

#[test]
fn bundles() {
    let one = bundle();
    let tight = bundle::write(&[BundleImage { id: IDS[0], bytes: b"code" }], 1).unwrap();
    let two = [tight.clone(), one[..].to_vec()].concat();
    let second = [bundle_fields(&tight, 0), bundle_fields(&one, tight.len())].concat();
    let samples = vec![
        Sample { fields: bundle_fields(&one, 0), header: 240, bytes: one },
        Sample { header: tight.len(), fields: bundle_fields(&tight, 0), bytes: tight },
        Sample { header: 300, fields: second, bytes: two },
    ];
    torture(&Reader { name: "bundles", samples, decode: decode::bundles, inflates: 0 }).unwrap();
}

#[test]
fn bundles_in_text_form() {
    let images = [BundleImage { id: IDS[0], bytes: b"one\n" }, BundleImage { id: IDS[1], bytes: b"" }];
    let samples = [Comment::Hash, Comment::Slashes, Comment::Semicolon].map(|comment| {
        let bytes = bundle::write_text(&images, comment).unwrap();
        Sample { header: bytes.len(), fields: Vec::new(), bytes }
    });
    let samples = samples.into();
    torture(&Reader { name: "bundles of text", samples, decode: decode::bundle_text, inflates: 0 }).unwrap();
}

#[test]
fn compressed_bundles() {
    let raw = bundle();
    let versions = [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (3, 1)];
    let mut samples: Vec<Sample> =
        versions.into_iter().map(|(version, method)| ccob_sample(as_clang(version, method, &raw))).collect();
    samples.extend(
        [Version::V2, Version::V3].map(|version| ccob_sample(ccob::write(&raw, version, 3).unwrap())),
    );
    let decode = decode::bundles;
    torture(&Reader { name: "compressed bundles", samples, decode, inflates: RAW_BYTES }).unwrap();
}
