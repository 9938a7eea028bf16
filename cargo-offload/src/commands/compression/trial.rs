//! Packing images for an answer: how large they get, and how long that takes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use offload_format::Limits;
use offload_packer::Settings;

use crate::change::repack::pack::{PackContent, Storage, stage_packs};
use crate::change::repack::repack;
use crate::error::{Error, Result};
use crate::files::publish::Published;
use crate::read::pack_file::PackFile;
use crate::read::program::CrateImages;

/// How many images are decoded to tell what one takes.
const DECODED: usize = 32;

/// What one mode makes of the images, and how long that takes.
#[derive(Debug)]
pub(super) struct TrialResult {
    pub(super) stored_size: u64,
    pub(super) pack_seconds: f64,
    pub(super) decode_seconds: f64,
}

/// A file of packs that goes when it is dropped.
#[derive(Debug)]
pub(super) struct Packed {
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl Packed {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Packs the images as a build would, each crate's by themselves, into a file that nobody keeps.
pub(super) fn packed(crates: &[CrateImages<'_>], settings: Settings) -> Result<(TrialResult, Packed)> {
    let failed = |error: std::io::Error| Error::io("create", Path::new("a directory"), &error);
    let directory = tempfile::tempdir().map_err(failed)?;
    let started = Instant::now();
    let mut packs = Vec::new();
    for one in crates.iter().filter(|one| !one.files.is_empty()) {
        let kept = one.files.iter().map(|file| file.pack.clone()).collect();
        let content = PackContent { metadata: one.metadata.clone(), kept };
        packs.extend(repack(&[content], Storage::Anew(settings))?);
    }
    let pack_seconds = started.elapsed().as_secs_f64();
    let file = stage_packs(&directory.path().join("images.pack"), &packs)?.appear()?;
    let Published { path, size: stored_size } = file;
    let decode_seconds = decode_time(&PackFile::open(&path, &Limits::trusting())?)?.as_secs_f64();
    Ok((TrialResult { stored_size, pack_seconds, decode_seconds }, Packed { path, _directory: directory }))
}

/// How long it takes to get at an image: the median over some.
fn decode_time(file: &PackFile) -> Result<Duration> {
    let (mut images, mut seen) = (Vec::new(), BTreeSet::new());
    for source in file.packs() {
        for image in source.pack.images() {
            let image = image?;
            // Equal images say nothing new.
            if seen.insert(image.hash) {
                images.push((source, image));
            }
        }
    }
    let step = images.len().div_ceil(DECODED).max(1);
    let mut times = Vec::new();
    for (source, image) in images.iter().step_by(step) {
        let started = Instant::now();
        source.decode(image)?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}
