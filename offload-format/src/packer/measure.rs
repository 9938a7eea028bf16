//! How much an image takes alone, and how much next to another one.

use super::planner::Planner;
use super::settings::Mode;
use super::sketch::Similar;
use super::source::{ImageSource, RawImage};
use super::tree::Candidate;
use crate::Error;
use crate::codec::{self, Filter};

/// Sizes by place among the candidates.
pub(super) struct Measured {
    pub(super) filters: Vec<Filter>,
    pub(super) alone: Vec<u64>,
    /// Possible parents with the size next to them.
    pub(super) related: Vec<Vec<Candidate>>,
}

/// The level of trials.
pub(super) const TRIAL_LEVEL: i32 = 3;
/// The level for a closer measure.
const CLOSER_LEVEL: i32 = 12;
/// A filter has to save this part, so that the way back is not gone for nothing.
const WORTHWHILE: u64 = 200;

/// What sketches of `numbers` numbers tell, without compressing anything: the share of windows that a pair does not have
/// in common.
pub(super) fn guess(
    images: &[RawImage],
    candidates: &[usize],
    numbers: usize,
    relations: &[Vec<Similar>],
) -> Measured {
    let size =
        |place: usize| candidates.get(place).and_then(|image| images.get(*image)).map_or(0, |i| i.size);
    let part = |place: usize, shared: usize| {
        // With a quarter of the windows in common a prefix pays.
        let (numbers, shared) = (numbers as u64, shared as u64);
        let missing = numbers.saturating_sub(shared.saturating_mul(2));
        size(place).saturating_mul(missing).checked_div(numbers * 3 / 4).unwrap_or(0)
    };
    let related = |(place, similar): (usize, &Vec<Similar>)| {
        let next_to = |other: &Similar| Candidate { place: other.place, size: part(place, other.shared) };
        similar.iter().map(next_to).collect()
    };
    Measured {
        filters: vec![Filter::None; candidates.len()],
        alone: (0..candidates.len()).map(size).collect(),
        related: relations.iter().enumerate().map(related).collect(),
    }
}

/// What trial compression tells.
pub(super) fn measure<S: ImageSource>(
    images: &[RawImage],
    candidates: &[usize],
    relations: &[Vec<Similar>],
    planner: &Planner<'_, S>,
) -> Result<Measured, S::Error> {
    let Planner { source, pool, mode } = *planner;
    let level = if mode == Mode::Max { CLOSER_LEVEL } else { TRIAL_LEVEL };
    let candidates: Vec<RawImage> =
        candidates.iter().filter_map(|image| images.get(*image)).copied().collect();
    let alone = pool.map(
        &candidates,
        |image| image.size.saturating_mul(3),
        |image| Ok::<_, S::Error>(filter(&source.read(image.hash)?, level)?),
    )?;
    let filters: Vec<Filter> = alone.iter().map(|(filter, _)| *filter).collect();
    let places: Vec<usize> = (0..candidates.len()).collect();
    let trial = Trial { candidates: &candidates, filters: &filters, source, level };
    let similar = |place: usize| relations.get(place).map(Vec::as_slice).unwrap_or_default();
    let size = |place: usize| candidates.get(place).map_or(0, |image| image.size);
    let memory = |place: &usize| {
        let largest = similar(*place).iter().map(|other| size(other.place)).max();
        size(*place).saturating_mul(2).saturating_add(largest.unwrap_or(0))
    };
    let related = pool.map(&places, memory, |place| trial.next_to(*place, similar(*place)))?;
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
    fn next_to(&self, place: usize, others: &[Similar]) -> Result<Vec<Candidate>, S::Error> {
        let Some(content) = self.content(place)? else { return Ok(Vec::new()) };
        let mut sizes = Vec::new();
        for other in others {
            let Some(parent) = self.content(other.place)? else { continue };
            let size = codec::trial(&content, Some(&parent), self.level)?;
            sizes.push(Candidate { place: other.place, size });
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
