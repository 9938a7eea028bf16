//! Packs with a paged index: lookups decode few pages, and damage is detected.

use offload_format::codec::{self, Codec};
use offload_format::pack::{KernelInfo, NewImage, Pack, PackBuilder, Pages, layout};
use offload_format::{Error, Hash128};

const TARGETS: [&str; 2] = ["host", "spirv64"];

/// The bytes of the image of module `at`.
fn raw(at: usize) -> Vec<u8> {
    format!("the image of module {at}").into_bytes()
}

fn name(at: usize) -> String {
    format!("module{at:06}")
}

/// A pack of `modules` modules, each with an image of its own and one in a block.
fn sample(modules: usize) -> Vec<u8> {
    let block = codec::encode(b"an image in a block", Codec::Raw, 0).unwrap();
    let mut builder = PackBuilder::new("many", "1.2.3");
    let hash = block.info().hash;
    builder.block(block.info().into());
    let mut frames = vec![block];
    for at in 0..modules {
        let frame = codec::encode(&raw(at), Codec::Raw, 0).unwrap();
        let kernels = vec![KernelInfo::new(format!("kernel{at}"))];
        let image = NewImage { kernels, ..NewImage::new(&name(at), "host".parse().unwrap()) };
        builder.image(image, frame.info()).unwrap();
        frames.push(frame);
        let place = codec::InBlock { hash, offset: 3 };
        let member = codec::FrameInfo::new(Codec::Raw, 5, 5, Hash128::digest(b"image")).in_block(place);
        builder.image(NewImage::new(&name(at), "spirv64".parse().unwrap()), member).unwrap();
    }
    let layout = builder.finish().unwrap();
    let bytes = layout.with_frames(&frames).unwrap();
    assert_eq!(bytes.len() as u64, layout.size);
    bytes
}

/// The records and bytes of all images.
fn read_all(bytes: &[u8]) -> Result<Vec<String>, Error> {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages)?;
    pack.verify_index()?;
    let mut all = Vec::new();
    for image in pack.images() {
        let image = image?;
        let kernels = pack.kernels(&image).collect::<Result<Vec<_>, _>>()?;
        let kernels: Vec<String> = kernels.into_iter().map(|kernel| kernel.name).collect();
        let raw = String::from_utf8(codec::decode(&pack, &image)?).unwrap();
        all.push(format!("{} {} {kernels:?} {raw}", image.module, image.target_text));
    }
    assert_eq!(all.len() as u64, pack.image_count());
    Ok(all)
}

#[test]
fn every_image_of_many_is_read() {
    let bytes = sample(2000);
    let mut expected = Vec::new();
    for at in 0..2000 {
        expected.push(format!("{} host [\"kernel{at}\"] the image of module {at}", name(at)));
        expected.push(format!("{} spirv64 [] image", name(at)));
    }
    assert_eq!(read_all(&bytes).unwrap(), expected);

    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    for at in [0, 1, 2, 511, 512, 1234, 1998, 1999] {
        let numbers = pack.module(&name(at)).unwrap();
        assert_eq!(numbers, 2 * at as u32..2 * at as u32 + 2);
        for (number, target) in numbers.zip(TARGETS) {
            let image = pack.image(number).unwrap();
            assert_eq!((image.module, image.target_text, image.number), (name(at).as_str(), target, number));
        }
    }
    assert!(pack.image(4000).is_err());
    for stranger in ["", "a", "module000000a", "module001999a", "z"] {
        assert!(pack.module(stranger).unwrap().is_empty(), "{stranger:?}");
    }
}

