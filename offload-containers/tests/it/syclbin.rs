//! SYCLBIN: every form is read, what is written is what runtimes take, and hazards are named.
#![cfg(feature = "syclbin")]

mod hazards;

use offload_containers::offload_binary::{self, NewEntry, NewString, Version};
use offload_containers::syclbin::{
    BundleState, Consequence, File, ImageKindNumber, KERNEL_PREFIX, NativeImage, NewModule, Payload, Problem,
    PropertySets, PropertyValue, Release, Requirements, Usage, hazards, hazards_of, parse, sets, write,
};
use offload_format::{Error, ErrorKind, ImageKind, Limits, OffloadKind};
use offload_images::spirv;

const SPIRV: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");
const IMPORT: &[u8] = include_bytes!("../../../tests/data/import.spv");

fn read(file: &[u8]) -> File<'_> {
    parse(file, &Limits::default()).unwrap()
}

fn renamed() -> Vec<u8> {
    spirv::with_prefixed_kernels(SPIRV, KERNEL_PREFIX).unwrap()
}

/// A file in the envelope that runtimes write: version 2, no strings, the image behind the entry.
fn in_version_2(inner: &[u8]) -> Vec<u8> {
    let entry = NewEntry::new(ImageKind::from_u16(7), OffloadKind::Sycl, inner);
    offload_binary::write(&[entry], Version::V2).unwrap()
}

fn inner(file: &[u8]) -> Vec<u8> {
    let binaries = offload_binary::parse(file, &Limits::default()).unwrap();
    binaries[0].entries().next().unwrap().image.to_vec()
}

fn module(spirv: &[u8]) -> NewModule<'_> {
    NewModule::default()
        .with_kernels(["__sycl_kernel_saxpy", "__sycl_kernel_reduce"])
        .unwrap()
        .with_requirements(&Requirements::default())
        .with_spirv(spirv)
}

