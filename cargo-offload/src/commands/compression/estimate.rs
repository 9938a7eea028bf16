//! Estimate of a mode's result for images that are too large to compress for an answer.
//!
//! All images are packed with the similarities that `balanced` finds, at a low level. Samples of the result are
//! compressed at the low level and in the mode, and the ratio is applied to the whole.

use std::time::{Duration, Instant};

use offload_format::Limits;
use offload_format::codec::{self, EncodeOptions, Filter, Frame, Parent};
use offload_format::pack::{NewImage, Pack, PackBuilder, Pages};
use offload_format::{Hash128, Target};
use offload_packer::{MemoryNeed, Mode, Pool, Settings};

use super::sample::{Piece, Stratum, strata};
use super::trial::{TrialResult, pack};
use crate::error::Result;
use crate::read::pack_file::PackFile;
use crate::read::program::CrateImages;
use crate::threads::Threads;

/// As all are packed.
const LOW: Settings = Settings { mode: Mode::Balanced, level: 3 };
/// At which level `max` looks for relations, where `balanced` does at the low one.
const CLOSER: Settings = Settings { mode: Mode::Max, level: 12 };

/// Measurements of a sample, from which the results of modes are estimated.
#[derive(Debug)]
pub(super) struct Calibration {
    low: TrialResult,
    /// Each with what the low level makes of its pieces.
    strata: Vec<(Stratum, SampleResult)>,
}

impl Calibration {
    pub(super) fn measure(crates: &[CrateImages<'_>]) -> Result<Calibration> {
        let (low, file) = pack(crates, LOW)?;
        let strata = strata(&PackFile::open(file.path(), &Limits::trusting())?)?.into_iter();
        let strata = strata.map(|mut stratum| {
            stratum.pieces.iter_mut().try_for_each(shorten)?;
            SampleResult::measure(&stratum, LOW).map(|tried| (stratum, tried))
        });
        Ok(Calibration { low, strata: strata.collect::<Result<_>>()? })
    }

    /// About what `settings` make of them.
    pub(super) fn estimate(&self, settings: Settings) -> Result<TrialResult> {
        let mut stored_size = self.low.stored_size;
        let mut seconds = self.low.pack_seconds;
        if settings.mode == Mode::Max {
            seconds *= self.closer()?;
        }
        for (stratum, low) in &self.strata {
            let this = SampleResult::measure(stratum, settings)?;
            let share = this.size as f64 / low.size.max(1) as f64;
            let stored = (stratum.stored as f64 * share) as u64;
            stored_size = stored_size.saturating_sub(stratum.stored).saturating_add(stored);
            let all = stratum.raw as f64 / this.raw.max(1) as f64;
            seconds += (this.seconds - low.seconds).max(0.0) * all;
        }
        let decode_seconds = self.low.decode_seconds * self.slower(settings)?;
        Ok(TrialResult { stored_size, pack_seconds: seconds, decode_seconds })
    }

    /// The time factor of a thorough search for similar images.
    fn closer(&self) -> Result<f64> {
        let closer =
            self.strata.iter().map(|(stratum, _)| Ok(SampleResult::measure(stratum, CLOSER)?.seconds));
        let low: f64 = self.strata.iter().map(|(_, low)| low.seconds).sum();
        Ok(closer.sum::<Result<f64>>()? / low.max(f64::MIN_POSITIVE))
    }

    /// The time factor of decoding with `settings`.
    fn slower(&self, settings: Settings) -> Result<f64> {
        let piece = self.strata.iter().flat_map(|(stratum, _)| &stratum.pieces).next();
        let Some(Piece { content, .. }) = piece else { return Ok(1.0) };
        let piece = Piece { content: content.clone(), prefix: None };
        let [low, this] = [LOW, settings].map(|settings| decode_time(&piece, settings));
        Ok(this?.as_secs_f64() / low?.as_secs_f64().max(f64::MIN_POSITIVE))
    }
}

/// A piece that repeats itself says little, and LZMA's trees take a long time to say it: a part of it says as much.
fn shorten(piece: &mut Piece) -> Result<()> {
    const TIMES: u64 = 64;
    const ENOUGH: usize = 2 << 10;
    if encode(piece, LOW)?.info().stored_size.saturating_mul(TIMES) < sizes(piece).0 {
        piece.content.truncate(ENOUGH);
        piece.prefix.iter_mut().for_each(|prefix| prefix.truncate(2 * ENOUGH));
    }
    Ok(())
}

/// Compression result of the pieces of a stratum.
#[derive(Debug)]
struct SampleResult {
    raw: u64,
    size: u64,
    /// For all threads together, as a build would take.
    seconds: f64,
}

impl SampleResult {
    fn measure(stratum: &Stratum, settings: Settings) -> Result<SampleResult> {
        let started = Instant::now();
        let frames = Pool::new(&Threads).map_with_need(
            &stratum.pieces,
            |piece| {
                let (size, prefix) = sizes(piece);
                MemoryNeed::for_encoding(
                    settings.codec(size, prefix),
                    settings.level,
                    size,
                    prefix.unwrap_or(0),
                )
            },
            |piece| Ok::<u64, crate::error::Error>(encode(piece, settings)?.info().stored_size),
        )?;
        let raw = stratum.pieces.iter().map(|piece| sizes(piece).0).sum();
        Ok(SampleResult { raw, size: frames.iter().sum(), seconds: started.elapsed().as_secs_f64() })
    }
}

/// Of what is compressed, and of what lies before it.
fn sizes(piece: &Piece) -> (u64, Option<u64>) {
    (piece.content.len() as u64, piece.prefix.as_ref().map(|prefix| prefix.len() as u64))
}

fn encode(piece: &Piece, settings: Settings) -> Result<Frame> {
    let (size, before) = sizes(piece);
    let codec = settings.codec(size, before);
    let prefix = piece.prefix.as_deref();
    let parent = prefix.map(|content| Parent { hash: Hash128::digest(content), content });
    let options = EncodeOptions { codec, filter: Filter::None, parent, level: settings.level };
    Ok(codec::encode_with(&piece.content, &options)?)
}

/// The decoding time of an independent piece.
fn decode_time(piece: &Piece, settings: Settings) -> Result<Duration> {
    let frame = encode(piece, settings)?;
    let mut builder = PackBuilder::new("sample", "0.0.0");
    builder.image(NewImage::new("sample", Target::OpenClC), frame.info())?;
    let bytes = builder.finish()?.with_frames(&[frame])?;
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages)?;
    let image = pack.image(0)?;
    let started = Instant::now();
    codec::decode(&pack, &image)?;
    Ok(started.elapsed())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::read::program::Program;

