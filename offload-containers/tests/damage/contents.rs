//! Containers in containers, as they are listed and decoded, and what their images say.

use offload_containers::bundle::{self, BundleImage};
use offload_containers::ccob::{self, Version};
use offload_containers::offload_binary::{self, NewEntry};
use offload_containers::syclbin::{BundleState, ImageKindNumber, NativeImage, NewModule};
use offload_containers::{contents, syclbin};
use offload_format::{ErrorKind, ImageKind, Limits, OffloadKind};

use crate::allocations;
use crate::decode::{self, RAW_BYTES};
use crate::harness::{Reader, Sample, fields, torture};

const ID: &str = "hipv4-amdgcn-amd-amdhsa--gfx1100";
const FATBIN: &[u8] = include_bytes!("../../../tests/data/zstd.fatbin");

fn compressed_bundle(image: &[u8]) -> Vec<u8> {
    ccob::write(&bundle::write(&[BundleImage { id: ID, bytes: image }], 16).unwrap(), Version::V2, 3).unwrap()
}

/// An OffloadBinary of containers.
fn nested() -> Vec<u8> {
    let ccob = compressed_bundle(b"code object");
    let frame = zstd::bulk::compress(FATBIN, 3).unwrap();
    let native = NativeImage { target: "spir64_gen-unknown-unknown", arch: "intel_gpu_pvc", image: &frame };
    let module = NewModule::default().with_spirv(b"\x03\x02\x23\x07").with_native(native);
    let sycl = syclbin::write(BundleState::Object, &[module], ImageKindNumber::default()).unwrap();
    let entries = [&ccob[..], &frame, FATBIN, &sycl]
        .map(|bytes| NewEntry::new(ImageKind::Object, OffloadKind::Hip, bytes).with_string("arch", "x"));
    offload_binary::write(&entries, offload_binary::Version::V2).unwrap()
}

#[test]
fn containers_in_containers() {
    let entry = [("strings", 8, 8), ("strings", 16, 8), ("image offset", 24, 8), ("image size", 32, 8)];
    let header = [("version", 4, 4), ("size", 8, 8), ("entries", 16, 8), ("entries", 24, 8)];
    let offload = nested();
    let all = (0..4).flat_map(|index| fields(32 + 40 * index, &entry)).chain(fields(0, &header)).collect();
    let frame = zstd::bulk::compress(&offload, 3).unwrap();
    let archive = include_bytes!("../../../tests/data/two.ocloc");
    let samples = vec![
        Sample { bytes: offload, fields: all, header: 192 },
        Sample { header: 16, fields: fields(0, &[("frame", 4, 1), ("frame", 5, 4)]), bytes: frame },
        Sample { header: 68, fields: fields(8, &[("member", 48, 8)]), bytes: archive.to_vec() },
    ];
    torture(&Reader {
        name: "containers in containers",
        samples,
        decode: decode::contents,
        inflates: RAW_BYTES,
    })
    .unwrap();
}

#[test]
fn what_images_say() {
    let files = [
        &include_bytes!("../../../tests/data/saxpy-reduce.spv")[..],
        include_bytes!("../../../tests/data/device-nvcc.ptx"),
        include_bytes!("../../../tests/data/device-12.9-sm_80.cubin"),
        include_bytes!("../../../tests/data/saxpy-reduce-gfx90a.co"),
        include_bytes!("../../../tests/data/saxpy-reduce.zebin"),
    ];
    let samples = files.map(|bytes| Sample { bytes: bytes.to_vec(), fields: Vec::new(), header: 64 }).into();
    torture(&Reader { name: "descriptions", samples, decode: decode::describe, inflates: 0 }).unwrap();
}

/// Entries that all refer to the same bytes: what is made of them is bounded all the same.
fn repeated(image: &[u8], count: u64) -> Vec<u8> {
    let start = 32 + 40 * count;
    let image_at = start.next_multiple_of(8);
    let mut file = [&offload_binary::MAGIC[..], &2u32.to_le_bytes()].concat();
    let size = (image_at + image.len() as u64).next_multiple_of(8);
    file.extend([size, 32, count].map(u64::to_le_bytes).as_flattened());
    for _ in 0..count {
        file.extend(
            [1u64 | 4 << 16, 0, 0, image_at, image.len() as u64].map(u64::to_le_bytes).as_flattened(),
        );
    }
    file.extend(image);
    file.resize(size as usize, 0);
    file
}

fn refusal_of_repeated(image: &[u8], count: u64) -> Option<ErrorKind> {
    let limits = Limits::default().with_raw_bytes(RAW_BYTES);
    let file = repeated(image, count);
    let (result, memory) = allocations::peak(|| contents::images(&file, &limits).map(|found| found.len()));
    let bound = (1 << 20) + 8 * file.len() as u64 + 3 * RAW_BYTES;
    assert!(memory <= bound, "{memory} bytes of memory, more than {bound}: {result:?}");
    result.err().map(|error| error.kind().clone())
}

#[test]
fn images_that_are_told_again_and_again() {
    // A frame of a container is inflated to be listed; one of zeros is not. A fatbin is walked each time.
    let frame = zstd::bulk::compress(&compressed_bundle(&[7; 100_000]), 3).unwrap();
    for image in [&frame[..], FATBIN, b"image", &compressed_bundle(b"image")] {
        let kind = refusal_of_repeated(image, 100_000);
        assert!(matches!(kind, Some(ErrorKind::TooLarge { .. })), "{kind:?}");
        assert_eq!(refusal_of_repeated(image, 1), None);
    }
}