#[test]
fn the_layout_is_the_runtime_s() {
    let module =
        NewModule::default().with_kernels(["__sycl_kernel_k"]).unwrap().with_spirv(b"\x03\x02\x23\x07");
    let file = write(BundleState::Executable, &[module], ImageKindNumber::default()).unwrap();
    assert_eq!(file.len() % 8, 0);
    assert_eq!(u64::from_le_bytes(file[8..16].try_into().unwrap()), file.len() as u64);
    assert_eq!(file[32..40], [7, 0, 8, 0, 0, 0, 0, 0]);
    // The string map is empty, the image follows an empty string.
    assert_eq!((file[40], file[48], file[56]), (0x48, 0, 0x50));
    assert_eq!(&file[0x50..0x58], b"IBYS\x01\0\0\0");
    assert_eq!(file[0x58..0x68], [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(&file[0xc8..0xc8 + 0x24], b"[SYCLBIN/global metadata]\nstate=1|2\n");
    // The global metadata, then the module's.
    assert_eq!((file[0x78], file[0x80], file[0x88]), (0, 0x24, 0x24));
    assert_eq!(&file[0xec..0x112], b"[SYCL/kernel names]\n__sycl_kernel_k=1|");
    assert!(file.ends_with(b"\x03\x02\x23\x07\0\0\0\0"));
}

#[test]
fn several_modules_with_all_they_may_have_are_read_back() {
    let spirv = renamed();
    let needs = Requirements {
        aspects: vec![5, 6],
        compile_target: Some("intel_gpu_pvc".into()),
        work_group_size: Some(vec![64, 1, 1]),
        sub_group_size: Some(16),
    };
    let own: PropertySets<'_> =
        "[RUST/offload-build]\nversion=1|1\n[SYCL/kernel param opt]\nk=2|DAAAAAAAAAQD\n".parse().unwrap();
    let pvc = NativeImage { target: "spir64_gen-unknown-unknown", arch: "intel_gpu_pvc", image: b"zebin" };
    let sm = NativeImage { target: "nvptx64-nvidia-cuda", arch: "sm_90", image: b"cubin bytes" };
    let first = module(&spirv).with_requirements(&needs).with_metadata(&own);
    let first = first.with_native(pvc).with_native(sm);
    let library = NewModule::default().with_exported(["f"]).unwrap().with_spirv(SPIRV);
    let user = NewModule::default().with_imported(["f"]).unwrap().with_spirv(&spirv);
    for state in [BundleState::Input, BundleState::Object, BundleState::Executable] {
        for kind in [ImageKindNumber::default(), ImageKindNumber::ONEAPI_2025_3] {
            let bytes = write(state, &[first.clone(), library.clone(), user.clone()], kind).unwrap();
            let file = read(&bytes);
            assert_eq!((file.state().unwrap(), file.version), (state, 1));
            assert_eq!(file.envelope.unwrap().image_kind, kind);
            let modules: Vec<NewModule<'_>> = file.modules.iter().map(NewModule::from).collect();
            assert_eq!(modules, [first.clone(), library.clone(), user.clone()]);
            assert_eq!(write(state, &modules, kind).unwrap(), bytes);
            let [one, two, three] = &file.modules[..] else { panic!() };
            assert_eq!(one.native[0].target().unwrap(), "spir64_gen-unknown-unknown");
            assert_eq!(
                (one.native[1].arch().unwrap().as_str(), one.native[1].bytes),
                ("sm_90", &b"cubin bytes"[..])
            );
            assert_eq!(one.compile_target().as_deref(), Some("intel_gpu_pvc"));
            assert_eq!(one.metadata.get("RUST/offload-build", "version"), Some(PropertyValue::Number(1)));
            assert_eq!(one.ir[0].target().unwrap(), "spir64-unknown-unknown");
            assert_eq!(
                (two.exported().collect::<Vec<_>>(), three.imported().collect::<Vec<_>>()),
                (vec!["f"], vec!["f"])
            );
        }
    }
}

#[test]
fn every_set_of_the_design_document_passes_through() {
    let numbers = PropertyValue::numbers;
    let lines = [
        ("SYCL/kernel names", "k", PropertyValue::Number(1)),
        ("SYCL/misc properties", "isEsimdImage", PropertyValue::Number(0)),
        ("SYCL/misc properties", "sycl-grf-size", PropertyValue::Number(256)),
        ("SYCL/kernel param opt", "k", PropertyValue::Bits { bits: 5, bytes: vec![0b10110] }),
        ("SYCL/specialization constants", "c", numbers(&[0, 0, 4])),
        ("SYCL/specialization constants default values", "all", PropertyValue::Bytes(vec![1, 2, 3])),
        ("SYCL/specialization constants set values", "all", PropertyValue::Bytes(vec![])),
        ("SYCL/device globals", "g", numbers(&[4, 1])),
        ("SYCL/program metadata", "Requires finalization", PropertyValue::Number(1)),
        ("SYCL/program metadata", "k@reqd_work_group_size", numbers(&[64, 0, 1, 0, 1, 0])),
        ("SYCL/devicelib req mask", "DeviceLibReqMask", PropertyValue::Number(512)),
        ("SYCL/devicelib metadata", "isDeviceLibImage", PropertyValue::Number(1)),
        ("SYCL/assert used", "k", PropertyValue::Number(1)),
        ("SYCL/host pipes", "p", numbers(&[4])),
        ("SYCL/virtual functions", "virtual-functions-set", PropertyValue::text("a,b")),
        ("SYCL/implicit local arg", "k", PropertyValue::Number(3)),
        ("SYCL/registered kernels", "k", PropertyValue::text("_ZTSk")),
        ("SYCL/work group dynamic local mem", "k", PropertyValue::Number(1)),
    ];
    let text: String = lines.iter().map(|(set, name, value)| format!("[{set}]\n{name}={value}\n")).collect();
    let text = text.as_str();
    let sets = PropertySets::parse(text).unwrap();
    let found: Vec<_> = sets.properties().collect();
    assert_eq!(found.iter().map(|it| (it.set, it.name, it.value.clone())).collect::<Vec<_>>(), lines);
    let module = NewModule::default().with_metadata(&sets).with_spirv(SPIRV);
    let file = write(BundleState::Object, &[module], ImageKindNumber::default()).unwrap();
    assert_eq!(read(&file).modules[0].metadata.to_string(), text);
}

#[test]
fn every_envelope_is_read() {
    let spirv = renamed();
    let bytes = write(BundleState::Executable, &[module(&spirv)], ImageKindNumber::default()).unwrap();
    let bare = inner(&bytes);
    let v2 = in_version_2(&inner(&bytes));
    let expected = read(&bytes);
    for (file, version) in [(&bare, None), (&v2, Some(2)), (&bytes, Some(1))] {
        let found = read(file);
        assert_eq!((&found.metadata, &found.modules), (&expected.metadata, &expected.modules));
        assert_eq!(found.envelope.map(|envelope| envelope.version), version);
    }
    // What lies behind the first image is not looked at.
    assert_eq!(read(&[&bytes[..], b"more"].concat()).modules, expected.modules);
}

#[test]
fn metadata_is_never_empty() {
    let file = write(BundleState::Object, &[NewModule::default()], ImageKindNumber::default()).unwrap();
    assert_eq!(read(&file).modules[0].metadata.to_string(), "[SYCL/kernel names]\n");
}

/// The draft: one entry for each piece, in any order.
fn draft(pieces: &[Piece]) -> Vec<u8> {
    let entries: Vec<NewEntry<'_>> = pieces
        .iter()
        .map(|(strings, image)| {
            let mut entry = NewEntry::new(ImageKind::from_u16(7), OffloadKind::Sycl, image);
            entry.strings =
                strings.iter().map(|(key, value)| NewString { key, value: value.as_bytes() }).collect();
            entry
        })
        .collect();
    offload_binary::write(&entries, Version::V2).unwrap()
}

fn sized(metadata: &str, payload: &[u8]) -> Vec<u8> {
    [&(metadata.len() as u64).to_le_bytes()[..], metadata.as_bytes(), payload].concat()
}

type Piece = (&'static [(&'static str, &'static str)], Vec<u8>);

fn pieces() -> Vec<Piece> {
    let native =
        "[SYCLBIN/native device code image metadata]\ntarget=2|wCAAAAAAAAwcwlmc2QTL152au92du1Sdutmbvdnb\n";
    vec![
        (&[("role", "native"), ("am_index", "1"), ("arch", "x")], sized(native, b"native")),
        (
            &[("role", "global_metadata"), ("sycl_format_version", "2")],
            b"[SYCLBIN/global metadata]\nstate=1|1\n".to_vec(),
        ),
        (&[("role", "am_metadata"), ("am_index", "1")], b"[SYCL/kernel names]\nb=1|1\n".to_vec()),
        (&[("role", "am_metadata"), ("am_index", "0")], b"[SYCL/kernel names]\na=1|1\n".to_vec()),
        (&[("role", "ir"), ("am_index", "0"), ("ir_type", "0")], sized("", SPIRV)),
    ]
}

#[test]
fn the_draft_of_version_2_is_read() {
    let bytes = draft(&pieces());
    #[cfg(feature = "contents")]
    {
        use offload_containers::carrier::FileKind;
        assert_eq!(FileKind::detect(&bytes), Some(FileKind::Syclbin));
        let images = offload_containers::contents::images(&bytes, &Limits::default()).unwrap();
        assert_eq!(images[0].name, "module 0");
        assert_eq!(images[0].containers, [FileKind::Syclbin]);
    }
    let file = read(&bytes);
    assert_eq!((file.version, file.state().unwrap()), (2, BundleState::Object));
    let kernels: Vec<_> = file.modules.iter().flat_map(|module| module.kernels()).collect();
    assert_eq!(kernels, ["a", "b"]);
    assert_eq!(file.modules[0].ir[0].bytes, SPIRV);
    assert_eq!(file.modules[1].native[0].bytes, b"native");
    assert_eq!(file.modules[1].native[0].target().unwrap(), "spir64-unknown-unknown");
}

fn refusal_of_changed(edit: fn(&mut Vec<Piece>)) -> Error {
    let mut all = pieces();
    edit(&mut all);
    parse(&draft(&all), &Limits::default()).unwrap_err()
}

#[test]
fn a_malformed_draft_is_refused() {
    refusal_of_changed(|all| drop(all.remove(1)));
    refusal_of_changed(|all| all.push(all[1].clone()));
    refusal_of_changed(|all| drop(all.remove(3)));
    refusal_of_changed(|all| all.push(all[3].clone()));
    refusal_of_changed(|all| all[4].0 = &[("role", "ir"), ("am_index", "2")]);
    refusal_of_changed(|all| all[4].0 = &[("role", "ir"), ("am_index", "+0")]);
    refusal_of_changed(|all| all[4].0 = &[("role", "ir")]);
    refusal_of_changed(|all| all[4].0 = &[("role", "irr"), ("am_index", "0")]);
    refusal_of_changed(|all| all[4].0 = &[("am_index", "0")]);
    refusal_of_changed(|all| all[4].1[..8].copy_from_slice(&u64::MAX.to_le_bytes()));
    let later =
        refusal_of_changed(|all| all[1].0 = &[("role", "global_metadata"), ("sycl_format_version", "3")]);
    assert!(matches!(later.kind(), ErrorKind::Version { found: 3, .. }), "{later}");
}

#[test]
fn unknown_versions_and_states_are_refused() {
    let bytes = write(BundleState::Executable, &[module(SPIRV)], ImageKindNumber::default()).unwrap();
    let mut bare = inner(&bytes);
    bare[4] = 2;
    assert!(matches!(
        parse(&bare, &Limits::default()).unwrap_err().kind(),
        ErrorKind::Version { found: 2, .. }
    ));
    bare[4] = 0;
    assert_eq!(read(&bare).version, 0);
    let other =
        offload_binary::write(&[NewEntry::new(ImageKind::SpirV, OffloadKind::Sycl, SPIRV)], Version::V1)
            .unwrap();
    assert!(matches!(parse(&other, &Limits::default()).unwrap_err().kind(), ErrorKind::Magic { .. }));
    let error = parse(&bytes, &Limits::default().with_entries(1)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooMany { .. }), "{error}");
}