    /// Bytes like those of code: words of which many come again.
    fn code(seed: u32, words: u32) -> Vec<u8> {
        let mut state = seed;
        let mut code = Vec::new();
        for _ in 0..words {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = state >> 16;
            let word = if number.is_multiple_of(3) { number } else { number % 61 };
            code.extend(word.to_le_bytes());
        }
        code
    }

    /// Some images that stand for themselves, and one relative of each.
    fn write(path: &Path) {
        let mut builder = PackBuilder::new("sample", "1.0.0");
        let mut frames = Vec::new();
        for number in 0..6u32 {
            let mut bytes = code(number / 2 + 1, 40_000);
            // One that differs in a few bytes alone would be a patch, which no compressor touches.
            bytes.splice(0..0, code(100 + number, number % 2 * 4_000));
            let target = format!("amdgcn:gfx{}", 1030 + number).parse().unwrap();
            let frame = codec::encode(&bytes, codec::Codec::Zstd, 1).unwrap();
            builder.image(NewImage::new("sample", target), frame.info()).unwrap();
            frames.push(frame);
        }
        std::fs::write(path, builder.finish().unwrap().with_frames(&frames).unwrap()).unwrap();
    }

    #[test]
    fn a_piece_that_repeats_itself_is_shortened() {
        let mut pieces = [vec![7; 1 << 20], code(1, 1 << 18)].map(|content| Piece { content, prefix: None });
        pieces.iter_mut().for_each(|piece| shorten(piece).unwrap());
        assert_eq!(pieces.map(|piece| piece.content.len()), [2 << 10, 1 << 20]);
    }

    #[test]
    fn an_estimate_is_close_to_what_a_build_would_make() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("images.pack");
        write(&path);
        let program = Program::open(&path, &Limits::default()).unwrap();
        let crates = program.crates().unwrap();
        let known = Calibration::measure(&crates).unwrap();
        assert_eq!(known.strata.len(), 2, "those alone, and those relative to them");
        let sizes = [Mode::Balanced, Mode::Archive].map(|mode| {
            let settings = Settings { mode, level: mode.default_level() };
            let about = known.estimate(settings).unwrap();
            let exact = pack(&crates, settings).unwrap().0;
            let about = about.stored_size;
            let exact = exact.stored_size;
            assert!(about.abs_diff(exact) < exact / 10, "{mode}: about {about}, and it is {exact}");
            about
        });
        assert!(sizes[0] < known.low.stored_size, "{sizes:?}");
    }
}
