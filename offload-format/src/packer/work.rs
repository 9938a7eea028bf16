//! Frames as work that any machine can do: what a frame is made of, and whether bytes are that frame.

use super::encode::joined;
use super::plan::{BlockPlan, Plan, Step};
use super::source::ImageSource;
use crate::codec::{self, Codec, EncodeOptions, Filter, Frame, FrameInfo, Parent};
use crate::{Error, Hash128};

/// What the frame of an image or of a block is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameWork {
    /// How the frame holds its content.
    pub codec: Codec,
    /// The level of zstd.
    pub level: i32,
    /// The content.
    pub content: Content,
    /// The content that it is stored relative to.
    pub parent: Option<Content>,
}

/// Images one after the other, each after a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// What each image goes through.
    pub filter: Filter,
    /// The images.
    pub images: Vec<Hash128>,
}

impl FrameWork {
    /// What the frame of `image` takes; `None` if it has none of its own, or one that costs nothing to make.
    pub fn of_image(plan: &Plan, image: Hash128) -> Option<FrameWork> {
        let Some(Step::Frame { codec, filter, parent }) = plan.step(image) else { return None };
        if matches!(codec, Codec::Raw | Codec::Patch) {
            return None;
        }
        let alone = |filter: Filter, image: Hash128| Content { filter, images: vec![image] };
        Some(FrameWork {
            codec: *codec,
            level: plan.level(),
            content: alone(*filter, image),
            parent: parent.map(|parent| alone(plan.filter(parent), parent)),
        })
    }

    /// What the frame of block number `block` takes; `None` if there is no such block.
    pub fn of_block(plan: &Plan, block: usize) -> Option<FrameWork> {
        let members = |block: &BlockPlan| Content { filter: block.filter, images: block.members.clone() };
        let found = plan.blocks().get(block)?;
        let parent = match found.parent {
            Some(parent) => Some(members(plan.blocks().get(parent)?)),
            None => None,
        };
        Some(FrameWork { codec: found.codec, level: plan.level(), content: members(found), parent })
    }

    /// The frame of the content, with the bytes that [`encode_image`](super::encode_image) and
    /// [`encode_block`](super::encode_block) make.
    ///
    /// # Errors
    /// Those of `source` and of the codec.
    pub fn encode<S: ImageSource>(&self, source: &S) -> Result<Frame, S::Error> {
        let parent = self.parent_of(source)?;
        let parent = parent.as_ref().map(|content| Parent { hash: Hash128::of(content), content });
        let options = EncodeOptions { codec: self.codec, filter: Filter::None, parent, level: self.level };
        let content = joined(source, &self.content.images, self.content.filter)?;
        Ok(codec::encode_with(&content, &options)?)
    }

    /// What is recorded of the content if `frame` holds it; `None` if it does not. Who has frames from elsewhere asks this
    /// before they are used.
    ///
    /// # Errors
    /// Those of `source`.
    pub fn info<S: ImageSource>(&self, source: &S, frame: &[u8]) -> Result<Option<FrameInfo>, S::Error> {
        let content = joined(source, &self.content.images, self.content.filter)?;
        let (size, hash) = (content.len() as u64, Hash128::of(&content));
        let info = |codec| FrameInfo::new(codec, frame.len() as u64, size, hash);
        if frame.len() >= content.len() {
            return Ok((frame == content).then(|| info(Codec::Raw)));
        }
        let parent = self.parent_of(source)?;
        let related = info(self.codec).related(Filter::None, parent.as_deref().map(Hash128::of));
        let decoded = codec::decode_frame(self.codec, frame, codec::FrameContent { parent, size });
        Ok(decoded.is_ok_and(|decoded| decoded == content).then_some(related))
    }

    fn parent_of<S: ImageSource>(&self, source: &S) -> Result<Option<Vec<u8>>, S::Error> {
        let Some(Content { filter, images }) = &self.parent else { return Ok(None) };
        joined(source, images, *filter).map(Some)
    }
}

