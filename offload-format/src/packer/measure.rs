//! How much an image takes alone, and how much next to another one.

use super::budget::Pool;
use super::settings::Mode;
use super::sketch::Alike;
use super::source::{ImageSource, RawImage};
use crate::Error;
use crate::codec::{self, Filter};

/// Sizes by place among the leaders.
pub(super) struct Measured {
    pub(super) filters: Vec<Filter>,
    pub(super) alone: Vec<u64>,
    /// Possible parents with the size next to them.
    pub(super) related: Vec<Vec<(usize, u64)>>,
}

/// The level of trials.
pub(super) const TRIAL_LEVEL: i32 = 3;
/// The level for a closer measure.
const CLOSER_LEVEL: i32 = 12;
/// A filter has to save this part, so that the way back is not gone for nothing.
const WORTHWHILE: u64 = 200;

/// What sketches of `most` numbers tell, without compressing anything: the share of windows that a pair does not have
/// in common.
pub(super) fn guess(
    images: &[RawImage],
    (leaders, most): (&[usize], usize),
    relations: &[Alike],
) -> Measured {
    let size = |place: usize| leaders.get(place).and_then(|image| images.get(*image)).map_or(0, |i| i.size);
    let part = |place: usize, shared: usize| {
        // With a quarter of the windows in common a prefix pays.
        let (most, shared) = (most as u64, shared as u64);
        let missing = most.saturating_sub(shared.saturating_mul(2));
        size(place).saturating_mul(missing).checked_div(most * 3 / 4).unwrap_or(0)
    };
    let related = relations
        .iter()
        .enumerate()
        .map(|(place, alike)| alike.iter().map(|(other, shared)| (*other, part(place, *shared))).collect());
    Measured {
        filters: vec![Filter::None; leaders.len()],
        alone: (0..leaders.len()).map(size).collect(),
        related: related.collect(),
    }
}

/// What trial compression tells.
pub(super) fn measure<S: ImageSource>(
    images: &[RawImage],
    (leaders, relations): (&[usize], &[Alike]),
    (source, pool): (&S, &Pool<'_>),
    mode: Mode,
) -> Result<Measured, S::Error> {
    let level = if mode == Mode::Max { CLOSER_LEVEL } else { TRIAL_LEVEL };
    let candidates: Vec<RawImage> = leaders.iter().filter_map(|image| images.get(*image)).copied().collect();
    let alone = pool.map(
        &candidates,
        |image| image.size.saturating_mul(3),
        |image| Ok::<_, S::Error>(filter(&source.read(image.hash)?, level)?),
    )?;
    let filters: Vec<Filter> = alone.iter().map(|(filter, _)| *filter).collect();
    let places: Vec<usize> = (0..candidates.len()).collect();
    let trial = Trial { candidates: &candidates, filters: &filters, source, level };
    let alike = |place: usize| relations.get(place).map(Vec::as_slice).unwrap_or_default();
    let size = |place: usize| candidates.get(place).map_or(0, |image| image.size);
    let memory = |place: &usize| {
        let largest = alike(*place).iter().map(|(other, _)| size(*other)).max();
        size(*place).saturating_mul(2).saturating_add(largest.unwrap_or(0))
    };
    let related = pool.map(&places, memory, |place| trial.next_to(*place, alike(*place)))?;
    Ok(Measured { filters, alone: alone.into_iter().map(|(_, size)| size).collect(), related })
}

/// The filter that pays, and the size with it.
fn filter(image: &[u8], level: i32) -> Result<(Filter, u64), Error> {
    let plain = codec::trial(image, None, level)?;
    let filter = Filter::for_image(image);
    let Some(content) = filter.forward(image) else { return Ok((Filter::None, plain)) };
    let filtered = codec::trial(&content, None, level)?;
    let pays = filtered.saturating_add(plain / WORTHWHILE) < plain;
    Ok(if pays { (filter, filtered) } else { (Filter::None, plain) })
}

struct Trial<'a, S> {
    candidates: &'a [RawImage],
    filters: &'a [Filter],
    source: &'a S,
    level: i32,
}

impl<S: ImageSource> Trial<'_, S> {
    /// The sizes of the image at `place` next to each of `others`.
    fn next_to(&self, place: usize, others: &[(usize, usize)]) -> Result<Vec<(usize, u64)>, S::Error> {
        let Some(content) = self.content(place)? else { return Ok(Vec::new()) };
        let mut sizes = Vec::new();
        for (other, _) in others {
            let Some(parent) = self.content(*other)? else { continue };
            sizes.push((*other, codec::trial(&content, Some(&parent), self.level)?));
        }
        Ok(sizes)
    }

    fn content(&self, place: usize) -> Result<Option<Vec<u8>>, S::Error> {
        let Some((image, filter)) = self.candidates.get(place).zip(self.filters.get(place)) else {
            return Ok(None);
        };
        let bytes = self.source.read(image.hash)?;
        Ok(Some(filter.forward(&bytes).unwrap_or(bytes)))
    }
}
