//! Reading packs and loading their images.

use std::sync::Barrier;

use crate::common::{CODEC, TestPack};
use offload_format::Hash128;
use offload_format::pack::{Missing, MissingKind, PackBuilder};
use offload_rt::{Device, DeviceDescription, ErrorKind, ImageKind, LoadedImage, OpenClDescription, Registry};

fn reasons(bytes: Vec<u8>) -> Vec<String> {
    let registry = Registry::from_pack(bytes);
    assert!(registry.entries().is_empty());
    registry.unreadable().iter().map(ToString::to_string).collect()
}

/// Changes bytes of the index and makes its hash right again.
fn edited(mut bytes: Vec<u8>, edit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    edit(&mut bytes);
    let payload = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    let hash = Hash128::digest_parts(&[&bytes[..48], &bytes[64..payload]]);
    bytes[48..64].copy_from_slice(&hash.0);
    bytes
}

fn find(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

/// The hint of the error for a module without images, of a pack with this record.
fn absence_hint(kind: MissingKind) -> String {
    let mut builder = PackBuilder::new("my-crate", "1.0.0");
    builder.missing(Missing::new(kind, "m").with_reason("some reason"));
    let pack = builder.finish().unwrap().index;
    let error = Registry::from_pack(pack).request("m").select(&Device::host()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownModule);
    assert!(error.problem().contains("some reason"), "{error}");
    error.hint().unwrap()
}

#[test]
fn a_build_without_kernels_is_told_from_files_that_are_lost_and_from_a_crate_that_is_not_linked() {
    let unlinked = Registry::default().request("m").select(&Device::host()).unwrap_err().hint().unwrap();
    let hints = [absence_hint(MissingKind::Build), absence_hint(MissingKind::Sidecar), unlinked];
    assert_ne!(hints[0], hints[1]);
    assert_ne!(hints[0], hints[2]);
    assert_ne!(hints[1], hints[2]);
}

#[test]
fn entries_say_what_the_pack_says() {
    let registry = Registry::from_pack(TestPack::new("my-crate").targets("m", &["opencl-c"]).bytes());
    let entry = &registry.entries()[0];
    let image = entry.load().unwrap();
    assert_eq!(image.bytes(), "m for opencl-c ".repeat(100).as_bytes());
    assert_eq!((entry.module(), entry.variant(), entry.target_text()), ("m", "", "opencl-c"));
    assert_eq!((entry.package(), entry.image_kind(), entry.codec()), ("my-crate", ImageKind::OpenClC, CODEC));
    assert_eq!((entry.raw_size(), entry.hash()), (1500, Hash128::digest(image.bytes())));
    assert!(cfg!(miri) || entry.stored_size() < 200);
    assert_eq!(entry.to_string(), "m for opencl-c");
}

#[test]
fn packs_that_cannot_be_read_are_skipped_with_the_reason() {
    fn pack() -> Vec<u8> {
        TestPack::new("p").targets("m", &["host"]).bytes()
    }
    fn edit(at: usize) -> Vec<u8> {
        let mut bytes = pack();
        bytes[at] ^= 1;
        bytes
    }
    for (bytes, reason) in [
        (Vec::new(), "the data ends early"),
        (b"not a pack, but long enough to hold a header of one".to_vec(), "not an offload pack"),
        (pack()[..200].to_vec(), "the data ends early"),
        (edit(8), "version 0"),
        (edit(70), "the data ends early: the table"),
        (edit(find(&pack(), "host")), "the index of the pack is damaged"),
    ] {
        let found = reasons(bytes);
        assert!(matches!(found.as_slice(), [one] if one.contains(reason)), "{reason}: {found:?}");
    }
}

#[test]
fn a_damaged_image_is_an_error_that_stays_and_spares_its_neighbours() {
    let mut bytes = TestPack::new("p").targets("m", &["host", "opencl-c"]).bytes();
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    let registry = Registry::from_pack(bytes);
    let [host, source] = registry.entries() else { panic!("two images") };
    assert_eq!(host.load().unwrap().bytes().len(), 1100);
    let first = source.load().unwrap_err().to_string();
    assert!(first.starts_with("cannot load m for opencl-c: "), "{first}");
    assert_eq!(source.load().unwrap_err().to_string(), first);
}

#[test]
fn images_of_later_releases_are_listed_and_refused() {
    // The record of the only image: its codec is at offset 28, behind three texts and two kinds.
    let pack = TestPack::new("p").targets("m", &["opencl-c"]).bytes();
    let device = DeviceDescription::from(OpenClDescription::new("d", "v").opencl_c());
    let hash = Registry::from_pack(pack.clone()).entries()[0].hash();
    let record = pack.windows(16).position(|window| window == hash.0).unwrap() - 64;
    for (offset, value, reason) in
        [(28, 77u16, "codec 77"), (30, 78, "filter 78"), (24, 999, "kind unknown(999)")]
    {
        let bytes = edited(pack.clone(), |bytes| {
            bytes[record + offset..record + offset + 2].copy_from_slice(&value.to_le_bytes());
        });
        let registry = Registry::from_pack(bytes);
        assert_eq!(registry.entries().len(), 1);
        let error = registry.request("m").select(&device).unwrap_err().to_string();
        assert!(
            error.contains(reason)
                && (error.contains("newer than this release") || error.contains("does not support")),
            "{error}"
        );
        if offset != 24 {
            assert!(registry.entries()[0].load().is_err());
        }
    }
    let bytes = edited(pack.clone(), |bytes| {
        let at = find(bytes, "opencl-c");
        bytes[at..at + 8].copy_from_slice(b"opencl-z");
    });
    let registry = Registry::from_pack(bytes);
    assert!(registry.entries()[0].target().is_err());
    let error = registry.request("m").select(&device).unwrap_err().to_string();
    assert!(error.contains("opencl-z: its target is newer than this release of offload-rt"), "{error}");
}

/// Eight images, which 64 threads ask for at the same time.
#[test]
fn sixty_four_threads_share_one_result() {
    const TARGETS: [&str; 8] = [
        "host",
        "opencl-c",
        "spirv64",
        "intel:pvc",
        "intel:acm-g10",
        "nvptx:sm_80",
        "cubin:sm_80",
        "amdgcn:gfx90a",
    ];
    let rounds = match std::env::var_os("OFFLOAD_TEST_FULL") {
        _ if cfg!(miri) => 1,
        Some(_) => 1000,
        None => 10,
    };
    for _ in 0..rounds {
        let registry = Registry::from_pack(TestPack::new("p").targets("m", &TARGETS).bytes());
        let start = Barrier::new(64);
        let loaded: Vec<Vec<LoadedImage>> = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for _ in 0..64 {
                threads.push(scope.spawn(|| {
                    start.wait();
                    registry.entries().iter().map(|entry| entry.clone().load().unwrap()).collect()
                }));
            }
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        fn addresses(images: &[LoadedImage]) -> Vec<usize> {
            images.iter().map(|image| image.bytes().as_ptr().addr()).collect()
        }
        assert!(loaded.iter().all(|images| addresses(images) == addresses(&loaded[0])));
        let again: Vec<_> = registry.clone().entries().iter().map(|entry| entry.load().unwrap()).collect();
        assert_eq!(addresses(&again), addresses(&loaded[0]));
        // The bytes are not in use any more, and are decoded again.
        let copies: Vec<Vec<u8>> = again.iter().map(|image| image.bytes().to_vec()).collect();
        drop((again, loaded));
        for (entry, copy) in registry.entries().iter().zip(copies) {
            assert_eq!(entry.load().unwrap().bytes(), copy);
        }
    }
    println!("figure: 64 threads, {rounds} rounds, {} images; 0 images twice", TARGETS.len());
}

#[test]
fn an_image_is_loaded_once_whether_it_is_listed_or_chosen_first() {
    let pack = TestPack::new("p").targets("a", &["opencl-c", "host"]).targets("b", &["host"]).bytes();
    let [listed_first, chosen_first] = [(); 2].map(|()| Registry::from_pack(pack.clone()));
    fn chosen(registry: &Registry, module: &str) -> LoadedImage {
        registry.request(module).select(&Device::host()).unwrap().entry().load().unwrap()
    }
    fn listed(registry: &Registry, at: usize) -> LoadedImage {
        registry.entries()[at].load().unwrap()
    }
    let first: Vec<LoadedImage> = (0..3).map(|at| listed(&listed_first, at)).collect();
    for (module, at) in [("a", 0), ("b", 2)] {
        assert_eq!(first[at].entry().to_string(), format!("{module} for host"));
        assert_eq!(chosen(&listed_first, module).bytes().as_ptr(), first[at].bytes().as_ptr());
    }
    let first = chosen(&chosen_first, "a");
    assert_eq!(listed(&chosen_first, 0).bytes().as_ptr(), first.bytes().as_ptr());
    assert_eq!(chosen(&chosen_first, "b").bytes().as_ptr(), listed(&chosen_first, 2).bytes().as_ptr());
}

#[test]
fn an_image_that_is_out_of_order_is_not_listed() {
    let pack = TestPack::new("p").targets("module1", &["host"]).targets("module2", &["host"]).bytes();
    let at = find(&pack, "module1");
    let registry = Registry::from_pack(edited(pack, |bytes| bytes[at + 6] = b'3'));
    assert_eq!(registry.entries().iter().map(|entry| entry.module()).collect::<Vec<_>>(), ["module3"]);
    let reasons: Vec<String> = registry.unreadable().iter().map(ToString::to_string).collect();
    assert_eq!(reasons, ["image 1 of package p: it is out of order"]);
}

#[test]
fn of_many_modules_one_is_found_whatever_happened_to_others() {
    let names: Vec<String> = (0..900).map(|at| format!("module{at:03}")).collect();
    let pack = names.iter().fold(TestPack::new("many"), |pack, name| pack.targets(name, &["host"]));
    let mut bytes = pack.bytes();
    fn found(bytes: &[u8], name: &str) -> Option<Vec<u8>> {
        let registry = Registry::from_pack(bytes.to_vec());
        let selection = registry.request(name).select(&Device::host()).ok()?;
        Some(selection.entry().load().unwrap().bytes().to_vec())
    }
    for name in ["module000", "module450", "module899"] {
        assert_eq!(found(&bytes, name).unwrap(), format!("{name} for host ").repeat(100).as_bytes());
    }
    assert_eq!(Registry::from_pack(bytes.clone()).entries().len(), 900);
    // The first page lies behind the index.
    let page = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    bytes[page + 100] ^= 1;
    assert_eq!((found(&bytes, "module000"), found(&bytes, "module899").is_some()), (None, true));
    let registry = Registry::from_pack(bytes);
    let skipped: Vec<String> = registry.unreadable().iter().map(ToString::to_string).collect();
    assert!((1..900).contains(&registry.entries().len()));
    assert!(skipped.len() == 1 && skipped[0].starts_with("an image of package many: "), "{skipped:?}");
}
