//! Repacking of packs with paged indexes, and of packs with dependent blocks.

use std::path::Path;

use offload_format::Hash128;
use offload_format::Limits;
use offload_format::codec::{self, Codec, EncodeOptions, Filter, Frame, FrameInfo, InBlock, Parent};
use offload_format::pack::{Pack, Pages};

use super::pack::stage_packs;
use super::*;
use crate::read::metadata::PackMetadata;
use crate::read::pack_file::PackFile;
use crate::read::program::PackImages;

/// A pack of `modules` modules in the file `path`.
fn write_pack(path: &Path, modules: usize) {
    let mut builder = PackBuilder::new("many", "1.0.0");
    let mut frames = Vec::new();
    for at in 0..modules {
        let frame = codec::encode(raw(at).as_bytes(), Codec::Zstd, 3).unwrap();
        builder.image(NewImage::new(&name(at), "host".parse().unwrap()), frame.info()).unwrap();
        frames.push(frame);
    }
    std::fs::write(path, builder.finish().unwrap().with_frames(&frames).unwrap()).unwrap();
}

fn name(at: usize) -> String {
    format!("module{at:04}")
}

fn raw(at: usize) -> String {
    format!("image {at} ").repeat(30)
}

/// The images of a pack by module, and whether its index is in pages.
type Content = (Vec<(String, Vec<u8>)>, bool);

/// Reads the content of the packs at `path`.
fn read_packs(path: &Path) -> Vec<Content> {
    let file = PackFile::open(path, &Limits::default()).unwrap();
    assert_eq!(file.unreadable, Vec::<String>::new());
    file.packs()
        .map(|source| {
            let images: Vec<Image<'_>> = source.pack.images().map(|image| image.unwrap()).collect();
            (
                images
                    .iter()
                    .map(|image| (image.module.to_string(), source.decode(image).unwrap()))
                    .collect(),
                source.pack.head_size() > source.pack.payload_offset(),
            )
        })
        .collect()
}

/// Rebuilds the pack at `old` as packs at `new`; `packs` are the numbers of their images.
fn rebuild_file(old: &Path, new: &Path, packs: &[&dyn Fn(usize) -> bool]) {
    let program = PackFile::open(old, &Limits::default()).unwrap();
    let source = program.packs().next().unwrap();
    let contents: Vec<PackContent<'_>> = packs
        .iter()
        .map(|wanted| {
            let images = source.pack.images().map(|image| image.unwrap());
            let images = images.enumerate().filter(|(at, _)| wanted(*at)).map(|(_, image)| image).collect();
            let metadata = PackMetadata::from_pack(&source.pack).unwrap();
            PackContent { metadata, kept: vec![PackImages { source, images }] }
        })
        .collect();
    stage_packs(new, &repack(&contents, Storage::Kept).unwrap()).unwrap().appear().unwrap();
}

/// Moves the images of a pack with 1500 modules into packs that share a payload; `packs` are the numbers of their
/// modules.
fn move_images(packs: &[&dyn Fn(usize) -> bool], paged: &[bool]) {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("old.pack");
    let new = dir.path().join("new.pack");
    write_pack(&old, 1500);
    rebuild_file(&old, &new, packs);
    let mut expected = Vec::new();
    for (wanted, is_paged) in packs.iter().zip(paged) {
        let images = (0..1500).filter(|at| wanted(*at)).map(|at| (name(at), raw(at).into_bytes()));
        expected.push((images.collect(), *is_paged));
    }
    assert_eq!(read_packs(&new), expected);
}

/// A pack of 36 images in three blocks, each of which builds on the one before.
fn write_blocks(path: &Path) {
    let mut builder = PackBuilder::new("blocks", "1.0.0");
    let mut frames: Vec<Frame> = Vec::new();
    let mut lender: Option<(Hash128, Vec<u8>)> = None;
    for first in [0, 12, 24] {
        let content = (first..first + 12).map(raw).collect::<String>().into_bytes();
        let parent = lender.as_ref().map(|(hash, content)| Parent { hash: *hash, content });
        let codec = if parent.is_some() { Codec::ZstdPrefix } else { Codec::Zstd };
        let options = EncodeOptions { codec, filter: Filter::None, parent, level: 3 };
        let block = codec::encode_with(&content, &options).unwrap();
        let hash = block.info().hash;
        let mut offset = 0;
        builder.block(block.info().into());
        for at in first..first + 12 {
            let size = raw(at).len() as u64;
            let alone = FrameInfo::new(Codec::Raw, size, size, Hash128::digest(raw(at).as_bytes()));
            let image = NewImage::new(&name(at), "host".parse().unwrap());
            builder.image(image, alone.in_block(InBlock { hash, offset })).unwrap();
            offset += size;
        }
        frames.push(block);
        lender = Some((hash, content));
    }
    std::fs::write(path, builder.finish().unwrap().with_frames(&frames).unwrap()).unwrap();
}

/// Keeps some of those images; returns how many blocks stand for themselves then, and how many build on another.
fn blocks_of(wanted: &dyn Fn(usize) -> bool) -> [usize; 2] {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("old.pack");
    let new = dir.path().join("new.pack");
    write_blocks(&old);
    rebuild_file(&old, &new, &[wanted]);
    let expected = (0..36).filter(|at| wanted(*at)).map(|at| (name(at), raw(at).into_bytes()));
    assert_eq!(read_packs(&new), [(expected.collect(), true)]);
    let bytes = std::fs::read(&new).unwrap();
    let found: Vec<_> =
        Pack::parse(&bytes, &Pages::default()).unwrap().blocks().map(|block| block.unwrap()).collect();
    let related = found.iter().filter(|block| block.parent.is_some()).count();
    [found.len() - related, related]
}

#[test]
fn a_block_stays_with_those_it_builds_on() {
    assert_eq!(blocks_of(&|at| at != 25), [1, 2]);
    assert_eq!(blocks_of(&|at| at < 24), [1, 1]);
    assert_eq!(blocks_of(&|at| at < 12), [1, 0]);
    assert_eq!(blocks_of(&|at| at > 23), [1, 0]);
    // No remaining image depends on a removed one: all are compressed again, in one block.
    assert_eq!(blocks_of(&|at| at > 11), [1, 0]);
    // The first block is reused, and the last one is compressed again.
    assert_eq!(blocks_of(&|at| !(12..24).contains(&at)), [2, 0]);
}

#[test]
fn images_move_between_packs_with_and_without_pages() {
    move_images(&[&|at| at % 3 == 0], &[true]);
    move_images(&[&|at| at == 300], &[false]);
}

#[test]
fn packs_with_and_without_pages_share_a_payload() {
    move_images(&[&|at| at % 2 == 0, &|at| at == 5, &|at| at % 2 == 1], &[true, false, true]);
}
