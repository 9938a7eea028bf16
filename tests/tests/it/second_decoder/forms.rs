//! Packs with every codec, filter and kind of parent, and the images that are in them.

use std::collections::BTreeMap;

use offload_format::Hash128;
use offload_format::codec::{self, Codec, EncodeOptions, Filter, Frame, FrameInfo, InBlock, Parent};
use offload_format::pack::{ArgInfo, ArgKind, KernelInfo, NewBlock, NewImage, PackBuilder};

use super::samples;

/// Codecs of frames that stand for themselves.
const ALONE: [Codec; 5] = [Codec::Raw, Codec::Zstd, Codec::Lzma, Codec::ZstdPreset, Codec::LzmaPreset];
const LEVEL: i32 = 3;
/// So many records are in several pages.
const TINY: usize = 700;

/// Images and how they are stored.
#[derive(Default)]
pub struct Forms {
    pub images: BTreeMap<String, Vec<u8>>,
    /// Frames of images that stand for themselves come first in the pack of two.
    infos: Vec<(String, FrameInfo)>,
    blocks: Vec<NewBlock>,
    frames: Vec<Frame>,
    seed: u64,
}

/// An image that others are stored relative to.
struct Base {
    bytes: Vec<u8>,
    filter: Filter,
}

impl Forms {
    /// Each codec with each filter, with parents and parents of parents, in frames and in blocks.
    pub fn all() -> Forms {
        let mut forms = Forms::default();
        for filter in samples::FILTERS {
            forms.frames(filter);
        }
        for codec in ALONE {
            forms.blocks(codec);
        }
        forms
    }

    /// The file of one pack, whose index is not compressed.
    pub fn one_pack(&self) -> Vec<u8> {
        let mut builder = PackBuilder::new("forms", "1.0.0");
        builder.plain_index();
        for block in &self.blocks {
            builder.block(*block);
        }
        for (module, info) in &self.infos {
            builder.image(new_image(module), *info).unwrap();
        }
        builder.finish().unwrap().with_frames(&self.frames).unwrap()
    }

    /// The same in two packs over one payload, with records in pages: images that stand for themselves, and the rest with
    /// so many small ones that there are several pages.
    pub fn two_packs(mut self) -> (Vec<u8>, BTreeMap<String, Vec<u8>>) {
        let [mut one, mut other] = ["roots", "rest"].map(|package| PackBuilder::new(package, "1.0.0"));
        for block in &self.blocks {
            other.block(*block);
        }
        for (module, info) in &self.infos {
            let is_root = info.parent.is_none() && info.block.is_none();
            let builder = if is_root { &mut one } else { &mut other };
            builder.image(new_image(module), *info).unwrap();
        }
        for at in 0..TINY {
            let module = format!("tiny{at}");
            let bytes = format!("image {at}").into_bytes();
            let frame = codec::encode(&bytes, Codec::Raw, LEVEL).unwrap();
            let mut image = new_image(&module);
            image.kernels = kernels(at);
            other.image(image, frame.info()).unwrap();
            self.frames.push(frame);
            self.images.insert(module, bytes);
        }
        let layout = PackBuilder::finish_sharing(vec![one, other]).unwrap();
        (layout.with_frames(&self.frames).unwrap(), self.images)
    }

    fn next(&mut self, filter: Filter) -> Vec<u8> {
        self.seed += 1;
        samples::small(filter, self.seed)
    }

    fn frames(&mut self, filter: Filter) {
        for codec in ALONE {
            self.frame(codec, filter, None);
        }
        self.frame(Codec::ZstdChunks, filter, None);
        for codec in [Codec::ZstdPrefix, Codec::LzmaPrefix] {
            let root = self.frame(Codec::Zstd, filter, None);
            let child = self.frame(codec, filter, Some(&root));
            let grandchild = self.frame(codec, filter, Some(&child));
            for parent in [root, child, grandchild] {
                self.frame(Codec::Patch, filter, Some(&parent));
            }
        }
    }

    fn frame(&mut self, codec: Codec, filter: Filter, parent: Option<&Base>) -> Base {
        let bytes = match parent {
            Some(parent) if codec == Codec::Patch => samples::near_duplicate(&parent.bytes, self.seed),
            _ => self.next(filter),
        };
        let content = parent.map(|parent| codec::content_of(&parent.bytes, parent.filter).unwrap());
        let related = parent.zip(content.as_deref());
        let related =
            related.map(|(parent, content)| Parent { hash: Hash128::digest(&parent.bytes), content });
        let options = EncodeOptions { codec, filter, parent: related, level: LEVEL };
        let frame = codec::encode_with(&bytes, &options).unwrap();
        assert_eq!((frame.info().codec, frame.info().filter), (codec, filter));
        let name = format!("frame{}", self.infos.len());
        self.infos.push((name.clone(), frame.info()));
        self.frames.push(frame);
        self.images.insert(name, bytes.clone());
        Base { bytes, filter }
    }

    fn blocks(&mut self, codec: Codec) {
        let related = match codec {
            Codec::Zstd | Codec::ZstdPreset => Codec::ZstdPrefix,
            _ => Codec::LzmaPrefix,
        };
        let root = self.block(codec, None);
        if codec != Codec::Raw {
            let child = self.block(related, Some(&root));
            self.block(related, Some(&child));
        }
    }

    /// A block with an image for each filter; returns its content.
    fn block(&mut self, codec: Codec, parent: Option<&[u8]>) -> Vec<u8> {
        let images: Vec<(Filter, Vec<u8>)> =
            samples::FILTERS.into_iter().map(|filter| (filter, self.next(filter))).collect();
        let contents = images.iter().map(|(filter, image)| codec::content_of(image, *filter).unwrap());
        let content = contents.collect::<Vec<_>>().concat();
        let parent = parent.map(|content| Parent { hash: Hash128::digest(content), content });
        let options = EncodeOptions { codec, filter: Filter::None, parent, level: LEVEL };
        let frame = codec::encode_with(&content, &options).unwrap();
        assert_eq!(frame.info().codec, codec);
        let mut offset = 0;
        for (filter, image) in images {
            let size = image.len() as u64;
            let place = InBlock { hash: frame.info().hash, offset };
            let info = FrameInfo::new(Codec::Raw, size, size, Hash128::digest(&image)).related(filter, None);
            let name = format!("member{}", self.infos.len());
            self.infos.push((name.clone(), info.in_block(place)));
            self.images.insert(name, image);
            offset += size;
        }
        self.blocks.push(NewBlock::from(frame.info()));
        self.frames.push(frame);
        content
    }
}

/// A file of one pack with these images as they are, for `cargo offload repack`.
pub fn plain(images: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut builder = PackBuilder::new("plain", "1.0.0");
    let mut frames = Vec::new();
    for (module, bytes) in images {
        let frame = codec::encode(bytes, Codec::Raw, LEVEL).unwrap();
        builder.image(new_image(module), frame.info()).unwrap();
        frames.push(frame);
    }
    builder.finish().unwrap().with_frames(&frames).unwrap()
}

fn new_image(module: &str) -> NewImage {
    NewImage::new(module, "opencl-c".parse().unwrap())
}

fn kernels(at: usize) -> Vec<KernelInfo> {
    let kinds = [ArgKind::Value, ArgKind::Global, ArgKind::Local];
    let mut kernel = KernelInfo::new(format!("kernel{at}"));
    kernel.args = Some(
        (0..at % 4)
            .map(|n| ArgInfo::new(kinds[n % 3]).named(format!("a{n}"), "float*").with_size(n as u32))
            .collect(),
    );
    vec![kernel]
}