/// Tells compressors apart that make other frames of the same content with `codec`: by this release, and by what becomes of
/// a sample.
///
/// # Errors
/// Those of the codec.
pub fn compressor(codec: Codec) -> Result<Hash128, Error> {
    let words = (0..20_000u32).map(|number| number.wrapping_mul(number) % 1021);
    let sample: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let codec = match codec {
        Codec::ZstdPrefix => Codec::Zstd,
        Codec::LzmaPrefix => Codec::Lzma,
        other => other,
    };
    let frame = codec::encode(&sample, codec, codec::RELEASE_LEVEL)?.into_bytes();
    let release = [env!("CARGO_PKG_VERSION"), " zstd ", zstd_safe::version_string(), " "].concat();
    Ok(Hash128::of(&[release.into_bytes(), frame].concat()))
}

#[cfg(test)]
mod tests {
    use super::super::encode::{encode_block, encode_image};
    use super::super::settings::{Mode, Settings};
    use super::super::source::RawImage;
    use super::super::{Sequential, plan};
    use super::*;
    use crate::ImageKind;

    struct Images(Vec<Vec<u8>>);

    impl ImageSource for Images {
        type Error = Error;

        fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
            Ok(self.0.iter().find(|image| Hash128::of(image) == hash).cloned().unwrap_or_default())
        }
    }

    /// Images that share most of their words, small ones and larger ones.
    fn images() -> Images {
        let image = |seed: u32, words: u32| {
            let word = |at: u32| {
                (at.wrapping_mul(at) % 4093).wrapping_mul(if at.is_multiple_of(64) { seed } else { 7 })
            };
            (0..words).flat_map(|at| word(at).to_le_bytes()).collect()
        };
        let large = (1..4).map(|seed| image(seed, 20_000 + seed * 16));
        let small = (1..10).map(|seed| image(seed, 4000 + seed));
        Images(large.chain(small).collect())
    }

    fn planned(images: &Images, mode: Mode) -> Plan {
        let raw = images.0.iter().map(|image| RawImage {
            hash: Hash128::of(image),
            size: image.len() as u64,
            kind: ImageKind::Object,
        });
        let settings = Settings { mode, level: mode.usual_level() };
        plan(&raw.collect::<Vec<_>>(), images, settings, &Sequential).unwrap()
    }

    fn works(plan: &Plan, images: &Images) -> Vec<(FrameWork, Vec<u8>, FrameInfo)> {
        let mut all = Vec::new();
        for image in &images.0 {
            let hash = Hash128::of(image);
            if let Some(work) = FrameWork::of_image(plan, hash) {
                let frame = encode_image(plan, images, hash).unwrap();
                let info = frame.info();
                all.push((work, frame.into_bytes(), info));
            }
        }
        for block in 0..plan.blocks().len() {
            let frame = encode_block(plan, images, block).unwrap();
            let info = frame.info();
            all.push((FrameWork::of_block(plan, block).unwrap(), frame.into_bytes(), info));
        }
        all
    }

    #[test]
    fn the_same_frames_come_of_it_and_are_known_again() {
        let images = images();
        let modes = [
            Mode::Fast,
            Mode::Balanced,
            #[cfg(feature = "archive")]
            Mode::Archive,
        ];
        let (mut related, mut blocks) = (0, 0);
        for mode in modes {
            let plan = planned(&images, mode);
            for (work, frame, info) in works(&plan, &images) {
                assert_eq!(work.encode(&images).unwrap().bytes(), frame, "{mode} {work:?}");
                let found = work.info(&images, &frame).unwrap().unwrap();
                assert_eq!(
                    (found.codec, found.stored_size, found.raw_size),
                    (info.codec, info.stored_size, info.raw_size)
                );
                assert_eq!(found.parent.is_some(), info.parent.is_some());
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
            let content = joined(&images, &work.content.images, work.content.filter).unwrap();
            assert_eq!(work.info(&images, &content).unwrap().unwrap().codec, Codec::Raw);
        }
    }

    #[test]
    fn a_compressor_is_told_by_what_it_makes() {
        let zstd = compressor(Codec::Zstd).unwrap();
        assert_eq!(zstd, compressor(Codec::ZstdPrefix).unwrap());
        assert_ne!(zstd, compressor(Codec::Raw).unwrap());
    }
}
