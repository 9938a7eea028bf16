//! Measurement of each mode on the images of a program: size, compression time and decoding time.
//!
//! An answer may take some seconds. If there is more to compress, slow modes are measured on a sample.

use std::collections::BTreeMap;
use std::path::Path;

use offload_packer::{Mode, Settings};
use serde::Serialize;

use super::estimate::Calibration;
use super::file_images::{FileImages, SearchScope};
use super::trial::pack;
use crate::cli::MessageFormat;
use crate::error::{Error, ExitStatus, Result};
use crate::print::output::Output;
use crate::print::steps::Steps;
use crate::print::table::Table;
use crate::print::text::{counted, human_size};
use crate::read::input::Search;
use crate::read::program::CrateImages;
use crate::read::records::or_dash;

const MODES: [Mode; 5] = [Mode::None, Mode::Fast, Mode::Balanced, Mode::Max, Mode::Archive];
/// So many bytes of images are packed in every mode, if that is not far more than they take in the file: compressors take
/// time in proportion to their input, and the file is untrusted.
const PACKED: u64 = 8 << 20;
const PACKED_TIMES: u64 = 32;
const PACKED_ANYHOW: u64 = 256 << 10;

/// Extent of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// All images, in every mode.
    Everything,
    /// A sample, in modes that would take long for all.
    Sample,
}

/// Options of a measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement {
    /// The setting, which is tried in any case.
    pub(super) setting: Option<Settings>,
    pub(super) extent: Coverage,
    pub(super) search: Search,
}

/// Current storage of the images.
#[derive(Debug, Serialize)]
struct StoredRow<'a> {
    reason: &'static str,
    images: u64,
    /// Bytes of them in the file, without the headers of what they lie in.
    stored_size: u64,
    raw_size: u64,
    /// Containers of the images.
    containers: Vec<&'a str>,
}

/// An image or container that is left out.
#[derive(Debug, Serialize)]
struct FailedMessage<'a> {
    reason: &'static str,
    problem: &'a str,
    /// Number of images with this problem.
    count: u64,
}

#[derive(Debug, Serialize)]
struct ModeRow {
    reason: &'static str,
    mode: String,
    /// Of zstd, where it is used.
    level: Option<i32>,
    /// Whether this is the setting.
    configured: bool,
    /// Whether size and times are estimated from a sample.
    about: bool,
    /// Bytes of all packs, with their indexes.
    stored_size: u64,
    /// Bytes of all images; equal ones count each time.
    raw_size: u64,
    pack_seconds: f64,
    /// The median over some images.
    decode_seconds: f64,
}

/// Packs the images of `path` in every mode, and prints what came of it. The rows of a script come one by one.
pub(super) fn print(output: &Output, path: &Path, question: Measurement) -> Result<ExitStatus> {
    let Measurement { setting, extent, search } = question;
    let file = FileImages::open(path, SearchScope { limits: output.limits(), search })?;
    let crates = file.crates()?;
    let (images, raw_size) = counts(&crates);
    if images == 0 {
        return Err(Error::check(format!("`{}` has no images", path.display())));
    }
    let today = today(&file, images, raw_size);
    output.objects(std::slice::from_ref(&today))?;
    let what = format!("{} of {}", counted(images, "image"), human_size(raw_size));
    let packed = today.stored_size.saturating_mul(PACKED_TIMES).clamp(PACKED_ANYHOW, PACKED);
    let mut trials = Trials { crates: &crates, raw_size, extent, packed, known: None };
    let rows = trials.rows(output, setting, &what)?;
    if output.format() == MessageFormat::Human {
        output.table(&rows, &table(&today, &rows))?;
    }
    output.remark(&format!("{what} in `{}`", path.display()))?;
    output.remark(&format!("stored in: {}", today.containers.join(", ")))?;
    if rows.iter().any(|row| row.about) {
        output.remark("~: estimated from a sample; `--exact` compresses all images")?;
    }
    left_out(output, &file.problems)
}

fn today(file: &FileImages, images: u64, raw_size: u64) -> StoredRow<'_> {
    StoredRow {
        reason: "compression-today",
        images,
        stored_size: file.today.stored_size,
        raw_size,
        containers: file.today.containers.iter().map(String::as_str).collect(),
    }
}

