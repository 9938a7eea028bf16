//! What was decided, and its form as text.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::near_duplicates::NearDuplicate;
use super::settings::Settings;
use super::source::RawImage;
use crate::codec::{Codec, Filter};
use crate::{Error, ErrorKind, Hash128};

/// How each image is stored.
///
/// Its [`Display`](fmt::Display) can be kept and parsed, so that nothing has to be decided again for the same images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) settings: Settings,
    steps: BTreeMap<Hash128, Step>,
    blocks: Vec<BlockPlan>,
    patches: Patches,
}

/// Patches that were made on the way, with the sizes of their images. They are no part of what was decided: without
/// them they are made again.
#[derive(Clone, Debug, Default)]
struct Patches(BTreeMap<Hash128, (u64, Vec<u8>)>);

impl PartialEq for Patches {
    fn eq(&self, _: &Patches) -> bool {
        true
    }
}

impl Eq for Patches {}

/// How one image is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// By a frame of its own.
    Frame {
        /// How the frame holds the image.
        codec: Codec,
        /// What the image goes through before.
        filter: Filter,
        /// The image that it is stored relative to.
        parent: Option<Hash128>,
    },
    /// In a block.
    InBlock {
        /// Which of [`Plan::blocks`].
        block: usize,
        /// What the image goes through before.
        filter: Filter,
    },
}

/// A block: images one after the other, each after its filter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockPlan {
    /// How the frame holds them.
    pub codec: Codec,
    /// What each of them goes through before.
    pub filter: Filter,
    /// The images.
    pub members: Vec<Hash128>,
    /// The block that this one is stored relative to, by its number; that one stands for itself.
    pub parent: Option<usize>,
}

impl Plan {
    pub(super) fn new(settings: Settings) -> Plan {
        Plan { settings, steps: BTreeMap::new(), blocks: Vec::new(), patches: Patches::default() }
    }

    /// How the image with this hash is stored.
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

    /// What an image goes through before it is compressed, or a child is stored relative to it.
    pub fn filter(&self, image: Hash128) -> Filter {
        match self.step(image) {
            Some(Step::Frame { filter, .. } | Step::InBlock { filter, .. }) => *filter,
            None => Filter::None,
        }
    }

    pub(super) fn alone(&mut self, image: Hash128, codec: Codec, filter: Filter) {
        self.steps.insert(image, Step::Frame { codec, filter, parent: None });
    }

    pub(super) fn block(&mut self, block: BlockPlan) {
        let (number, filter) = (self.blocks.len(), block.filter);
        self.steps
            .extend(block.members.iter().map(|image| (*image, Step::InBlock { block: number, filter })));
        self.blocks.push(block);
    }

    /// How `candidates` of `images` are stored, by their `filters` and `parents`.
    pub(super) fn tree(
        &mut self,
        images: &[RawImage],
        candidates: &[usize],
        filters: &[Filter],
        parents: &[Option<usize>],
    ) {
        let candidate = |place: usize| candidates.get(place).and_then(|image| images.get(*image));
        for (place, (filter, parent)) in filters.iter().zip(parents).enumerate() {
            let (Some(image), parent) = (candidate(place), parent.and_then(candidate)) else { continue };
            let codec = self.settings.codec(image.size, parent.map(|parent| parent.size));
            let parent = parent.map(|parent| parent.hash);
            self.steps.insert(image.hash, Step::Frame { codec, filter: *filter, parent });
        }
    }

    /// The near-duplicates among `images`, by place.
    pub(super) fn patches(&mut self, images: &[RawImage], found: BTreeMap<usize, NearDuplicate>) {
        for (place, NearDuplicate { base, patch }) in found {
            let Some((image, base)) = images.get(place).zip(images.get(base)) else { continue };
            let (filter, parent) = (self.filter(base.hash), Some(base.hash));
            self.steps.insert(image.hash, Step::Frame { codec: Codec::Patch, filter, parent });
            // The images were compared without filters.
            if let (Filter::None, Some(patch)) = (filter, patch) {
                self.patches.0.insert(image.hash, (image.size, patch));
            }
        }
    }

    /// The size of an image and its patch, if that was kept.
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
                ["block", codec, filter, parent, members @ ..] => plan.block(BlockPlan {
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