#[test]
fn an_index_is_small_from_a_few_images_on() {
    for modules in [4, 40, 4000] {
        let bytes = sample(modules);
        let pages = Pages::default();
        let pack = Pack::parse(&bytes, &pages).unwrap();
        assert!(pack.head_size() > pack.payload_offset(), "{modules}");
        let records =
            modules as u64 * (2 * layout::IMAGE_RECORD + layout::KERNEL_RECORD + layout::DETAILS_RECORD);
        // Half of the images have a hash of their own, which does not shrink.
        let hashes = modules as u64 * 16;
        let size = pack.head_size() - layout::HEADER_SIZE;
        assert!(size > hashes && (size - hashes) * 2 < records, "{size} bytes for {modules} modules");
        assert_eq!(pack.images().count(), 2 * modules);
    }
    // A single image has little to gain.
    let bytes = sample(0);
    let pack = Pack::parse(&bytes, &Pages::default()).map(|pack| (pack.head_size(), pack.payload_offset()));
    assert!(pack.is_ok_and(|(head, payload)| head == payload));
}

#[test]
fn details_are_decoded_for_the_kernels_of_a_page_alone() {
    let bytes = sample(4000);
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    let image = pack.image(pack.module(&name(1000)).unwrap().start).unwrap();
    assert_eq!(pack.kernel_needs(&image).next().unwrap().unwrap().name, "kernel1000");
    assert_eq!(pages.decoded_details(), 0);
    assert_eq!(pack.kernels(&image).next().unwrap().unwrap().name, "kernel1000");
    assert_eq!(pages.decoded_details(), 1);
}

#[test]
fn a_look_up_decodes_two_pages_at_most() {
    let bytes = sample(4000);
    for at in [0, 17, 1000, 2222, 3999] {
        let pages = Pages::default();
        let pack = Pack::parse(&bytes, &pages).unwrap();
        pack.verify_index().unwrap();
        assert_eq!((pack.image_count(), pack.meta("package")), (8000, Some("many")));
        assert_eq!(pages.decoded(), 0, "before the first question");
        for number in pack.module(&name(at)).unwrap() {
            assert!(!codec::decode(&pack, &pack.image(number).unwrap()).unwrap().is_empty());
        }
        let decoded = pages.decoded();
        assert!((1..=2).contains(&decoded), "{decoded} pages");
    }
}

#[test]
fn what_stands_beside_the_images_is_read_without_a_page() {
    let bytes = sample(2000);
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    assert_eq!((pack.image_count(), pack.meta("version")), (4000, Some("1.2.3")));
    assert_eq!((pages.decoded(), pack.missing().count()), (0, 0));
    assert!(pack.image(7).is_ok() && pages.decoded() == 1);
}

#[test]
fn changed_bytes_of_index_and_pages_are_noticed() {
    let good = sample(600);
    let images = read_all(&good).unwrap();
    let head = Pack::parse(&good, &Pages::default()).unwrap().head_size() as usize;
    for at in (0..head).step_by(37).chain(head - 40..head) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        if let Ok(read) = read_all(&bad) {
            assert_eq!(read, images, "byte {at}");
        }
    }
    for size in (0..good.len()).step_by(997) {
        assert!(read_all(&good[..size]).is_err(), "cut to {size}");
    }
}

#[test]
fn page_records_of_any_value_do_no_harm() {
    let good = sample(600);
    // After the texts, the metadata and the blocks.
    let entry = layout::HEADER_SIZE as usize + 3 * layout::DIRECTORY_ENTRY as usize;
    assert_eq!(good[entry], layout::TABLE_PAGES as u8);
    let start = u32::from_le_bytes(good[entry + 4..entry + 8].try_into().unwrap()) as usize;
    let values = [0, 1, 0x7f, 0xffff_ffff, 1 << 32, 1 << 62, u64::MAX - 7, u64::MAX];
    for at in start..start + 2 * layout::PAGE_RECORD as usize {
        for value in values {
            let mut bad = good.clone();
            bad[at..at + 8].copy_from_slice(&value.to_le_bytes());
            let pages = Pages::default();
            // Without the index hash, to get past the first defence.
            let pack = Pack::parse(&bad, &pages).unwrap();
            let _ = (pack.head_size(), pack.image_count(), pack.image(3), pack.image(u32::MAX));
            let _ = (pack.module("module000300"), pack.module("z"));
            for image in pack.images().take(20).flatten() {
                let _ = (pack.kernels(&image).count(), codec::decode(&pack, &image));
            }
        }
    }
}