/// Says what cannot be read, each reason once.
fn left_out(output: &Output, problems: &[String]) -> Result<ExitStatus> {
    let mut seen = BTreeMap::new();
    for problem in problems {
        let count: &mut u64 = seen.entry(problem).or_default();
        *count = count.saturating_add(1);
    }
    for (problem, count) in seen {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        let text = format!("error: skipped: {problem}{times}");
        output.message(&FailedMessage { reason: "failed", problem, count }, &text)?;
    }
    Ok(if problems.is_empty() { ExitStatus::Success } else { ExitStatus::CheckFailed })
}

/// The number and the size of all images.
fn counts(crates: &[CrateImages<'_>]) -> (u64, u64) {
    let sizes =
        crates.iter().flat_map(|one| &one.files).flat_map(|file| &file.pack.images).map(|it| it.raw_size);
    sizes.fold((0, 0), |(count, sum), size| (count + 1, sum.saturating_add(size)))
}

/// Images that modes are tried on.
struct Trials<'a> {
    crates: &'a [CrateImages<'a>],
    raw_size: u64,
    extent: Coverage,
    /// Of more than so many bytes a sample is taken.
    packed: u64,
    /// Calibration that the first estimate makes for all.
    known: Option<Calibration>,
}

impl Trials<'_> {
    /// Tries every mode; `what` says of which images.
    fn rows(&mut self, output: &Output, setting: Option<Settings>, what: &str) -> Result<Vec<ModeRow>> {
        let mut rows = Vec::new();
        let modes = modes_to_try(setting);
        let steps = Steps::new(output, modes.len());
        for settings in modes {
            let how = if self.samples(settings) { "compressing a sample of" } else { "compressing" };
            steps.next(output, &format!("{how} {what}: {}", settings.mode));
            let row = ModeRow { configured: Some(settings) == setting, ..self.row(settings)? };
            output.objects(std::slice::from_ref(&row))?;
            rows.push(row);
        }
        Ok(rows)
    }

    fn samples(&self, settings: Settings) -> bool {
        self.extent == Coverage::Sample && settings.mode >= Mode::Balanced && self.raw_size > self.packed
    }

    fn row(&mut self, settings: Settings) -> Result<ModeRow> {
        let about = self.samples(settings);
        let made = match (about, &mut self.known) {
            (false, _) => pack(self.crates, settings)?.0,
            (true, Some(known)) => known.estimate(settings)?,
            (true, none) => none.insert(Calibration::measure(self.crates)?).estimate(settings)?,
        };
        Ok(ModeRow {
            reason: "compression-mode",
            mode: settings.mode.to_string(),
            level: (!matches!(settings.mode, Mode::None | Mode::Archive)).then_some(settings.level),
            configured: false,
            about,
            stored_size: made.stored_size,
            raw_size: self.raw_size,
            pack_seconds: made.pack_seconds,
            decode_seconds: made.decode_seconds,
        })
    }
}

impl ModeRow {
    /// `text`, marked with `~` if the row is an estimate.
    fn approximate(&self, text: String) -> String {
        if self.about { format!("~{text}") } else { text }
    }
}

/// Every mode at its usual level, and the setting if that is none of them.
fn modes_to_try(setting: Option<Settings>) -> Vec<Settings> {
    let modes = MODES.map(|mode| Settings { mode, level: mode.default_level() });
    let other = setting.filter(|setting| !modes.contains(setting));
    modes.into_iter().chain(other).collect()
}

fn table(today: &StoredRow<'_>, rows: &[ModeRow]) -> Table {
    let mut table =
        Table::new(&["mode", "level", "size", "of raw", "compress time", "decode time", "setting"]);
    let size = human_size(today.stored_size);
    let of_raw = percent(today.stored_size, today.raw_size);
    let [dash, none] = ["-", ""].map(str::to_string);
    table.row(vec![
        "current".to_string(),
        dash.clone(),
        size,
        format!("{of_raw:.1}%"),
        dash.clone(),
        dash,
        none,
    ]);
    for row in rows {
        let share = percent(row.stored_size, row.raw_size);
        table.row(vec![
            row.mode.clone(),
            or_dash(row.level),
            row.approximate(human_size(row.stored_size)),
            row.approximate(format!("{share:.1}%")),
            row.approximate(human_time(row.pack_seconds)),
            row.approximate(human_time(row.decode_seconds)),
            if row.configured { "this".to_string() } else { String::new() },
        ]);
    }
    table
}

fn human_time(seconds: f64) -> String {
    if seconds >= 1.0 { format!("{seconds:.1} s") } else { format!("{:.2} ms", seconds * 1000.0) }
}

/// `stored` in percent of `raw`.
fn percent(stored: u64, raw: u64) -> f64 {
    stored as f64 * 100.0 / raw.max(1) as f64
}
