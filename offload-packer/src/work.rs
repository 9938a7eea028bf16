//! Frames as remote work: the inputs of a frame, and the verification of frames encoded elsewhere.

use super::encode::{frame_level, join_contents};
use super::plan::{BlockPlan, Plan, Step};
use super::source::ImageSource;
use offload_format::codec::{self, Codec, EncodeOptions, Filter, Frame, FrameInfo, Parent};
use offload_format::{Error, Hash128};

/// The inputs of the frame of an image or of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameWork {
    /// The codec.
    pub codec: Codec,
    /// The level of zstd.
    pub level: i32,
    /// The content.
    pub content: Content,
    /// The content of the parent.
    pub parent: Option<Content>,
}

/// The concatenated contents of images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The filter of all images.
    pub filter: Filter,
    /// The images.
    pub images: Vec<Hash128>,
}

impl FrameWork {
    /// The work for the frame of `image`; `None` for an image in a block, or one that is raw or a patch.
    pub fn for_image(plan: &Plan, image: Hash128) -> Option<FrameWork> {
        let Some(Step::Frame { codec, filter, parent }) = plan.step(image) else { return None };
        if matches!(codec, Codec::Raw | Codec::Patch) {
            return None;
        }
        Some(FrameWork {
            codec: *codec,
            level: plan.level(),
            content: Content { filter: *filter, images: vec![image] },
            parent: parent.map(|parent| Content { filter: plan.filter(parent), images: vec![parent] }),
        })
    }

    /// The work for the frame of block number `block`; `None` if there is no such block.
    pub fn for_block(plan: &Plan, block: usize) -> Option<FrameWork> {
        let block = plan.blocks().get(block)?;
        let parent = match block.parent {
            Some(parent) => Some(Content::for_block(plan.blocks().get(parent)?)),
            None => None,
        };
        Some(FrameWork {
            codec: block.codec,
            level: plan.level(),
            content: Content::for_block(block),
            parent,
        })
    }

    /// Encodes the frame, with the same bytes as [`encode_image`](super::encode_image) and
    /// [`encode_block`](super::encode_block).
    ///
    /// # Errors
    /// Those of `source` and of the codec.
    pub fn encode<S: ImageSource>(&self, source: &S) -> Result<Frame, S::Error> {
        let parent = self.parent_content(source)?;
        let parent = parent.as_ref().map(|content| Parent { hash: Hash128::digest(content), content });
        let content = join_contents(source, &self.content.images, self.content.filter)?;
        let level = frame_level(self.level, content.len());
        let options = EncodeOptions { codec: self.codec, filter: Filter::None, parent, level };
        Ok(codec::encode_with(&content, &options)?)
    }

    /// Verifies a frame that another machine has encoded: the record of the content, or `None` if `frame` does not decode
    /// to it.
    ///
    /// # Errors
    /// Those of `source`.
    pub fn info<S: ImageSource>(&self, source: &S, frame: &[u8]) -> Result<Option<FrameInfo>, S::Error> {
        let content = join_contents(source, &self.content.images, self.content.filter)?;
        let size = content.len() as u64;
        let hash = Hash128::digest(&content);
        if frame.len() >= content.len() {
            let info = FrameInfo::new(Codec::Raw, frame.len() as u64, size, hash);
            return Ok((frame == content).then_some(info));
        }
        let parent = self.parent_content(source)?;
        let parent_hash = parent.as_deref().map(Hash128::digest);
        let codec = self.codec.for_content(size, self.level);
        let info = FrameInfo::new(codec, frame.len() as u64, size, hash);
        let info = info.related(Filter::None, parent_hash);
        let decoded = codec::decode_frame(codec, frame, codec::FrameContent { parent, size });
        Ok(decoded.is_ok_and(|decoded| decoded == content).then_some(info))
    }

    fn parent_content<S: ImageSource>(&self, source: &S) -> Result<Option<Vec<u8>>, S::Error> {
        let Some(Content { filter, images }) = &self.parent else { return Ok(None) };
        join_contents(source, images, *filter).map(Some)
    }
}

impl Content {
    fn for_block(block: &BlockPlan) -> Content {
        Content { filter: block.filter, images: block.members.clone() }
    }
}

/// A fingerprint of the compressor of `codec`, for cache keys of frames: a digest of this release, the version of zstd, and
/// a compressed sample.
///
/// # Errors
/// Those of the codec.
pub fn compressor(codec: Codec) -> Result<Hash128, Error> {
    let words = (0..20_000u32).map(|number| number.wrapping_mul(number) % 1021);
    let sample: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let codec = match codec {
        Codec::ZstdPrefix | Codec::ZstdPreset | Codec::ZstdChunks => Codec::Zstd,
        Codec::LzmaPrefix | Codec::LzmaPreset => Codec::Lzma,
        other => other,
    };
    let frame = codec::encode(&sample, codec, codec::RELEASE_LEVEL)?.into_bytes();
    let release = [env!("CARGO_PKG_VERSION"), " zstd ", zstd_safe::version_string(), " "].concat();
    Ok(Hash128::digest(&[release.into_bytes(), frame].concat()))
}

