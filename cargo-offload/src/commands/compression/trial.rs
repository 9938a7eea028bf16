//! Trial compression of images, with its time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use offload_format::Limits;
use offload_packer::Settings;

use crate::change::repack::pack::{PackContent, Storage, stage_packs};
use crate::change::repack::repack;
use crate::error::{IoContext, Result};
use crate::files::publish::Published;
use crate::read::pack_file::PackFile;
use crate::read::program::CrateImages;

/// Number of images that are decoded for the median time.
const DECODED: usize = 32;

/// Size and times of a trial.
#[derive(Debug)]
pub(super) struct TrialResult {
    pub(super) stored_size: u64,
    pub(super) pack_seconds: f64,
    pub(super) decode_seconds: f64,
}

/// A file of packs that goes when it is dropped.
#[derive(Debug)]
pub(super) struct PackedFile {
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl PackedFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Packs the images as a build would, each crate separately, into a temporary file.
pub(super) fn pack(crates: &[CrateImages<'_>], settings: Settings) -> Result<(TrialResult, PackedFile)> {
    let directory = tempfile::tempdir().io_context("create", "a temporary directory")?;
    let started = Instant::now();
    let mut packs = Vec::new();
    for one in crates.iter().filter(|one| !one.files.is_empty()) {
        let kept = one.files.iter().map(|file| file.pack.clone()).collect();
        let content = PackContent { metadata: one.metadata.clone(), kept };
        packs.extend(repack(&[content], Storage::Fresh(settings))?);
    }
    let pack_seconds = started.elapsed().as_secs_f64();
    let file = stage_packs(&directory.path().join("images.pack"), &packs)?.appear()?;
    let Published { path, size: stored_size } = file;
    let decode_seconds = decode_time(&PackFile::open(&path, &Limits::trusting())?)?.as_secs_f64();
    Ok((
        TrialResult { stored_size, pack_seconds, decode_seconds },
        PackedFile { path, _directory: directory },
    ))
}

/// The median time to decode an image.
fn decode_time(file: &PackFile) -> Result<Duration> {
    let mut images = Vec::new();
    let mut seen = BTreeSet::new();
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
