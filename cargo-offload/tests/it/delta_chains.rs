//! Images whose delta parent is removed.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use offload_format::Hash128;
use offload_format::codec::{self, Codec, EncodeOptions, Filter, Frame, Parent};
use offload_format::pack::{NewImage, Pack, PackBuilder, Pages};

/// Processors whose images are stored relative to that of the first.
const TARGETS: [&str; 5] =
    ["amdgcn:gfx1030", "amdgcn:gfx1100", "amdgcn:gfx1101", "amdgcn:gfx1102", "amdgcn:gfx1103"];

/// 160,000 bytes that nothing compresses, of which every fiftieth word is an image's own.
fn image(seed: u64) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    (0..20_000)
        .map(|at| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if at % 50 == 3 { state.rotate_left(seed as u32) ^ seed } else { state }
        })
        .flat_map(u64::to_le_bytes)
        .collect()
}

fn images() -> Vec<Vec<u8>> {
    (1..6).map(image).collect()
}

/// A pack of a root and four children.
fn chain() -> Vec<u8> {
    let images = images();
    let root = codec::encode(&images[0], Codec::Zstd, 3).unwrap();
    let parent = Parent { hash: root.info().hash, content: &images[0] };
    let options =
        EncodeOptions { codec: Codec::ZstdPrefix, filter: Filter::None, parent: Some(parent), level: 3 };
    let children = images[1..].iter().map(|image| codec::encode_with(image, &options).unwrap());
    let frames: Vec<Frame> = std::iter::once(root.clone()).chain(children).collect();
    let mut builder = PackBuilder::new("chain", "1.0.0");
    for (target, frame) in TARGETS.iter().zip(&frames) {
        builder.image(NewImage::new("k", target.parse().unwrap()), frame.info()).unwrap();
    }
    builder.finish().unwrap().with_frames(&frames).unwrap()
}

fn offload(dir: &Path, args: &[&str]) -> bool {
    let args =
        std::iter::once("cargo-offload".into()).chain(args.iter().map(|word| match word.strip_prefix('@') {
            Some(name) => dir.join(name).into_os_string(),
            None => word.into(),
        }));
    cargo_offload::run(args) == ExitCode::SUCCESS
}

/// Every image of a file decodes to what it was; returns how many stand for themselves.
fn roots(bytes: &[u8], targets: &[&str]) -> usize {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages).unwrap();
    let found: Vec<_> = pack.images().map(Result::unwrap).collect();
    assert_eq!(found.iter().map(|image| image.target_text).collect::<Vec<_>>(), targets);
    let wanted: Vec<Hash128> = images().iter().map(|image| Hash128::digest(image)).collect();
    for image in &found {
        let at = TARGETS.iter().position(|target| *target == image.target_text).unwrap();
        assert_eq!(Hash128::digest(&codec::decode(&pack, image).unwrap()), wanted[at]);
    }
    found.iter().filter(|image| image.parent.is_none()).count()
}

/// The frames, which follow the pages of the index.
fn frames(bytes: &[u8]) -> &[u8] {
    let head = Pack::parse(bytes, &Pages::default()).unwrap().head_size() as usize;
    &bytes[head.next_multiple_of(16)..]
}

#[test]
fn the_children_of_a_dropped_root_get_another() {
    let dir = tempfile::tempdir().unwrap();
    let whole = chain();
    assert_eq!(roots(&whole, &TARGETS), 1);
    fs::write(dir.path().join("chain.pack"), &whole).unwrap();
    assert!(offload(dir.path(), &["prune", "@chain.pack", "--drop", TARGETS[0], "-o", "@less.pack"]));
    let less = fs::read(dir.path().join("less.pack")).unwrap();
    assert_eq!(roots(&less, &TARGETS[1..]), 1);
    // One image alone and three that are little more than their own words.
    assert!(less.len() < 190_000, "{} of {}", less.len(), whole.len());

    // Where the root stays, so do the frames.
    assert!(offload(dir.path(), &["prune", "@chain.pack", "--drop", TARGETS[4], "-o", "@most.pack"]));
    let most = fs::read(dir.path().join("most.pack")).unwrap();
    assert_eq!(roots(&most, &TARGETS[..4]), 1);
    assert!(frames(&whole).starts_with(frames(&most)));
}

#[test]
fn a_delta_chain_is_compressed_as_wished() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("chain.pack"), chain()).unwrap();
    let mut sizes = Vec::new();
    for (mode, alone) in [("none", 5), ("fast", 1), ("archive", 1)] {
        let to = format!("@{mode}.pack");
        assert!(offload(dir.path(), &["repack", "@chain.pack", "--compression", mode, "-o", &to]));
        let bytes = fs::read(dir.path().join(format!("{mode}.pack"))).unwrap();
        assert_eq!(roots(&bytes, &TARGETS), alone, "{mode}");
        sizes.push(bytes.len());
    }
    assert!(sizes[0] > 800_000 && sizes[1] < 250_000 && sizes[2] < 250_000, "{sizes:?}");
    // The same images in the same words are the same bytes.
    assert!(offload(dir.path(), &["repack", "@none.pack", "--compression", "archive", "-o", "@again.pack"]));
    let again = fs::read(dir.path().join("again.pack")).unwrap();
    assert!(again == fs::read(dir.path().join("archive.pack")).unwrap());
}