#[cfg(test)]
mod tests {
    use super::super::encode::{encode_block, encode_image};
    use super::super::settings::{Mode, Settings};
    use super::super::source::RawImage;
    use super::super::{Sequential, plan};
    use super::*;
    use offload_format::ImageKind;

    struct Images(Vec<Vec<u8>>);

    impl ImageSource for Images {
        type Error = Error;

        fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
            Ok(self.0.iter().find(|image| Hash128::digest(image) == hash).cloned().unwrap_or_default())
        }
    }

    fn image(seed: u32, words: u32) -> Vec<u8> {
        let mut image = Vec::new();
        for at in 0..words {
            let factor = if at.is_multiple_of(64) { seed } else { 7 };
            image.extend((at.wrapping_mul(at) % 4093).wrapping_mul(factor).to_le_bytes());
        }
        image
    }

    /// Images that share most of their words, small ones and larger ones.
    fn images() -> Images {
        let large = (1..4).map(|seed| image(seed, 20_000 + seed * 16));
        let small = (1..10).map(|seed| image(seed, 4000 + seed));
        Images(large.chain(small).collect())
    }

    fn planned(images: &Images, mode: Mode) -> Plan {
        let raw = images.0.iter().map(|image| RawImage {
            hash: Hash128::digest(image),
            size: image.len() as u64,
            kind: ImageKind::Object,
        });
        let settings = Settings { mode, level: mode.default_level() };
        plan(&raw.collect::<Vec<_>>(), images, settings, &Sequential).unwrap()
    }

    fn works(plan: &Plan, images: &Images) -> Vec<(FrameWork, Vec<u8>, FrameInfo)> {
        let mut all = Vec::new();
        for image in &images.0 {
            let hash = Hash128::digest(image);
            if let Some(work) = FrameWork::for_image(plan, hash) {
                let frame = encode_image(plan, images, hash).unwrap();
                let info = frame.info();
                all.push((work, frame.into_bytes(), info));
            }
        }
        for block in 0..plan.blocks().len() {
            let frame = encode_block(plan, images, block).unwrap();
            let info = frame.info();
            all.push((FrameWork::for_block(plan, block).unwrap(), frame.into_bytes(), info));
        }
        all
    }

    #[test]
    fn frames_have_the_same_bytes_and_are_verified() {
        let images = images();
        let modes = [
            Mode::Fast,
            Mode::Balanced,
            #[cfg(feature = "archive")]
            Mode::Archive,
        ];
        let mut related = 0;
        let mut blocks = 0;
        for mode in modes {
            let plan = planned(&images, mode);
            for (work, frame, info) in works(&plan, &images) {
                assert_eq!(work.encode(&images).unwrap().bytes(), frame, "{mode} {work:?}");
                let verified = work.info(&images, &frame).unwrap().unwrap();
                assert_eq!(
                    (verified.codec, verified.stored_size, verified.raw_size),
                    (info.codec, info.stored_size, info.raw_size)
                );
                assert_eq!(verified.parent.is_some(), info.parent.is_some());
                related += usize::from(info.parent.is_some());
                blocks += usize::from(work.content.images.len() > 1);
            }
        }
        assert!(related > 0 && blocks > 0, "{related} {blocks}");
    }

    #[test]
    fn other_frames_are_refused() {
        let images = images();
        let works = works(&planned(&images, Mode::Balanced), &images);
        for (place, (work, frame, _)) in works.iter().enumerate() {
            let (_, other, _) = &works[(place + 1) % works.len()];
            assert!(works.len() == 1 || work.info(&images, other).unwrap().is_none(), "{work:?}");
            assert!(work.info(&images, &frame[..frame.len() - 1]).unwrap().is_none());
            assert!(work.info(&images, &[]).unwrap().is_none());
            let mut changed = frame.clone();
            let middle = changed.len() / 2;
            changed[middle] ^= 1;
            assert!(work.info(&images, &changed).unwrap().is_none());
            let content = join_contents(&images, &work.content.images, work.content.filter).unwrap();
            assert_eq!(work.info(&images, &content).unwrap().unwrap().codec, Codec::Raw);
        }
    }

    #[test]
    fn a_compressor_is_identified_by_its_output() {
        let zstd = compressor(Codec::Zstd).unwrap();
        assert_eq!(zstd, compressor(Codec::ZstdPrefix).unwrap());
        assert_ne!(zstd, compressor(Codec::Raw).unwrap());
    }
}
