//! SYCLBIN in every form, and property sets.

use offload_containers::offload_binary::{self, NewEntry, Version};
use offload_containers::syclbin::{
    BundleState, ImageKindNumber, NativeImage, NewModule, Requirements, write,
};
use offload_format::{ImageKind, OffloadKind};

use crate::decode;
use crate::harness::{Field, Reader, Sample, fields, torture};

const SPIRV: &[u8] = include_bytes!("../../../tests/data/import.spv");
const HEADER: [(&str, usize, usize); 9] = [
    ("magic", 0, 4),
    ("version", 4, 4),
    ("modules", 8, 4),
    ("IR modules", 12, 4),
    ("native images", 16, 4),
    ("metadata size", 24, 8),
    ("binary size", 32, 8),
    ("global offset", 40, 8),
    ("global size", 48, 8),
];
const MODULE: [(&str, usize, usize); 6] = [
    ("module's metadata offset", 0, 8),
    ("module's metadata size", 8, 8),
    ("module's IR modules", 16, 4),
    ("module's first IR module", 20, 4),
    ("module's native images", 24, 4),
    ("module's first native image", 28, 4),
];
const PAYLOAD: [(&str, usize, usize); 4] = [
    ("image's metadata offset", 0, 8),
    ("image's metadata size", 8, 8),
    ("image's offset", 16, 8),
    ("image's size", 24, 8),
];
const ENVELOPE: [(&str, usize, usize); 6] = [
    ("envelope's version", 4, 4),
    ("envelope's size", 8, 8),
    ("envelope's entries", 16, 8),
    ("envelope's count", 24, 8),
    ("envelope's image offset", 56, 8),
    ("envelope's image size", 64, 8),
];

fn file(state: BundleState) -> Vec<u8> {
    let native =
        NativeImage { target: "spir64_gen-unknown-unknown", arch: "intel_gpu_pvc", image: b"native" };
    let needs = Requirements { aspects: vec![6], sub_group_size: Some(16), ..Requirements::default() };
    let one = NewModule::default().with_kernels(["__sycl_kernel_a", "b"]).unwrap().with_requirements(&needs);
    let one = one.with_imported(["elsewhere"]).unwrap().with_spirv(SPIRV).with_native(native);
    let two = NewModule::default().with_exported(["elsewhere"]).unwrap().with_spirv(b"\x03\x02\x23\x07");
    write(state, &[one, two], ImageKindNumber::default()).unwrap()
}

/// The fields of tables that start at `base`, for two modules, two IR modules and a native image.
fn tables(base: usize) -> Vec<Field> {
    let records = base + 56;
    let modules = (0..2).flat_map(|index| fields(records + index * 32, &MODULE));
    let payloads = (2..5).flat_map(|index| fields(records + index * 32, &PAYLOAD));
    fields(base, &HEADER).into_iter().chain(modules).chain(payloads).collect()
}

/// A file whose binary is at `base`.
fn sample(bytes: Vec<u8>, base: usize) -> Sample {
    let envelope = if base > 0 { fields(0, &ENVELOPE) } else { Vec::new() };
    Sample { fields: [envelope, tables(base)].concat(), header: base + 56 + 5 * 32, bytes }
}

#[test]
fn version_1_in_every_envelope() {
    let bytes = file(BundleState::Executable);
    let bare = bytes[0x50..].to_vec();
    let entry = NewEntry::new(ImageKind::from_u16(7), OffloadKind::Sycl, &bare);
    let second = offload_binary::write(&[entry], Version::V2).unwrap();
    let samples = vec![sample(bytes, 0x50), sample(second, 0x50), sample(bare, 0)];
    torture(&Reader { name: "SYCLBIN 1", samples, decode: decode::syclbin, inflates: 0 }).unwrap();
}

fn piece<'a>(role: &'a str, image: &'a [u8]) -> NewEntry<'a> {
    NewEntry::new(ImageKind::from_u16(7), OffloadKind::Sycl, image).with_string("role", role)
}

#[test]
fn the_draft_of_version_2() {
    let native = "[SYCLBIN/native device code image metadata]\ntarget=2|wAAAAAAAAAAe4YzX2QD\n";
    let sized = [&(native.len() as u64).to_le_bytes()[..], native.as_bytes(), b"image"].concat();
    let entries = [
        piece("global_metadata", b"[SYCLBIN/global metadata]\nstate=1|1\n")
            .with_string("sycl_format_version", "2"),
        piece("am_metadata", b"[SYCL/kernel names]\nk=1|1\n").with_string("am_index", "0"),
        piece("native", &sized).with_string("am_index", "0"),
        piece("ir", &[0; 12]).with_string("am_index", "0"),
    ];
    let bytes = offload_binary::write(&entries, Version::V2).unwrap();
    let mut all = fields(0, &ENVELOPE[..4]);
    let entry = [
        ("entry's strings offset", 8, 8),
        ("entry's strings", 16, 8),
        ("entry's image", 24, 8),
        ("entry's size", 32, 8),
    ];
    (0..4).for_each(|index| all.extend(fields(32 + index * 40, &entry)));
    let at = bytes.windows(sized.len()).position(|window| window == sized).unwrap();
    all.extend(fields(at, &[("piece's metadata size", 0, 8)]));
    let sample = Sample { header: bytes.len(), fields: all, bytes };
    torture(&Reader { name: "SYCLBIN draft 2", samples: vec![sample], decode: decode::syclbin, inflates: 0 })
        .unwrap();
}

#[test]
fn property_sets() {
    let texts = [
        "[SYCL/kernel names]\nsaxpy=1|1\n[SYCL/device requirements]\naspects=2|gAAAAAAAAAgBAAAA\n",
        "[a]\nx=2|wCAAAAAAAAwcwlmc2QTL152au92du1Sdutmbvdnb\n[b]\r\n[c]",
        "[]\n|=1|4294967295\n",
    ];
    let samples = texts
        .map(|text| Sample { bytes: text.as_bytes().to_vec(), fields: vec![], header: text.len() })
        .into();
    torture(&Reader { name: "property sets", samples, decode: decode::property_sets, inflates: 0 }).unwrap();
}
