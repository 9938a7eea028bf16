//! Images that are stored by way of others, and packs of many modules.

use std::sync::Barrier;

use offload_format::codec::{self, Codec, EncodeOptions, Filter, Frame, InBlock, Parent};
use offload_format::pack::{NewImage, PackBuilder};
use offload_format::{Hash128, Target};
use offload_rt::{Device, Entry, Registry};

fn finish(builder: PackBuilder, frames: &[Frame]) -> Vec<u8> {
    builder.finish().unwrap().with_frames(frames).unwrap()
}

fn host() -> Target {
    "host".parse().unwrap()
}

fn text(seed: u32) -> Vec<u8> {
    (0..900u32).flat_map(|word| (word.wrapping_mul(0x9e37_79b9) ^ seed).to_le_bytes()).collect()
}

/// A root, a child of it, a patch of the child, and two images in a block.
fn related() -> (Vec<u8>, Vec<(&'static str, Vec<u8>)>) {
    let root = text(0);
    let mut child = root.clone();
    child.truncate(3000);
    let mut patched = child.clone();
    patched[77] ^= 1;
    let images =
        vec![("root", root), ("child", child), ("patched", patched), ("one", text(1)), ("two", text(2))];
    fn options(codec: Codec, parent: Option<Parent<'_>>) -> EncodeOptions<'_> {
        EncodeOptions { codec, filter: Filter::None, parent, level: 3 }
    }
    fn parent(content: &[u8]) -> Option<Parent<'_>> {
        Some(Parent { hash: Hash128::digest(content), content })
    }
    let mut frames = vec![
        codec::encode_with(&images[0].1, &options(Codec::Raw, None)).unwrap(),
        codec::encode_with(&images[1].1, &options(Codec::ZstdPrefix, parent(&images[0].1))).unwrap(),
        codec::encode_with(&images[2].1, &options(Codec::Patch, parent(&images[1].1))).unwrap(),
    ];
    let mut builder = PackBuilder::new("p", "1.0.0");
    for (frame, (module, _)) in frames.iter().zip(&images) {
        builder.image(NewImage::new(module, host()), frame.info()).unwrap();
    }
    let block = codec::encode(&[&images[3].1[..], &images[4].1].concat(), Codec::Zstd, 3).unwrap();
    let info = block.info();
    builder.block(info.into());
    for (index, offset) in [(3, 0), (4, images[3].1.len() as u64)] {
        let alone = codec::encode(&images[index].1, Codec::Raw, 0).unwrap().info();
        let placed = alone.in_block(InBlock { hash: info.hash, offset });
        builder.image(NewImage::new(images[index].0, host()), placed).unwrap();
    }
    frames.push(block);
    (finish(builder, &frames), images)
}

/// What offload-build generates where programs carry no images.
mod included {
    offload_rt::included_kernel_module!("blas", include_bytes!("../../../tests/data/sample.pack"));
}

#[test]
fn a_pack_may_be_part_of_the_rust() {
    assert_eq!(included::module().name(), "blas");
    assert!(included::module().entries().count() > 0);
}

fn entry_of(registry: &Registry, module: &str) -> Entry {
    registry.request(module).select(&Device::host()).unwrap().entry().clone()
}

#[test]
fn images_come_by_way_of_their_ancestors() {
    let (bytes, images) = related();
    let registry = Registry::from_pack(bytes);
    for (module, image) in &images {
        assert_eq!(entry_of(&registry, module).load().unwrap().bytes(), *image, "{module}");
    }
    let [child, patched, one, two] =
        ["child", "patched", "one", "two"].map(|module| entry_of(&registry, module).stored_size());
    assert!(patched <= 4 && child < 60, "{patched} {child}");
    // Two images that do not compress share their block evenly.
    assert!(one.abs_diff(two) <= 1 && one > 3000);
}

#[test]
fn damage_to_an_ancestor_is_seen_in_its_descendants_alone() {
    let (mut bytes, images) = related();
    let at = bytes.windows(100).position(|window| *window == images[0].1[..100]).unwrap();
    bytes[at + 5] ^= 1;
    let registry = Registry::from_pack(bytes);
    for module in ["root", "child", "patched"] {
        assert!(entry_of(&registry, module).load().is_err(), "{module}");
    }
    assert_eq!(entry_of(&registry, "one").load().unwrap().bytes(), images[3].1);
}

#[test]
fn a_module_among_thousands_is_found_and_loaded_once() {
    let mut builder = PackBuilder::new("p", "1.0.0");
    let mut frames = Vec::new();
    for number in 0..3000u32 {
        let frame = codec::encode(format!("image {number}").as_bytes(), Codec::Raw, 0).unwrap();
        builder.image(NewImage::new(&format!("m{number}"), host()), frame.info()).unwrap();
        frames.push(frame);
    }
    let registry = Registry::from_pack(finish(builder, &frames));
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let registry = &registry;
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for number in (thread % 2..3000).step_by(37) {
                    let selection = registry.request(&format!("m{number}")).select(&Device::host()).unwrap();
                    let image = selection.entry().load().unwrap();
                    assert_eq!(image.bytes(), format!("image {number}").as_bytes());
                }
            });
        }
    });
    // Who looked it up and who lists all get the same bytes.
    let selected = registry.request("m1999").select(&Device::host()).unwrap().entry().load().unwrap();
    assert_eq!(registry.entries().len(), 3000);
    let listed = registry.entries().iter().find(|entry| entry.module() == "m1999").unwrap().load().unwrap();
    assert_eq!(selected.bytes().as_ptr(), listed.bytes().as_ptr());
    for absent in ["", "a", "m", "m3000", "z"] {
        assert!(registry.request(absent).select(&Device::host()).is_err());
    }
}

#[test]
#[cfg(not(feature = "archive"))]
fn an_archive_names_the_feature_that_reads_it() {
    let mut frame = codec::encode(b"an image", Codec::Raw, 0).unwrap().info();
    frame.codec = Codec::Lzma;
    let mut builder = PackBuilder::new("p", "1.0.0");
    builder.image(NewImage::new("m", host()), frame).unwrap();
    let mut bytes = builder.finish().unwrap().index;
    bytes.extend(b"an image");
    let registry = Registry::from_pack(bytes);
    let error = registry.request("m").select(&Device::host()).unwrap_err().to_string();
    assert!(error.contains("needs the feature `archive` of the crate `offload-rt`"), "{error}");
}
