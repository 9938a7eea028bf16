//! The storage plan of a pack, with a text form for caching.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::near_duplicates::NearDuplicate;
use super::settings::Settings;
use super::source::RawImage;
use offload_format::codec::{Codec, Filter};
use offload_format::{Error, ErrorKind, Hash128};

/// The storage plan of images: frames with their parents, and blocks.
///
/// Its [`Display`](fmt::Display) form round-trips, so that the plan for a set of images can be cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) settings: Settings,
    steps: BTreeMap<Hash128, Step>,
    blocks: Vec<BlockPlan>,
    patches: Patches,
}

/// Cached patches, with the sizes of their images. They are not part of the plan's identity: absent ones are computed again.
#[derive(Clone, Debug, Default)]
struct Patches(BTreeMap<Hash128, (u64, Vec<u8>)>);

impl PartialEq for Patches {
    fn eq(&self, _: &Patches) -> bool {
        true
    }
}

impl Eq for Patches {}

/// The storage of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// A frame of its own.
    Frame {
        /// The codec.
        codec: Codec,
        /// The filter applied before compression.
        filter: Filter,
        /// The parent image.
        parent: Option<Hash128>,
    },
    /// A place in a block.
    InBlock {
        /// The number of the block in [`Plan::blocks`].
        block: usize,
        /// The filter applied before compression.
        filter: Filter,
    },
}

/// The storage of a block: the concatenated contents of its images.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockPlan {
    /// The codec.
    pub codec: Codec,
    /// The filter of all images.
    pub filter: Filter,
    /// The images.
    pub members: Vec<Hash128>,
    /// The number of the parent block.
    pub parent: Option<usize>,
}

impl Plan {
    pub(super) fn new(settings: Settings) -> Plan {
        Plan { settings, steps: BTreeMap::new(), blocks: Vec::new(), patches: Patches::default() }
    }

    /// The storage of the image with this hash.
    pub fn step(&self, image: Hash128) -> Option<&Step> {
        self.steps.get(&image)
    }

    /// The blocks.
    pub fn blocks(&self) -> &[BlockPlan] {
        &self.blocks
    }

    /// The level of zstd.
    pub fn level(&self) -> i32 {
        self.settings.level
    }

    /// The filter of an image.
    pub fn filter(&self, image: Hash128) -> Filter {
        match self.step(image) {
            Some(Step::Frame { filter, .. } | Step::InBlock { filter, .. }) => *filter,
            None => Filter::None,
        }
    }

    /// Adds a frame without a parent.
    pub(super) fn add_root(&mut self, image: Hash128, codec: Codec, filter: Filter) {
        self.steps.insert(image, Step::Frame { codec, filter, parent: None });
    }

    pub(super) fn add_block(&mut self, block: BlockPlan) {
        let number = self.blocks.len();
        for image in &block.members {
            self.steps.insert(*image, Step::InBlock { block: number, filter: block.filter });
        }
        self.blocks.push(block);
    }

    /// Adds the frames of `candidates` of `images`, with their `filters` and `parents`.
    pub(super) fn add_tree(
        &mut self,
        images: &[RawImage],
        candidates: &[usize],
        filters: &[Filter],
        parents: &[Option<usize>],
    ) {
        let candidates: Vec<RawImage> =
            candidates.iter().filter_map(|image| images.get(*image)).copied().collect();
        for ((image, filter), parent) in candidates.iter().zip(filters).zip(parents) {
            let parent = parent.and_then(|place| candidates.get(place));
            let codec = self.settings.codec(image.size, parent.map(|parent| parent.size));
            let parent = parent.map(|parent| parent.hash);
            self.steps.insert(image.hash, Step::Frame { codec, filter: *filter, parent });
        }
    }

    /// Adds the patches of near-duplicates among `images`, by place.
    pub(super) fn add_patches(
        &mut self,
        images: &[RawImage],
        near_duplicates: BTreeMap<usize, NearDuplicate>,
    ) {
        for (place, NearDuplicate { base, patch }) in near_duplicates {
            let Some((image, base)) = images.get(place).zip(images.get(base)) else { continue };
            let filter = self.filter(base.hash);
            let parent = Some(base.hash);
            self.steps.insert(image.hash, Step::Frame { codec: Codec::Patch, filter, parent });
            // The images were compared without filters.
            if let (Filter::None, Some(patch)) = (filter, patch) {
                self.patches.0.insert(image.hash, (image.size, patch));
            }
        }
    }

    /// The size of an image and its patch, if it is cached.
    pub(super) fn patch(&self, image: Hash128) -> Option<&(u64, Vec<u8>)> {
        self.patches.0.get(&image)
    }
}

impl fmt::Display for Plan {
    /// A line for each block and each image: numbers of codecs and filters, hashes in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan {} {}", self.settings.mode, self.settings.level)?;
        for block in &self.blocks {
            write!(f, "block {} {} ", block.codec.to_u16(), block.filter.to_u16())?;
            match block.parent {
                Some(parent) => write!(f, "{parent}")?,
                None => write!(f, "-")?,
            }
            block.members.iter().try_for_each(|image| write!(f, " {image}"))?;
            writeln!(f)?;
        }
        for (image, step) in &self.steps {
            if let Step::Frame { codec, filter, parent } = step {
                write!(f, "image {} {} {image}", codec.to_u16(), filter.to_u16())?;
                parent.iter().try_for_each(|parent| write!(f, " {parent}"))?;
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

impl FromStr for Plan {
    type Err = Error;

    fn from_str(text: &str) -> Result<Plan, Error> {
        let mut lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let head = lines.next().unwrap_or_default();
        let ["plan", mode, level] = head.as_slice() else { return Err(malformed()) };
        let level = level.parse().map_err(|_| malformed())?;
        let mut plan = Plan::new(Settings { mode: mode.parse()?, level });
        for line in lines {
            match line.as_slice() {
                ["block", codec, filter, parent, members @ ..] => plan.add_block(BlockPlan {
                    codec: Codec::from_u16(number(codec)?),
                    filter: Filter::from_u16(number(filter)?),
                    parent: match *parent {
                        "-" => None,
                        number => Some(number.parse().map_err(|_| malformed())?),
                    },
                    members: members.iter().map(|hash| hash.parse()).collect::<Result<_, _>>()?,
                }),
                ["image", codec, filter, image, parent @ ..] => {
                    let step = Step::Frame {
                        codec: Codec::from_u16(number(codec)?),
                        filter: Filter::from_u16(number(filter)?),
                        parent: parent.first().map(|hash| hash.parse()).transpose()?,
                    };
                    plan.steps.insert(image.parse()?, step);
                }
                _ => return Err(malformed()),
            }
        }
        Ok(plan)
    }
}

fn number(text: &str) -> Result<u16, Error> {
    text.parse().map_err(|_| malformed())
}

fn malformed() -> Error {
    ErrorKind::Text { what: "the plan of a pack", offset: 0 }.into()
}
