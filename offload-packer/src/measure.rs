//! Trial compression of images, without a parent and with each candidate.

use super::planner::Planner;
use super::settings::Mode;
use super::sketch::Similar;
use super::source::{ImageSource, RawImage};
use super::tree::Candidate;
use offload_format::Error;
use offload_format::codec::{self, Filter};

/// Filters and sizes, by place among the candidates.
pub(super) struct Measurements {
    pub(super) filters: Vec<Filter>,
    pub(super) alone: Vec<u64>,
    /// Possible parents, each with the resulting size.
    pub(super) related: Vec<Vec<Candidate>>,
}

/// The level of trial compression.
pub(super) const TRIAL_LEVEL: i32 = 3;
/// The level of trial compression in the mode `max`.
const MAX_TRIAL_LEVEL: i32 = 12;
/// The inverse of the share that a filter must save to be worth inverting.
const MIN_FILTER_GAIN: u64 = 200;

/// Estimates sizes from sketches of `sketch_size` hashes, without compression: the share of windows that a pair does not
/// have in common.
pub(super) fn estimate(
    images: &[RawImage],
    candidates: &[usize],
    sketch_size: usize,
    relations: &[Vec<Similar>],
) -> Measurements {
    let sketch_size = sketch_size as u64;
    let sizes: Vec<u64> =
        candidates.iter().map(|image| images.get(*image).map_or(0, |image| image.size)).collect();
    let mut related = Vec::new();
    for (size, similar) in sizes.iter().zip(relations) {
        let mut parents = Vec::new();
        for other in similar {
            // A prefix pays from a quarter of common windows on.
            let unshared = sketch_size.saturating_sub((other.shared as u64).saturating_mul(2));
            let estimate = size.saturating_mul(unshared).checked_div(sketch_size * 3 / 4).unwrap_or(0);
            parents.push(Candidate { place: other.place, size: estimate });
        }
        related.push(parents);
    }
    Measurements { filters: vec![Filter::None; candidates.len()], alone: sizes, related }
}

/// Measures sizes by trial compression.
pub(super) fn measure<S: ImageSource>(
    images: &[RawImage],
    candidates: &[usize],
    relations: &[Vec<Similar>],
    planner: &Planner<'_, S>,
) -> Result<Measurements, S::Error> {
    let Planner { source, pool, mode } = *planner;
    let level = if mode == Mode::Max { MAX_TRIAL_LEVEL } else { TRIAL_LEVEL };
    let candidates: Vec<RawImage> =
        candidates.iter().filter_map(|image| images.get(*image)).copied().collect();
    let without_parent = pool.map(
        &candidates,
        |image| image.size.saturating_mul(3),
        |image| Ok::<_, S::Error>(choose_filter(&source.read(image.hash)?, level)?),
    )?;
    let (filters, alone): (Vec<Filter>, Vec<u64>) = without_parent.into_iter().unzip();
    let places: Vec<usize> = (0..candidates.len()).collect();
    let trial = Trial { candidates: &candidates, filters: &filters, relations, source, level };
    let related = pool.map(&places, |place| trial.memory(*place), |place| trial.related_sizes(*place))?;
    Ok(Measurements { filters, alone, related })
}

/// The filter of an image if it pays, and the size with it.
fn choose_filter(image: &[u8], level: i32) -> Result<(Filter, u64), Error> {
    let plain = codec::trial_size(image, None, level)?;
    let filter = Filter::for_image(image);
    let Some(content) = filter.forward(image) else { return Ok((Filter::None, plain)) };
    let filtered = codec::trial_size(&content, None, level)?;
    if filtered.saturating_add(plain / MIN_FILTER_GAIN) < plain {
        Ok((filter, filtered))
    } else {
        Ok((Filter::None, plain))
    }
}

struct Trial<'a, S> {
    candidates: &'a [RawImage],
    filters: &'a [Filter],
    relations: &'a [Vec<Similar>],
    source: &'a S,
    level: i32,
}

impl<S: ImageSource> Trial<'_, S> {
    fn similar(&self, place: usize) -> &[Similar] {
        self.relations.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    fn size(&self, place: usize) -> u64 {
        self.candidates.get(place).map_or(0, |image| image.size)
    }

    /// The memory for the trials of the image at `place`: the image with its content, and the largest parent.
    fn memory(&self, place: usize) -> u64 {
        let largest = self.similar(place).iter().map(|other| self.size(other.place)).max();
        self.size(place).saturating_mul(2).saturating_add(largest.unwrap_or(0))
    }

    /// The sizes of the image at `place` with each similar image as parent.
    fn related_sizes(&self, place: usize) -> Result<Vec<Candidate>, S::Error> {
        let Some(content) = self.content(place)? else { return Ok(Vec::new()) };
        let mut sizes = Vec::new();
        for other in self.similar(place) {
            let Some(parent) = self.content(other.place)? else { continue };
            let size = codec::trial_size(&content, Some(&parent), self.level)?;
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
