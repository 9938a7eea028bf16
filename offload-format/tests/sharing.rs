//! Packs of several crates over one payload: each is whole by itself, and images build on those of other packs.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test stops at the first surprise")]

use offload_format::Hash128;
use offload_format::codec::{self, Codec, Filter, Frame, InBlock, Parent, Recipe};
use offload_format::pack::{NewBlock, NewImage, Pack, PackBuilder, SharedLayout};

fn image(module: &str, target: &str) -> NewImage {
    NewImage::new(module, target.parse().unwrap())
}

/// 20,000 bytes that differ from those of another seed in a few places.
fn bytes(seed: u32) -> Vec<u8> {
    let word = |at: u32| if at % 1000 == 7 { at ^ seed } else { at.wrapping_mul(0x9e37_79b9) };
    (0..5000).flat_map(|at| word(at).to_le_bytes()).collect()
}

fn related(image: &[u8], parent: &[u8]) -> Frame {
    let parent = Parent { hash: Hash128::of(parent), content: parent };
    let recipe = Recipe { codec: Codec::ZstdPrefix, filter: Filter::None, parent: Some(parent), level: 3 };
    codec::encode_with(image, &recipe).unwrap()
}

/// All bytes, and where each pack starts.
fn assemble(layout: &SharedLayout, frames: &[(Hash128, Vec<u8>)]) -> (Vec<u8>, Vec<usize>) {
    let (mut all, mut starts) = (Vec::new(), Vec::new());
    for (index, _) in &layout.indexes {
        starts.push(all.len());
        all.extend_from_slice(index);
    }
    let payload = all.len();
    for placement in &layout.frames {
        let (_, frame) = frames.iter().find(|(hash, _)| *hash == placement.hash).unwrap();
        all.resize(payload + placement.offset as usize, 0);
        all.extend_from_slice(frame);
    }
    assert_eq!(all.len() as u64, payload as u64 + layout.payload);
    (all, starts)
}

/// Three packs: `a` has a leader, `b` a child of it, a grandchild and an image in a block, `c` a grandchild alone and the
/// block's other image.
fn three() -> (Vec<u8>, Vec<usize>, Vec<Vec<u8>>) {
    let images: Vec<Vec<u8>> = (1..5).map(bytes).collect();
    let small = [b"first small image".repeat(3), b"second small image".repeat(3)];
    let leader = codec::encode(&images[0], Codec::Zstd, 3).unwrap();
    let child = related(&images[1], &images[0]);
    let grandchildren = [related(&images[2], &images[1]), related(&images[3], &images[1])];
    let block = codec::encode(&small.concat(), Codec::Zstd, 3).unwrap();
    let new_block = NewBlock {
        codec: block.info().codec,
        stored_size: block.info().stored_size,
        raw_size: block.info().raw_size,
        hash: block.info().hash,
    };
    let in_block = |at: usize, offset: u64| {
        let size = small[at].len() as u64;
        let info = codec::FrameInfo::new(Codec::Raw, size, (size, Hash128::of(&small[at])));
        info.in_block(InBlock { hash: new_block.hash, offset })
    };
    let mut a = PackBuilder::new("a", "1.0.0");
    a.image(image("m", "spirv64"), leader.info()).unwrap();
    let mut b = PackBuilder::new("b", "1.0.0");
    b.block(new_block);
    b.image(image("m", "spirv64"), child.info()).unwrap();
    b.image(image("m", "opencl-c"), grandchildren[0].info()).unwrap();
    b.image(image("small", "opencl-c"), in_block(0, 0)).unwrap();
    let mut c = PackBuilder::new("c", "1.0.0");
    c.block(new_block);
    c.image(image("m", "spirv64"), grandchildren[1].info()).unwrap();
    c.image(image("small", "opencl-c"), in_block(1, small[0].len() as u64)).unwrap();
    let layout = PackBuilder::finish_sharing(vec![a, b, c]).unwrap();
    let [one, two] = grandchildren;
    let frames = [leader, child, one, two, block].map(|frame| (frame.info().hash, frame.into_bytes()));
    let (all, starts) = assemble(&layout, &frames);
    (all, starts, images.into_iter().chain(small).collect())
}

#[test]
fn each_pack_is_whole_and_lists_its_own_images_alone() {
    let (all, starts, images) = three();
    let mut seen = Vec::new();
    for (start, count) in starts.iter().zip([1, 3, 2]) {
        let pack = Pack::parse(&all[*start..]).unwrap();
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
    let mut want = images;
    want.sort();
    assert!(seen == want);
}

#[test]
fn the_packs_of_a_file_are_found_one_from_another() {
    let (mut all, starts, _) = three();
    let end = all.len().next_multiple_of(16);
    all.resize(end, 0);
    let mut found = Vec::new();
    let mut at = 0;
    while at < all.len() {
        found.push(at);
        at += Pack::parse(&all[at..]).unwrap().next() as usize;
    }
    assert_eq!((found, at), (starts, end));
}

#[test]
fn an_identity_covers_the_indexes_behind_it() {
    let (mut all, starts, _) = three();
    all[starts[2] + 70] ^= 1;
    for start in starts {
        assert!(Pack::parse(&all[start..]).and_then(|pack| pack.verify_index()).is_err(), "{start}");
    }
}
