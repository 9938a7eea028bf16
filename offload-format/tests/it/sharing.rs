//! Packs of several crates over one payload: each is whole by itself, and images build on those of other packs.

use offload_format::Hash128;
use offload_format::codec::{self, Codec, EncodeOptions, Filter, Frame, InBlock, Parent};
use offload_format::pack::{NewBlock, NewImage, Pack, PackBuilder, Pages, SharedLayout};

fn image(module: &str, target: &str) -> NewImage {
    NewImage::new(module, target.parse().unwrap())
}

/// 20,000 bytes that differ from those of another seed in a few places.
fn bytes(seed: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for at in 0u32..5000 {
        let word = if at % 1000 == 7 { at ^ seed } else { at.wrapping_mul(0x9e37_79b9) };
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

fn related(image: &[u8], parent: &[u8]) -> Frame {
    let parent = Parent { hash: Hash128::digest(parent), content: parent };
    let options =
        EncodeOptions { codec: Codec::ZstdPrefix, filter: Filter::None, parent: Some(parent), level: 3 };
    codec::encode_with(image, &options).unwrap()
}

/// All bytes, and where each pack starts.
fn assemble(layout: &SharedLayout, frames: &[Frame]) -> (Vec<u8>, Vec<usize>) {
    let mut starts = Vec::new();
    let mut end = 0;
    for index in &layout.indexes {
        starts.push(end);
        end += index.bytes.len();
    }
    let all = layout.with_frames(frames).unwrap();
    assert_eq!(all.len() as u64, end as u64 + layout.payload);
    (all, starts)
}

/// Three packs: `a` has a root, `b` a child of it, a grandchild and an image in a block, `c` a grandchild alone and the
/// block's other image.
fn three() -> (Vec<u8>, Vec<usize>, Vec<Vec<u8>>) {
    let images: Vec<Vec<u8>> = (1..5).map(bytes).collect();
    let small = [b"first small image".repeat(3), b"second small image".repeat(3)];
    let root = codec::encode(&images[0], Codec::Zstd, 3).unwrap();
    let child = related(&images[1], &images[0]);
    let grandchildren = [related(&images[2], &images[1]), related(&images[3], &images[1])];
    let block = codec::encode(&small.concat(), Codec::Zstd, 3).unwrap();
    let new_block = NewBlock::from(block.info());
    let mut in_block = Vec::new();
    for (image, offset) in small.iter().zip([0, small[0].len() as u64]) {
        let size = image.len() as u64;
        let info = codec::FrameInfo::new(Codec::Raw, size, size, Hash128::digest(image));
        in_block.push(info.in_block(InBlock { hash: new_block.hash, offset }));
    }
    let mut a = PackBuilder::new("a", "1.0.0");
    a.image(image("m", "spirv64"), root.info()).unwrap();
    let mut b = PackBuilder::new("b", "1.0.0");
    b.block(new_block);
    b.image(image("m", "spirv64"), child.info()).unwrap();
    b.image(image("m", "opencl-c"), grandchildren[0].info()).unwrap();
    b.image(image("small", "opencl-c"), in_block[0]).unwrap();
    let mut c = PackBuilder::new("c", "1.0.0");
    c.block(new_block);
    c.image(image("m", "spirv64"), grandchildren[1].info()).unwrap();
    c.image(image("small", "opencl-c"), in_block[1]).unwrap();
    let layout = PackBuilder::finish_sharing(vec![a, b, c]).unwrap();
    let [one, two] = grandchildren;
    let (all, starts) = assemble(&layout, &[root, child, one, two, block]);
    (all, starts, images.into_iter().chain(small).collect())
}

/// Where the packs of `all` start, as each says of the next one; the last one says where it ends.
fn walk(all: &[u8]) -> Vec<usize> {
    let mut found = vec![0];
    while let Some(rest) = found.last().and_then(|at| all.get(*at..)).filter(|rest| !rest.is_empty()) {
        found.push(found[found.len() - 1] + Pack::parse(rest, &Pages::default()).unwrap().next() as usize);
    }
    found
}

/// Reads the packs at `starts`, which have so many images; returns all images, sorted.
fn read(all: &[u8], starts: &[usize], counts: [u64; 3]) -> Vec<Vec<u8>> {
    let mut seen = Vec::new();
    assert_eq!(starts.len(), counts.len());
    for (start, count) in starts.iter().zip(counts) {
        let pages = Pages::default();
        let pack = Pack::parse(&all[*start..], &pages).unwrap();
        pack.verify_index().unwrap();
        assert_eq!(pack.size(), (all.len() - start) as u64);
        assert_eq!((pack.image_count(), pack.images().count() as u64), (count, count));
        for image in pack.images() {
            let image = image.unwrap();
            assert!(!image.module.is_empty());
            seen.push(codec::decode(&pack, &image).unwrap());
        }
        assert!(pack.module("").unwrap().is_empty());
        assert!(pack.image(count as u32 + 9).is_err());
    }
    seen.sort();
    seen
}

#[test]
fn each_pack_is_whole_and_lists_its_own_images_alone() {
    let (all, starts, mut images) = three();
    images.sort();
    assert!(read(&all, &starts, [1, 3, 2]) == images);
}

/// As [`three`], with so many more images in the first and the last pack that their indexes are in pages.
fn three_with_pages() -> (Vec<u8>, Vec<usize>, Vec<Vec<u8>>) {
    let mut images: Vec<Vec<u8>> = (1..4).map(bytes).collect();
    let root = codec::encode(&images[0], Codec::Zstd, 3).unwrap();
    let frames = [root, related(&images[1], &images[0]), related(&images[2], &images[1])];
    let mut builders = Vec::new();
    for (name, frame) in ["a", "b", "c"].into_iter().zip(&frames) {
        let mut builder = PackBuilder::new(name, "1.0.0");
        builder.image(image("m", "spirv64"), frame.info()).unwrap();
        builders.push(builder);
    }
    let mut frames = frames.to_vec();
    for at in 0..2400 {
        let raw = format!("image {at}").into_bytes();
        let frame = codec::encode(&raw, Codec::Raw, 0).unwrap();
        // Some before and some behind the one with relatives.
        let name = format!("{}{at}", if at % 4 < 2 { "l" } else { "n" });
        builders[at % 2 * 2].image(image(&name, "opencl-c"), frame.info()).unwrap();
        frames.push(frame);
        images.push(raw);
    }
    let layout = PackBuilder::finish_sharing(builders).unwrap();
    let (all, starts) = assemble(&layout, &frames);
    (all, starts, images)
}

#[test]
fn packs_with_pages_share_too() {
    let (all, starts, mut images) = three_with_pages();
    images.sort();
    assert!(read(&all, &starts, [1201, 1, 1201]) == images);
    assert_eq!(walk(&all)[..3], starts);
    for (start, is_paged) in starts.iter().zip([true, false, true]) {
        let pages = Pages::default();
        let pack = Pack::parse(&all[*start..], &pages).unwrap();
        assert_eq!(pack.head_size() > pack.payload_offset(), is_paged);
    }

    let pages = Pages::default();
    let pack = Pack::parse(&all[starts[2]..], &pages).unwrap();
    let number = pack.module("m").unwrap().start;
    let parent = pack.image(pack.image(number).unwrap().parent.unwrap()).unwrap();
    assert_eq!((parent.number, parent.module, parent.hash), (1201, "", Hash128::digest(&bytes(2))));
    assert!(pack.image(1203).is_err());
}

/// Pages have hashes of their own: damage to those of one pack leaves the others whole.
#[test]
fn a_damaged_page_is_one_packs_alone() {
    let (mut all, starts, _) = three_with_pages();
    let last = Pack::parse(&all[starts[2]..], &Pages::default()).unwrap().head_size() as usize;
    all[starts[2] + last - 100] ^= 1;
    for (start, is_whole) in starts.iter().zip([true, true, false]) {
        let pages = Pages::default();
        let pack = Pack::parse(&all[*start..], &pages).unwrap();
        let found_whole = pack.verify_index().is_ok() && pack.images().all(|image| image.is_ok());
        assert_eq!(found_whole, is_whole);
    }
}

#[test]
fn the_packs_of_a_file_are_found_one_from_another() {
    let (all, starts, _) = three();
    let end = all.len().next_multiple_of(16);
    assert_eq!(walk(&all), [starts, vec![end]].concat());
}

#[test]
fn an_identity_covers_the_indexes_behind_it() {
    let (mut all, starts, _) = three();
    all[starts[2] + 70] ^= 1;
    for start in starts {
        assert!(
            Pack::parse(&all[start..], &Pages::default()).and_then(|pack| pack.verify_index()).is_err(),
            "{start}"
        );
    }
}
